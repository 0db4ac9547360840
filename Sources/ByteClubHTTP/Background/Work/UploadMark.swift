import Glibc

/// The file of an upload as it was when the task was recorded, by which a file that was changed since is told.
struct UploadMark: Sendable, Hashable {
    private var inode: UInt64
    private(set) var size: Int64
    private var seconds: Int64
    private var nanoseconds: Int64

    /// How a file looks now; blocks.
    ///
    /// - Throws: ``TransferError/Code/fileUnreadable``.
    init(file path: String) throws(TransferError) {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw TransferError(.fileUnreadable, "'\(path)' is no absolute path", phase: .file)
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw TransferError(.fileUnreadable, "\(path) cannot be read: \(systemMessage(errno))", phase: .file)
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw TransferError(.fileUnreadable, "\(path) is not a regular file", phase: .file)
        }
        let stamp = FileStamp(status)
        // Not the device: it may be another number when the machine is started again.
        (inode, size) = (stamp.inode, stamp.size)
        (seconds, nanoseconds) = (Int64(stamp.seconds), Int64(stamp.nanoseconds))
    }

    init?(decoding bytes: ArraySlice<UInt8>) {
        var reader = RecordReader(bytes)
        do {
            inode = UInt64(bitPattern: try reader.number())
            size = try reader.number()
            seconds = try reader.number()
            nanoseconds = try reader.number()
        } catch { return nil }
        guard reader.isAtEnd else { return nil }
    }

    var encoded: [UInt8] {
        var writer = RecordWriter()
        for number in [Int64(bitPattern: inode), size, seconds, nanoseconds] { writer.put(number) }
        return writer.bytes
    }
}
