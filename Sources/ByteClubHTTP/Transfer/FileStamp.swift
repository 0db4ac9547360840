package import Glibc

/// What changes when somebody writes to a file or puts another in its place.
package struct FileStamp: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int64
    package let seconds: Int
    package let nanoseconds: Int

    /// Creates a stamp from the result of fstat(2) or stat(2).
    package init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
