import CLinux
import Glibc

/// The last bytes of a disk, which new content may not take: with them deleting, moving and restoring go on.
struct DiskReserve: Sendable {
    private static let maximum: UInt64 = 32 << 20

    private let directory: String
    private let spare: SpareChunks?

    /// Watches the file system of a directory, of which some files may go before it counts as full.
    init(_ directory: String, spare: SpareChunks? = nil) {
        (self.directory, self.spare) = (directory, spare)
    }

    /// Refuses new content of so many bytes when it would leave less than the reserve: 32 MiB, or a quarter of a small
    /// disk.
    ///
    /// - Throws: ``StorageError`` `full`, or what the system says.
    func check(for bytes: Int64 = 0) throws(StorageError) {
        var lack = try lack(for: bytes)
        if lack > 0, let spare, spare.remove(lack) { lack = try self.lack(for: bytes) }
        guard lack == 0 else {
            throw StorageError(.full, "the disk of '\(directory)' is full, except for a reserve for deletions")
        }
    }

    /// How many bytes are too few; 0 when there is room.
    private func lack(for bytes: Int64) throws(StorageError) -> Int64 {
        var status = statvfs()
        guard unsafe statvfs(directory, &status) == 0 else {
            throw StorageError(errno: errno, "cannot ask '\(directory)'")
        }
        let block = UInt64(status.f_frsize)
        let total = UInt64(status.f_blocks).multipliedReportingOverflow(by: block)
        let reserve = total.overflow ? Self.maximum : min(Self.maximum, total.partialValue / 4)
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: block)
        let needed = reserve + UInt64(max(bytes, 0))
        return free.overflow || free.partialValue >= needed ? 0 : Int64(clamping: needed - free.partialValue)
    }
}
