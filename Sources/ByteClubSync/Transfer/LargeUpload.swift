import ByteClubCore

/// An upload of a large file in the background, with the file's state when it was hashed.
struct LargeUpload: Sendable {
    let write: OutgoingWrite
    let content: LargeContent
    let source: OpenedFile
    /// How it resumes where an earlier attempt ended.
    let resumption: UploadResumption
    let rate: TransferPolicy
    let progress: @Sendable (TransferProgress) -> Void

    /// The content for an upload; nil when the file has changed since it was hashed.
    ///
    /// A file that has a path is read during the upload, and its last bytes are held back when it has changed.
    func whole() throws(FileError) -> Content? {
        if let path = source.file.path { return .file(path: path, resumption: resumption) }
        let bytes = try source.file.bytes(limit: Int(content.size) + 1)
        return ContentHasher.hash(bytes) == content.whole ? .bytes(bytes) : nil
    }

    /// Whether the content is not the hashed one; false when that is unknown.
    var hasChanged: Bool { source.hasSameContent == false }

    /// Sends the content for a batch that stores it: the chunks that the server does not have when it was cut, else all
    /// of it.
    ///
    /// - Throws: ``RemoteError``, also when the task is cancelled, or ``FileError``.
    func send(to wire: any SyncRemote, base: ChunkQuestion.Base?, inGroups: Bool) async throws -> UploadResult {
        do {
            if let chunks = content.chunks { return try await send(chunks, to: wire, base, inGroups) }
            guard let content = try whole() else { return .changed }
            return .upload(
                try await rate.limited(.up) { () throws(RemoteError) in
                    try await wire.sendUpload(content, progress: progress)
                })
        } catch let error as RemoteError {
            // What was sent of another state is refused, or not sent to its end.
            if error.code != .cancelled, hasChanged { return .changed }
            throw error
        }
    }

    /// Sends the chunks that the server does not have, a thousand asked for at a time.
    private func send(
        _ chunks: [ContentChunk], to wire: any SyncRemote, _ base: ChunkQuestion.Base?, _ inGroups: Bool
    ) async throws -> UploadResult {
        var done: Int64 = 0
        var start = 0
        while start < chunks.count {
            let part = chunks[start..<min(start + 1_000, chunks.count)]
            start += part.count
            var missing = Set(try await wire.missingChunks(of: part.map(\.hash), base: base))
            var group: [ContentChunk] = []
            for chunk in part {
                if Task.isCancelled { throw RemoteError(.cancelled, "the upload was stopped") }
                if missing.remove(chunk.hash) != nil { group.append(chunk) }
                done += Int64(chunk.size)
                let isFull = !inGroups || group.reduce(0) { $0 + Int64($1.size) } >= OutgoingBatch.mostFileBytes
                guard !group.isEmpty, isFull || chunk == part.last else { continue }
                guard try await send(group, to: wire, inGroups) else { return .changed }
                group = []
                progress(TransferProgress(completed: done, total: content.size))
            }
            progress(TransferProgress(completed: done, total: content.size))
        }
        return .chunks
    }

    /// Sends chunks, in one request if the server supports that; false when the file has become shorter.
    private func send(_ group: [ContentChunk], to wire: any SyncRemote, _ inGroups: Bool) async throws -> Bool {
        var ready: [OutgoingChunk] = []
        for chunk in group {
            if inGroups, let path = source.file.path {
                ready.append(
                    OutgoingChunk(
                        hash: chunk.hash, bytes: Int64(chunk.size), content: .file(path: path), offset: chunk.offset))
                continue
            }
            var bytes = [UInt8](repeating: 0, count: chunk.size)
            guard try source.file.read(into: &bytes, at: chunk.offset) == chunk.size else { return false }
            if inGroups {
                ready.append(OutgoingChunk(hash: chunk.hash, bytes: Int64(chunk.size), content: .bytes(bytes)))
            } else {
                try await rate.limited(.up) { [bytes] () throws(RemoteError) in try await wire.putChunk(bytes) }
            }
        }
        if !ready.isEmpty {
            try await rate.limited(.up) { [ready] () throws(RemoteError) in try await wire.putChunks(ready) }
        }
        return true
    }
}
