import ByteClubCore
import HTTPTypes

extension ClubAPI {
    /// The most hashes in one question for missing chunks.
    private static let maximumHashes = 10_000

    /// Answers `POST /sync/chunks/need`.
    func syncChunksNeeded(_ call: Call) async throws -> Answer {
        let bytes = try await call.body.collect(limit: 1 << 20)
        let asked: ChunkList
        do {
            asked = try JSONReader.read(from: bytes)
        } catch {
            throw APIError(400, "the list of hashes is wrong: \(error)")
        }
        guard asked.hashes.count <= Self.maximumHashes else {
            throw APIError(413, "at most \(Self.maximumHashes) hashes can be asked for at once")
        }
        return .json(ChunkList(try await store.chunks.missing(of: asked.hashes)))
    }

    /// Answers `PUT /sync/chunks/<hash>`.
    func syncChunk(_ call: Call) async throws -> Answer {
        guard let hash = call.place.first.flatMap({ ContentHash($0) }) else {
            throw APIError(400, "not a content hash", parameter: "hash")
        }
        guard let length = call.body.length else { throw APIError(411, "a chunk needs a Content-Length") }
        guard length <= Int64(ChunkStore.maximumBytes) else {
            throw APIError(413, "a chunk has at most \(ChunkStore.maximumBytes) bytes")
        }
        let lease = try largeBodies.lease(Int(length))
        defer { withExtendedLifetime(lease) {} }
        let bytes = try await call.body.collect(limit: length)
        guard ContentHasher.hash(bytes) == hash else {
            throw APIError(400, "the chunk does not have this hash", parameter: "hash")
        }
        try await store.chunks.add(bytes, hash: hash)
        return Answer(.noContent, body: .none)
    }
}

extension ChunkList: JSONWritable {}
