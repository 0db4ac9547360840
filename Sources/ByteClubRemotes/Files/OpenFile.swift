import ByteClubCore
import ByteClubHTTP
import Glibc

/// A regular file open for reading, and how it looked when it was opened.
///
/// Reads are by offset, so any number of threads may share it.
final class OpenFile: Sendable {
    let path: String
    private let stamp: FileStamp
    private let descriptor: Int32
    /// Tells one state of the file from another, also after this program's end.
    let state: String

    /// The length in bytes that it had when it was opened.
    var size: Int64 { stamp.size }

    /// Opens a file.
    init(reading path: String) throws(RemoteError) {
        if path.utf8.contains(0) { throw RemoteError(.localFile, "the file's path contains a NUL") }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .localFile("cannot read '\(path)'", errno) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw .localFile("cannot read '\(path)'", code)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw RemoteError(.localFile, "'\(path)' is not a regular file")
        }
        self.path = path
        self.descriptor = descriptor
        stamp = FileStamp(status)
        state = [
            Int64(status.st_dev), Int64(status.st_ino), Int64(status.st_size), Int64(status.st_mtim.tv_sec),
            Int64(status.st_mtim.tv_nsec), Int64(status.st_ctim.tv_sec), Int64(status.st_ctim.tv_nsec),
        ].map(String.init).joined(separator: " ")
    }

    deinit { close(descriptor) }

    /// Fills the whole buffer from an offset.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(RemoteError) {
        var filled = 0
        while filled < buffer.count {
            let rest = unsafe buffer[filled...]
            let count = unsafe pread(
                descriptor, UnsafeMutableRawBufferPointer(rebasing: rest).baseAddress, rest.count,
                off_t(offset) + off_t(filled))
            if count > 0 {
                filled += count
            } else if count == 0 {
                throw changed
            } else if errno != EINTR {
                throw .localFile("cannot read '\(path)'", errno)
            }
        }
    }

    /// Fills the first bytes of an array from an offset.
    func read(into bytes: inout [UInt8], count: Int, at offset: Int64) throws(RemoteError) {
        let result = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(RemoteError) in
                try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count)), at: offset)
            }
        }
        try result.get()
    }

    /// All bytes, for a file that is known to be small.
    func readAll() throws(RemoteError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(stamp.size))
        try read(into: &bytes, count: bytes.count, at: 0)
        try verify()
        return bytes
    }

    /// Fails when the file, or the one its path names now, is not as it was when it was opened.
    func verify() throws(RemoteError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, FileStamp(status) == stamp,
            unsafe stat(path, &status) == 0, FileStamp(status) == stamp
        else { throw changed }
    }

    private var changed: RemoteError { RemoteError(.localFile, "'\(path)' changed while being read") }
}
