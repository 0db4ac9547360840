public import ByteClubCore
import ByteClubHTTP
import HTTPTypes

extension CoreAPIv1Remote {
    /// Stores content: small in one request, large in chunks, unless the server accepts none.
    ///
    /// `PUT /1/files_put/<root>/<path>`, or `PUT /1/chunked_upload` and `POST /1/commit_chunked_upload/<root>/<path>`
    public func put(
        _ content: Content, at path: RemotePath, modified: FileTime?, executable: Bool?, condition: WriteCondition,
        policy: ConflictPolicy, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata {
        let source = try UploadSource(content, piece: min(pieceBytes(), ChunkSize.singleRequest))
        defer { source.stop() }
        let progress = UploadProgress(total: source.size, from: source.position?.offset ?? 0, progress)
        let upload = source.isInPieces && !transport.server.takesNoPieces ? try await sendChunks(source, progress) : nil
        // Before the commit, so that no mixture of two states of the file becomes visible. What one request carries is
        // visible at its end: the caller learns of a change only then, and sends the file again.
        if upload != nil { _ = try await source.verifiedHash() }
        let store = { (policy: ConflictPolicy, retries: Bool) async throws(RemoteError) -> Metadata in
            let query = Self.query(modified, executable, condition, policy)
            guard let upload else {
                return try await sendWhole(source, to: path, query, retries: retries, progress)
            }
            return try await commit(upload, to: path, query)
        }
        let stored = try await storing(source, at: path, condition, policy, store)
        if let upload { source.keepPosition(of: upload, offset: nil) }
        // A proxy in front of the server refuses both.
        if source.isInPieces, upload == nil { transport.server.takesNoPieces = true }
        let hash = try await source.verifiedHash()
        if let reported = stored.contentHash, reported != hash {
            throw RemoteError(
                .protocolViolation,
                "the server stored bytes under '\(stored.path)' that differ from those sent: hash \(reported)")
        }
        if stored.bytes != source.size {
            throw RemoteError(
                .protocolViolation, "the server stored \(stored.bytes) of \(source.size) bytes under '\(stored.path)'")
        }
        progress?.acknowledge(source.size)
        return stored
    }

    /// Stores, and when the answer is lost looks whether it had been done, so that nothing is stored twice.
    private func storing(
        _ source: UploadSource, at path: RemotePath, _ condition: WriteCondition, _ policy: ConflictPolicy,
        _ store: (ConflictPolicy, Bool) async throws(RemoteError) -> Metadata
    ) async throws(RemoteError) -> Metadata {
        do {
            return try await store(policy, condition == .overwrite)
        } catch  where error.isRetryable && error.code != .overQuota {
            // The server saying "conflict" may now mean our own first try.
            let first = error
            do {
                return try await store(.fail, true)
            } catch  where error.code == .conflict || error.code == .badRequest {
                let conflict = error
                let hash = try await source.verifiedHash()
                if let found = try await find(hash, of: path, isRenamed: policy == .rename) { return found }
                if conflict.code == .badRequest { throw first }
                if policy == .fail { throw conflict }
                return try await store(.rename, false)
            }
        }
    }

    /// Finds content under a path, or under the name that a conflict gave it.
    private func find(
        _ hash: ContentHash, of path: RemotePath, isRenamed: Bool
    ) async throws(RemoteError) -> Metadata? {
        let isFound = { (entry: Metadata) in entry.contentHash == hash && !entry.isDeleted && !entry.isFolder }
        let there = try await metadata(at: path)
        if isFound(there) { return there }
        guard isRenamed, let parent = path.parent else { return nil }
        let stem = PathKey.fold(NumberedName.split(path.name).stem)
        let entries = try await list(parent, unless: nil, includeDeleted: false)?.contents ?? []
        let copies = entries.filter { isFound($0) && PathKey.fold($0.path.name).hasPrefix(stem) }
        let number = { (entry: Metadata) in entry.rev.flatMap { JournalRevision($0)?.number } ?? 0 }
        return copies.max { number($0) < number($1) }
    }

    /// One request with all bytes. `PUT /1/files_put/<root>/<path>`
    private func sendWhole(
        _ source: UploadSource, to path: RemotePath, _ query: Parameters, retries: Bool, _ progress: UploadProgress?
    ) async throws(RemoteError) -> Metadata {
        var options = contentOptions
        options.retries = retries
        let request = transport.request(.put, address("files_put", path), query: query, fields: Self.binary)
        let start = ContinuousClock.now
        let answer = try await upload(source.body(0..<source.size), for: request, options, progress)
        pieces.learn(start.duration(to: .now), of: source.size)
        return try answer.decoded()
    }

    /// The form of a body of bytes.
    static var binary: HTTPFields { [.contentType: "application/octet-stream"] }

    private static func query(
        _ modified: FileTime?, _ executable: Bool?, _ condition: WriteCondition, _ policy: ConflictPolicy
    ) -> Parameters {
        var query: Parameters = [:]
        switch condition {
        case .overwrite: query["overwrite"] = "true"
        case .create: query["overwrite"] = "false"
        case .parent(let revision): query["parent_rev"] = revision.description
        }
        query["autorename"] = policy == .rename ? "true" : "false"
        query["client_mtime"] = modified?.date.description
        query["client_mtime_nanos"] = modified.flatMap { $0.fraction == 0 ? nil : String($0.fraction) }
        query["executable"] = executable.map { $0 ? "true" : "false" }
        return query
    }
}
