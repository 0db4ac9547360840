import ByteClubCore

/// Parts of large contents that wait for the write that names them, for each member who sent them.
///
/// What is there is whole, and survives a crash. A chunk that nobody asked for in a day goes away.
protocol ChunkStore: Sendable {
    /// Those of some chunks that a member has not sent; the others are kept for another day.
    func missing(of hashes: [ContentHash], from member: Int64) async throws -> [ContentHash]

    /// Keeps a member's chunk; one that is there already stays as it is.
    func add(_ bytes: [UInt8], hash: ContentHash, from member: Int64) async throws

    /// Keeps contents that the blob store has staged as chunks of a member, all durable when this returns; those that are
    /// there already stay as they are.
    func keep(_ contents: [StagedContent], from member: Int64) async throws

    /// A member's chunk as a content by itself, without a copy of its bytes; nil when it is missing, or only a copy makes
    /// one.
    func content(_ hash: ContentHash, from member: Int64) async throws -> StagedContent?

    /// The bytes of a member's chunk; nil when it is missing.
    func chunk(_ hash: ContentHash, from member: Int64) async throws -> [UInt8]?

    /// The bytes that a member's chunks make together; nil when one of them is missing.
    func length(of hashes: [ContentHash], from member: Int64) async throws -> Int64?

    /// What a chunk of so many bytes counts for.
    func weight(_ bytes: Int64) -> Int64

    /// What the chunks of each member count for.
    func waitingBytes() async throws -> [Int64: Int64]

    /// What a member's chunks with these hashes count for, each once.
    func waitingBytes(of hashes: [ContentHash], from member: Int64) async throws -> Int64

    /// Says that what a member's chunks hold is stored: they stay for what is like them, and go before the disk counts
    /// as full.
    func release(_ hashes: [ContentHash], from member: Int64) async throws

    /// Removes a member's chunks.
    func remove(_ hashes: [ContentHash], from member: Int64) async throws

    /// Removes chunks that a member neither sent nor asked for in the last hour, the oldest first, until they make so
    /// many bytes; tells how many they made.
    func giveUp(_ bytes: Int64, from member: Int64) async throws -> Int64

    /// Removes chunks that nobody asked for in a day.
    func removeExpired() async throws
}

extension ChunkStore {
    /// Puts a member's chunks together as one content; nil when one of them is missing or they do not have this length.
    ///
    /// - Throws: `CancellationError` between two chunks when nobody waits for the content any more.
    func assemble(
        _ hashes: [ContentHash], bytes: Int64, from member: Int64, in blobs: any BlobStore
    ) async throws -> StagedContent? {
        guard try await length(of: hashes, from: member) == bytes else { return nil }
        if hashes.count == 1, let whole = try await content(hashes[0], from: member) { return whole }
        let writer = try await blobs.writer()
        do {
            for hash in hashes {
                try Task.checkCancellation()
                guard let part = try await chunk(hash, from: member) else {
                    await writer.discard()
                    return nil
                }
                try await writer.write(part)
            }
            return try await writer.finish()
        } catch {
            await writer.discard()
            throw error
        }
    }
}

/// How long what was sent waits for the write that names it, in seconds.
enum WaitingTime {
    /// An upload in pieces: 48 hours.
    static let upload: Int64 = 48 * 3600
    /// A chunk, after it was sent or asked for: a day.
    static let chunk: Int64 = 24 * 3600
    /// What nothing came of, before it makes room for others: an hour.
    static let idle: Int64 = 3600
}
