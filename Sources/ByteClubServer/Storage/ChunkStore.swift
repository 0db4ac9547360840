import ByteClubCore

/// Parts of large contents that wait for the write that names them, for each member who sent them.
///
/// Each is whole and survives a crash. A chunk expires a day after it was last sent or asked for.
protocol ChunkStore: Sendable {
    /// The chunks, of these, that a member has not sent; the others are kept for another day.
    func missing(of hashes: [ContentHash], from member: Int64) async throws -> [ContentHash]

    /// Keeps a member's chunk, unless it exists.
    func add(_ bytes: [UInt8], hash: ContentHash, from member: Int64) async throws

    /// Keeps staged contents as chunks of a member, all durable when this returns; existing chunks stay as they are.
    func keep(_ contents: [StagedContent], from member: Int64) async throws

    /// A member's chunk as a content by itself, without a copy of its bytes; nil when it is missing, or would have to be
    /// copied.
    func content(_ hash: ContentHash, from member: Int64) async throws -> StagedContent?

    /// The bytes of a member's chunk; nil when it is missing.
    func chunk(_ hash: ContentHash, from member: Int64) async throws -> [UInt8]?

    /// How long a member's chunks are; nil for one that is missing.
    func lengths(of hashes: [ContentHash], from member: Int64) async throws -> [Int64?]

    /// The weight of a chunk of so many bytes in quotas.
    func weight(_ bytes: Int64) -> Int64

    /// The weight of each member's chunks.
    func waitingBytes() async throws -> [Int64: Int64]

    /// Marks a member's chunks as stored elsewhere: they stay for similar contents, and are removed before the disk
    /// counts as full.
    func release(_ hashes: [ContentHash], from member: Int64) async throws

    /// Removes a member's chunks.
    func remove(_ hashes: [ContentHash], from member: Int64) async throws

    /// Removes chunks that a member neither sent nor asked for in the last hour, the oldest first, until so many bytes
    /// are free; returns how many are.
    func giveUp(_ bytes: Int64, from member: Int64) async throws -> Int64

    /// Removes the expired chunks.
    func removeExpired() async throws
}

extension ChunkStore {
    /// The weight of a member's chunks with these hashes, each counted once.
    func waitingBytes(of hashes: [ContentHash], from member: Int64) async throws -> Int64 {
        if hashes.isEmpty { return 0 }
        return try await lengths(of: Array(Set(hashes)), from: member).reduce(0) { $0 + ($1.map(weight) ?? 0) }
    }

    /// The bytes that chunks make together, a member's own or those that lie in a content; nil when one is missing, or
    /// they are too many for a number.
    func length(
        of hashes: [ContentHash], from member: Int64, or places: ChunkPlaces = ChunkPlaces()
    ) async throws -> Int64? {
        var sum: Int64 = 0
        for (hash, own) in zip(hashes, try await lengths(of: hashes, from: member)) {
            guard let length = own ?? places.place(of: hash).map({ Int64($0.bytes) }),
                case let (next, isOver) = sum.addingReportingOverflow(length), !isOver
            else { return nil }
            sum = next
        }
        return sum
    }

    /// Joins chunks to one content, a member's own or those inside a stored content; nil when one of them is missing or
    /// they do not have this length.
    ///
    /// - Throws: `CancellationError` between two chunks when the task is cancelled.
    func assemble(
        _ hashes: [ContentHash], bytes: Int64, from member: Int64, or places: ChunkPlaces = ChunkPlaces(),
        in blobs: any BlobStore
    ) async throws -> StagedContent? {
        guard try await length(of: hashes, from: member, or: places) == bytes else { return nil }
        if hashes.count == 1, let whole = try await content(hashes[0], from: member) { return whole }
        let writer = try await blobs.writer()
        do {
            for hash in hashes {
                try Task.checkCancellation()
                if let part = try await chunk(hash, from: member) {
                    try await writer.write(part)
                } else if try await places.place(of: hash)?.copy(to: writer, from: blobs) != true {
                    await writer.discard()
                    return nil
                }
            }
            return try await writer.finish()
        } catch {
            await writer.discard()
            throw error
        }
    }
}

/// How long content waits for the write that names it, in seconds.
enum WaitingTime {
    /// An upload in pieces: 48 hours.
    static let upload: Int64 = 48 * 3600
    /// A chunk, after it was sent or asked for: a day.
    static let chunk: Int64 = 24 * 3600
    /// An unused chunk or upload, before it makes room for others: an hour.
    static let idle: Int64 = 3600
}
