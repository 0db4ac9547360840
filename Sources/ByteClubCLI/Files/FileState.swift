import CLinux
import Glibc

/// What of a file changes when somebody writes to it or puts another in its place.
struct FileState: Codable, Hashable, Sendable {
    /// Its length in bytes.
    var size: Int64
    /// Its number in its file system.
    var inode: UInt64
    /// When it was last written to, in seconds since 1970.
    var seconds: Int64
    /// The part of a second beyond that.
    var nanoseconds: Int64
}

extension FileState {
    /// The present state of a file, or of the one that a link leads to.
    ///
    /// - Throws: A ``FileError`` when there is none.
    init(of path: String) throws {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw FileError(.read, path) }
        self.init(
            size: Int64(status.st_size), inode: UInt64(status.st_ino), seconds: Int64(status.st_mtim.tv_sec),
            nanoseconds: Int64(status.st_mtim.tv_nsec))
    }

    /// Whether somebody has written to the file since, which is not so of another one that took its place.
    func isWrittenTo(at path: String) -> Bool {
        guard let now = try? FileState(of: path) else { return false }
        return now.inode == inode && now != self
    }
}
