import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc

/// The properties of a file that change when it is written or replaced.
struct FileState: Codable, Hashable, Sendable {
    /// Its length in bytes.
    var size: Int64
    /// Its number in its file system.
    var inode: UInt64
    /// Its modification time, in seconds since 1970.
    var seconds: Int64
    /// The part of a second beyond that.
    var nanoseconds: Int64
}

extension FileState {
    /// Reads the state of a file, through symbolic links.
    ///
    /// - Throws: A ``FileFailure`` when it does not exist.
    init(of path: String) throws {
        let status = try LocalFile.status(path)
        self.init(
            size: status.size, inode: status.inode, seconds: status.modified,
            nanoseconds: status.nanoseconds)
    }

    /// Whether the same file was written since; false for another file in its place.
    func isWrittenTo(at path: String) -> Bool {
        guard let now = try? FileState(of: path) else { return false }
        return now.inode == inode && now != self
    }
}

/// The progress of a file's upload, on disk, so that a repeated upload of the file resumes.
///
/// It is only a hint: without it, or after an error, the upload starts from the beginning.
struct UploadRecord: Sendable {
    /// Seconds that servers keep an unfinished upload.
    private static let lifetime: Int64 = 48 * 3600

    private let path: String

    /// The record of a file's upload to a folder of a server.
    ///
    /// - Throws: A ``FileFailure`` when the working directory is unknown.
    init(of file: String, to folder: RemotePath, on server: ServerAddress, _ context: Context) throws {
        let file = try LocalFile.resolved(LocalFile.absolute(file, in: context.workingDirectory()))
        let identity = ContentHasher.hash(Array("\(server)\n\(folder.key)\n\(file)".utf8))
        path = context.directories.uploads + "/" + identity.description.prefix(16)
    }

    /// The progress of the upload; nil without a record.
    var position: UploadPosition? {
        guard let bytes = try? LocalFile.read(path, limit: 1 << 16) else { return nil }
        return try? JSONReader.read(UploadPosition.self, from: bytes)
    }

    /// Writes the progress; nil removes the record of a finished upload.
    func keep(_ position: UploadPosition?) {
        guard let position else { return remove() }
        try? LocalFile.makePrivateDirectory(LocalFile.parent(of: path))
        try? LocalFile.replace(path, with: JSON.bytes(position))
    }

    /// Forgets the upload.
    func remove() { unsafe unlink(path) }

    /// Removes the records of expired uploads.
    static func removeExpired(_ context: Context) {
        let directory = context.directories.uploads
        for name in LocalFile.names(in: directory) {
            let path = directory + "/" + name
            guard let status = FileStatus(path, followsLinks: false) else { continue }
            if status.modified < context.now() - lifetime { unsafe unlink(path) }
        }
    }
}
