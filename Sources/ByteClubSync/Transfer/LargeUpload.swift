import ByteClubCore

/// An upload of a large file in the background, with the file's state when it was hashed.
struct LargeUpload: Sendable {
    let write: OutgoingWrite
    let content: ChunkedContent
    let file: any DiskFile
    /// The file's stat when it was read.
    let stat: FileStat
    let rate: TransferPolicy
    let progress: @Sendable (TransferProgress) -> Void

    /// The content for an upload in one request; nil when the file has changed since it was hashed.
    ///
    /// A file that has a path is read during the upload, and its last bytes are held back when it has changed.
    func whole() throws(FileError) -> Content? {
        if let path = file.path { return .file(path: path) }
        let bytes = try file.bytes(limit: Int(content.size) + 1)
        return ContentHasher.hash(bytes) == content.whole ? .bytes(bytes) : nil
    }
}

extension LargeUpload {
    /// Sends the chunks that the server does not have, a thousand asked for at a time.
    ///
    /// - Throws: ``RemoteError``, also when the task is cancelled, or ``FileError``.
    func sendChunks(to wire: any SyncRemote) async throws -> UploadResult {
        var done: Int64 = 0
        var start = 0
        let chunks = content.chunks
        while start < chunks.count {
            let part = chunks[start..<min(start + 1_000, chunks.count)]
            start += part.count
            let missing = Set(try await wire.missingChunks(of: part.map(\.hash)))
            for chunk in part {
                if Task.isCancelled { throw RemoteError(.cancelled, "the upload was stopped") }
                if missing.contains(chunk.hash) {
                    var bytes = [UInt8](repeating: 0, count: chunk.size)
                    guard try file.read(into: &bytes, at: chunk.offset) == chunk.size else { return .changed }
                    try await rate.limited(.up) { [bytes] () throws(RemoteError) in try await wire.putChunk(bytes) }
                }
                done += Int64(chunk.size)
                progress(TransferProgress(completed: done, total: content.size))
            }
        }
        return .chunks
    }
}
