import CLinux
import Glibc

/// The last bytes of a disk, which new content may not take: with them deleting, moving and restoring go on.
struct DiskReserve: Sendable {
    private static let maximum: UInt64 = 32 << 20

    private let directory: String

    /// Watches the file system of a directory.
    init(_ directory: String) {
        self.directory = directory
    }

    /// Refuses new content of so many bytes when it would leave less than the reserve: 32 MiB, or a quarter of a small
    /// disk.
    ///
    /// - Throws: ``StorageError`` `full`, or what the system says.
    func check(for bytes: Int64 = 0) throws(StorageError) {
        var status = statvfs()
        guard unsafe statvfs(directory, &status) == 0 else {
            throw StorageError(errno: errno, "cannot ask '\(directory)'")
        }
        let block = UInt64(status.f_frsize)
        let total = UInt64(status.f_blocks).multipliedReportingOverflow(by: block)
        let reserve = total.overflow ? Self.maximum : min(Self.maximum, total.partialValue / 4)
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: block)
        let needed = reserve + UInt64(max(bytes, 0))
        if !free.overflow, free.partialValue < needed {
            throw StorageError(.full, "the disk of '\(directory)' is full but for what deletions need")
        }
    }
}
