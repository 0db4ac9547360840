package import Glibc

/// What the system knows of a file.
package struct FileStatus {
    /// The result of stat(2), for what is not below.
    package let raw: stat

    /// Asks for the file at a path; nil when there is none or the system refuses, with the reason in `errno`.
    package init?(_ path: String, followsLinks: Bool = true) {
        var status = stat()
        guard unsafe (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        raw = status
    }

    /// Asks for an open file.
    init?(of descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        raw = status
    }

    /// Whether it is a regular file.
    package var isFile: Bool { raw.st_mode & S_IFMT == S_IFREG }
    /// Whether it is a folder.
    package var isFolder: Bool { raw.st_mode & S_IFMT == S_IFDIR }
    /// The length in bytes.
    package var size: Int64 { Int64(raw.st_size) }
    /// The number in its file system.
    package var inode: UInt64 { UInt64(raw.st_ino) }
    /// The permissions.
    package var permissions: mode_t { raw.st_mode & 0o7777 }
    /// When the content was last written, in seconds since 1970.
    package var modified: Int64 { Int64(raw.st_mtim.tv_sec) }

    /// Whether it is the same file as another, whatever their paths.
    package func isSame(as other: FileStatus) -> Bool { raw.st_dev == other.raw.st_dev && inode == other.inode }
}

/// The properties of a file that change when it is written to or replaced.
package struct FileStamp: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int64
    package let seconds: Int
    package let nanoseconds: Int

    /// The stamp of a file when it had this status.
    package init(_ status: FileStatus) {
        device = UInt64(status.raw.st_dev)
        inode = status.inode
        size = status.size
        seconds = status.raw.st_mtim.tv_sec
        nanoseconds = status.raw.st_mtim.tv_nsec
    }
}
