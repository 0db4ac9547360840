public import ByteClubCore
import ByteClubHTTP
import HTTPTypes

extension CoreAPIv1Remote: SyncRemote {
    /// A page of the journal. `GET /1/sync/changes`
    public func journal(
        after cursor: String?, limit: Int, contents: JournalContents, wait: Duration
    ) async throws(RemoteError) -> SyncChanges {
        let seconds = max(0, wait.components.seconds)
        var options = waitingOptions(seconds)
        options.maximumResponseBytes = Self.largestPage
        let writer: String? = if case .besides(let name) = contents { name } else { nil }
        let answer = try await transport.get(
            "sync/changes",
            query: [
                "cursor": cursor, "limit": String(limit), "wait": seconds == 0 ? nil : String(seconds),
                "bodies": contents == .none ? "false" : nil, "writer": writer,
            ], options: options)
        guard var frame = SyncFrame(answer.bytes) else { throw Self.isCut(answer.club) }
        var page = try JSON.decode(SyncPage.self, frame.head, from: answer.club)
        guard page.entries.count <= limit else {
            throw RemoteError(
                .protocolViolation, "the answer of \(answer.club) has \(page.entries.count) entries, not \(limit)")
        }
        var contents: [[UInt8]] = []
        for index in page.entries.indices where page.entries[index].isInline {
            guard let content = frame.next(page.entries[index].bytes) else { throw Self.isCut(answer.club) }
            let bytes = Array(content)
            // A damaged content is downloaded by itself.
            page.entries[index].isInline = ContentHasher.hash(bytes) == page.entries[index].hash
            if page.entries[index].isInline { contents.append(bytes) }
        }
        return SyncChanges(page: page, contents: contents)
    }

    /// Does writes. `POST /1/sync/batch`
    public func apply(_ batch: SyncBatch, contents: [[UInt8]]) async throws(RemoteError) -> SyncOutcome {
        var json = JSONText()
        batch.write(to: &json)
        let body = SyncFrame.join(json.bytes, contents)
        // The operations' numbers let the server tell a repeated batch.
        var options = TaskOptions.coreAPIv1
        options.isIdempotent = true
        return try await repeatingOnce { () throws(RemoteError) in
            try await transport.send(.post, "sync/batch", body, type: SyncFrame.mime, options).decoded()
        }
    }

    /// The chunks that the server lacks. `POST /1/sync/chunks/need`
    public func missingChunks(
        of hashes: [ContentHash], base: ChunkQuestion.Base?
    ) async throws(RemoteError) -> [ContentHash] {
        var json = JSONText()
        ChunkQuestion(hashes, base: base).write(to: &json)
        let body = json.bytes
        // The server needs its time to cut a large version into chunks.
        let options = base == nil ? TaskOptions.coreAPIv1 : contentOptions
        return try await repeatingOnce { () throws(RemoteError) in
            try await transport.send(.post, "sync/chunks/need", body, type: "application/json", options)
                .decoded(ChunkList.self).hashes
        }
    }

    /// Sends a content that a batch is to store. `PUT /1/chunked_upload`
    public func sendUpload(
        _ content: Content, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> String {
        let source = try UploadSource(content, isHashed: false, piece: 0)
        let progress = UploadProgress(total: source.size, from: source.position?.offset ?? 0, progress)
        guard let id = try await sendChunks(source, progress) else {
            throw RemoteError(.protocolViolation, "\(transport.origin.club) takes no uploads in pieces")
        }
        try source.verify()
        return id
    }

    /// Sends a chunk. `PUT /1/sync/chunks/<hash>`
    public func putChunk(_ bytes: [UInt8]) async throws(RemoteError) {
        let address = "sync/chunks/\(ContentHasher.hash(bytes))"
        _ = try await repeatingOnce { () throws(RemoteError) in
            try await transport.send(
                .put, address, bytes, type: "application/octet-stream", statuses: [204], contentOptions)
        }
    }

    /// Sends chunks in one request. `POST /1/sync/chunks`
    public func putChunks(_ chunks: [OutgoingChunk]) async throws(RemoteError) {
        var json = JSONText()
        ChunkManifest(chunks.map { ChunkManifest.Chunk(hash: $0.hash, bytes: $0.bytes) }).write(to: &json)
        let head = json.bytes + [UInt8(ascii: "\n")]
        let parts = chunks.map { chunk -> BodyPart in
            switch chunk.content {
            case .bytes(let bytes): .bytes(bytes)
            case .file(let path, _): .file(path: path, offset: chunk.offset, length: chunk.bytes)
            }
        }
        let request = transport.request(.post, "sync/chunks", fields: [.contentType: SyncFrame.mime])
        var options = contentOptions
        options.isIdempotent = true
        _ = try await repeatingOnce { () throws(RemoteError) in
            try await upload(.parts([.bytes(head)] + parts), for: request, statuses: [204], options)
        }
    }

    /// The digest of a folder. `GET /1/sync/digest`
    public func digest(of path: RemotePath) async throws(RemoteError) -> SyncDigest {
        try await transport.get("sync/digest", query: ["path": path.isRoot ? nil : path.string]).decoded()
    }

    /// The largest page of the journal: 8 MiB of contents and 2,000 entries with 2 KiB for each.
    private static var largestPage: Int { 12 << 20 }

    private static func isCut(_ club: String) -> RemoteError {
        RemoteError(.protocolViolation, "the answer of \(club) ends too early")
    }
}
