import ByteClubCore
import HTTPTypes

/// Takes in parts of large contents.
struct ChunkHandlers: Sendable {
    /// The most hashes in one question for missing chunks.
    private static let maximumHashes = 10_000

    let store: any UploadStore & RoomStore
    /// Where a chunk's memory comes from.
    let memory: SharedPool

    /// Answers `POST /sync/chunks/need`.
    func needed(_ request: MemberRequest) async throws -> Response {
        let body = try await request.wholeBody(in: memory)
        let asked: ChunkList
        do {
            asked = try JSONReader.read(from: body.bytes)
        } catch {
            throw APIError(400, "the list of hashes is wrong: \(error)")
        }
        guard asked.hashes.count <= Self.maximumHashes else {
            throw APIError(413, "at most \(Self.maximumHashes) hashes can be asked for at once")
        }
        let member = request.member
        return .json(ChunkList(try await store.chunks.missing(of: asked.hashes, from: member.uid)))
    }

    /// Answers `PUT /sync/chunks/<hash>`.
    func add(_ request: MemberRequest) async throws -> Response {
        guard let hash = request.tail.first.flatMap({ ContentHash($0) }) else {
            throw APIError(400, "not a content hash", parameter: "hash")
        }
        guard let length = request.body.length else { throw APIError(411, "a chunk needs a Content-Length") }
        let member = request.member
        let room = try await store.hold(store.chunks.weight(length), for: member.uid)
        let body = try await request.wholeBody(in: memory)
        defer { withExtendedLifetime((body, room)) {} }
        guard ContentHasher.hash(body.bytes) == hash else {
            throw APIError(400, "the chunk does not have this hash", parameter: "hash")
        }
        try await store.chunks.add(body.bytes, hash: hash, from: member.uid)
        return Response(.noContent, body: .none)
    }
}

extension ChunkList: JSONWritable {}
