import ByteClubCore
import CLinux
import Glibc

/// Where the upload of a file stands, on disk, so that the next upload of the same file goes on with it.
///
/// It is a hint: without it, or when it cannot be read or written, the upload starts anew.
struct UploadRecord: Sendable {
    /// How long servers know an upload, in seconds.
    private static let lifetime: Int64 = 48 * 3600

    private let path: String

    /// The record of a file's upload to a folder of a server.
    ///
    /// - Throws: A ``FileError`` when the working directory cannot be told.
    init(of file: String, to folder: RemotePath, on server: ServerAddress, _ context: Context) throws {
        let file = try LocalFile.resolved(LocalFile.absolute(file, in: context.workingDirectory()))
        let identity = ContentHasher.hash(Array("\(server)\n\(folder.key)\n\(file)".utf8))
        path = context.directories.uploads + "/" + identity.description.prefix(16)
    }

    /// Where the upload stands.
    var position: UploadPosition? {
        guard let bytes = try? LocalFile.read(path, limit: 1 << 16) else { return nil }
        return try? JSONReader.read(UploadPosition.self, from: bytes)
    }

    /// Writes where the upload stands, or that it is over.
    func keep(_ position: UploadPosition?) {
        guard let position else { return remove() }
        try? LocalFile.makePrivateDirectory(LocalFile.parent(of: path))
        try? LocalFile.replace(path, with: JSON.bytes(position))
    }

    /// Forgets the upload.
    func remove() { unsafe unlink(path) }

    /// Removes the records of uploads that no server knows any more.
    static func removeExpired(_ context: Context) {
        let directory = context.directories.uploads
        for name in LocalFile.names(in: directory) {
            var status = stat()
            let path = directory + "/" + name
            guard unsafe lstat(path, &status) == 0 else { continue }
            if Int64(status.st_mtim.tv_sec) < context.now() - lifetime { unsafe unlink(path) }
        }
    }
}
