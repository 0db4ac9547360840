import Glibc

/// The file that a download under way is about to become, so that it is known again when it was given its name and the
/// daemon was killed before it noted that.
struct DownloadMark: Sendable, Hashable {
    private var inode: UInt64
    private var total: Int64
    /// Until the machine is started again, what was written is there, synced or not.
    private var boot: String

    /// A shorter file is downloaded again as fast as this is kept.
    static let leastBytes: Int64 = 1 << 20

    /// The mark of a part; nil when its whole length is unknown.
    init?(_ data: ResumeData) {
        guard let total = data.record.total else { return nil }
        inode = data.record.inode
        self.total = total
        boot = MachineStart.present
    }

    init?(decoding bytes: ArraySlice<UInt8>) {
        var reader = RecordReader(bytes)
        do {
            inode = UInt64(bitPattern: try reader.number())
            total = try reader.number()
            boot = try reader.text()
        } catch { return nil }
        guard reader.isAtEnd else { return nil }
    }

    var encoded: [UInt8] {
        var writer = RecordWriter()
        writer.put(Int64(bitPattern: inode))
        writer.put(total)
        writer.put(boot)
        return writer.bytes
    }

    /// Whether the file at the path is the marked one with all of its bytes; blocks.
    func isWhole(_ path: String) -> Bool {
        var status = stat()
        guard MachineStart.isPresent(boot), unsafe lstat(path, &status) == 0 else { return false }
        return UInt64(status.st_ino) == inode && Int64(status.st_size) == total && status.st_mode & S_IFMT == S_IFREG
    }
}
