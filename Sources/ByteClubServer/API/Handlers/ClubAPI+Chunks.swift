import ByteClubCore
import HTTPTypes

/// The operations that receive parts of large contents.
extension ClubAPI {
    /// The most hashes in one question for missing chunks.
    private static let maximumHashes = 10_000

    /// Answers `POST /sync/chunks/need`.
    func neededChunks(_ request: MemberRequest) async throws -> Response {
        let body = try await request.wholeBody(in: shares.bodies)
        let asked = try ChunkQuestion.read("the list of hashes", from: body.bytes)
        guard asked.hashes.count <= Self.maximumHashes else {
            throw APIError(413, "at most \(Self.maximumHashes) hashes can be asked for at once")
        }
        let missing = try await store.chunks.missing(of: asked.hashes, from: request.member.uid)
        guard let base = asked.base, !missing.isEmpty else { return .json(ChunkList(missing)) }
        let (store, places) = (store, places)
        return .json(
            ChunkList(
                try await request.whileClientWaits {
                    // A small file is sent faster than it is cut into chunks, and a removed one has no content to cut.
                    guard let entry = try await store.read({ try $0.file(base) }), let hash = entry.contentHash,
                        (Int64(StagedContent.inlineLimit) + 1...SyncBatch.maximumChunkedBytes).contains(entry.bytes)
                    else { return missing }
                    return try await places.missing(missing, in: hash, length: entry.bytes, of: store.blobs)
                }))
    }

    /// Answers `PUT /sync/chunks/<hash>`.
    func addChunk(_ request: MemberRequest) async throws -> Response {
        guard let hash = request.tail.first.flatMap({ ContentHash($0) }) else {
            throw APIError(400, "not a content hash", parameter: "hash")
        }
        guard let length = request.body.length else { throw APIError(411, "a chunk needs a Content-Length") }
        let member = request.member
        let room = try await store.hold(store.chunks.weight(length), for: member.uid)
        let body = try await request.wholeBody(in: shares.bodies)
        defer { withExtendedLifetime((body, room)) {} }
        guard ContentHasher.hash(body.bytes) == hash else {
            throw APIError(400, "the chunk does not have this hash", parameter: "hash")
        }
        try await store.chunks.add(body.bytes, hash: hash, from: member.uid)
        return Response(.noContent, body: .none)
    }

    /// Answers `POST /sync/chunks`: many chunks in one body, which become durable together.
    ///
    /// When the body ends early, the complete chunks stay, so that an interrupted upload can resume.
    func addChunks(_ request: MemberRequest) async throws -> Response {
        guard request.tail.isEmpty else { throw APIError(404, "many chunks are sent to /1/sync/chunks") }
        guard let length = request.body.length else { throw APIError(411, "chunks need a Content-Length") }
        var frame = IncomingFrame(request.body)
        let head = try await frame.head(atMost: ChunkManifest.maximumBytes)
        let manifest = try ChunkManifest.read("the list of chunks", from: head)
        guard let sum = manifest.sum, manifest.chunks.allSatisfy({ $0.bytes <= ChunkManifest.maximumChunkBytes }) else {
            throw APIError(
                413,
                "a chunk has at most \(ChunkManifest.maximumChunkBytes) bytes, and all of a request "
                    + "\(ChunkManifest.maximumChunksBytes)")
        }
        guard length == Int64(head.count) + 1 + sum else {
            throw APIError(400, "the body is not as long as its head and its chunks")
        }
        let member = request.member.uid
        let weight = manifest.chunks.reduce(0) { $0 + store.chunks.weight($1.bytes) }
        let room = try await store.hold(weight, for: member)
        defer { withExtendedLifetime(room) {} }
        var staged: [StagedContent] = []
        do {
            for chunk in manifest.chunks { staged.append(try await Self.receive(chunk, from: &frame, store.blobs)) }
        } catch {
            try? await store.chunks.keep(staged, from: member)
            throw error
        }
        try await store.chunks.keep(staged, from: member)
        return Response(.noContent, body: .none)
    }

    private static func receive(
        _ chunk: ChunkManifest.Chunk, from frame: inout IncomingFrame, _ blobs: any BlobStore
    ) async throws -> StagedContent {
        let writer = try await blobs.writer()
        do {
            guard try await frame.pour(chunk.bytes, into: writer) else { throw BodyError.cutShort }
            let staged = try await writer.finish(durably: false)
            guard staged.hash == chunk.hash else {
                throw APIError(400, "the bytes of the chunk \(chunk.hash) have another hash", parameter: "hash")
            }
            return staged
        } catch {
            await writer.discard()
            throw error
        }
    }
}

extension ChunkList: JSONWritable {}
