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

    /// The part of a second beyond that.
    package var nanoseconds: Int64 { Int64(raw.st_mtim.tv_nsec) }

    /// Whether it is the same file as another, whatever their paths.
    package func isSame(as other: FileStatus) -> Bool { raw.st_dev == other.raw.st_dev && inode == other.inode }

    /// Whether the same file was not written to in between.
    package func isUnchanged(since other: FileStatus?) -> Bool {
        guard let other else { return false }
        return isSame(as: other) && size == other.size && modified == other.modified && nanoseconds == other.nanoseconds
    }
}
