import ByteClubCore
import MemoryRemote

@testable import ByteClubSync

/// Contents that go up from files, piece by piece, as the real remote sends them: the next upload of the same file goes on
/// where the server has been told to.
extension SimulatedNetwork {
    /// How many bytes go between two faults.
    static let uploadPiece = 128 << 10

    func sendUpload(
        _ content: ByteClubCore.Content, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> String {
        let all = try await sendPieces(of: content, progress)
        let name = try await server.sendUpload(.bytes(all), progress: nil)
        uploads[name] = all
        return name
    }

    /// Sends a content piece by piece; nothing of it is visible before it is stored.
    ///
    /// - Returns: The bytes that the server has then.
    func sendPieces(
        of content: ByteClubCore.Content, _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> [UInt8] {
        let start = starts
        let (bytes, state, stamp) = try sent(content)
        var resumption: UploadResumption?
        if case .file(_, let known) = content { resumption = known }
        var id = "upload \(uploads.count + 1)"
        if let known = resumption?.position, known.file == state, uploads[known.id] != nil { id = known.id }
        uploads[id] = uploads[id] ?? []
        while let count = uploads[id]?.count, count < bytes.count {
            if starts != start || Task.isCancelled { throw RemoteError(.cancelled, "the upload was stopped") }
            rates.append(TransferRate.limit)
            let end = min(count + Self.uploadPiece, bytes.count)
            try await carry("piece") { () throws(RemoteError) in
                guard try self.sent(content).stamp == stamp else {
                    throw RemoteError(.localFile, "the file changed while it was sent")
                }
                // One that comes twice is not where the upload ends.
                if self.uploads[id]?.count == count { self.uploads[id]? += bytes[count..<end] }
            }
            uploaded += end - count
            resumption?.keep(UploadPosition(id: id, offset: Int64(end), file: state))
            onPiece()
            progress?(TransferProgress(completed: Int64(end), total: Int64(bytes.count)))
        }
        guard try sent(content).stamp == stamp, let all = uploads[id] else {
            throw RemoteError(.localFile, "the file changed while it was sent")
        }
        return all
    }

    /// The bytes of a content and, of a file, what tells this state of it from others, and what an upload that is under
    /// way is held against: a new name is no other content.
    func sent(
        _ content: ByteClubCore.Content
    ) throws(RemoteError) -> (bytes: [UInt8], state: String, stamp: String) {
        switch content {
        case .bytes(let bytes): return (bytes, "", "")
        case .file(let path, _):
            guard let file = disk?.file(at: path) else {
                throw RemoteError(.localFile, "there is no file '\(path)'")
            }
            return try onDisk { () throws(FileError) in
                let stat = try file.stat()
                let print = stat.fingerprint
                return (
                    try file.bytes(limit: Int(print.size) + 1), "\(stat)",
                    "\(print.inode) \(print.size) \(print.modified)"
                )
            }
        }
    }
}
