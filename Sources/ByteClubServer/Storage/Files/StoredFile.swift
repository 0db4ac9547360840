import CLinux
import Glibc
import NIOCore
import NIOPosix

/// A file that is open for reading, so that its bytes stay there while they are sent.
final class StoredFile: Sendable {
    /// The length of one piece in bytes.
    static let pieceSize = 256 << 10

    private let descriptor: Int32

    /// Opens a regular file; links are not followed.
    ///
    /// - Throws: ``StoredFileError`` when it cannot be opened or is something else.
    init(path: String) throws(StoredFileError) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 { throw StoredFileError(operation: "open", errno: errno) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw StoredFileError(operation: "open", errno: EINVAL)
        }
        descriptor = file
    }

    deinit { close(descriptor) }

    /// Reads some bytes on a thread that may block.
    ///
    /// - Throws: ``StoredFileError`` when they cannot be read or the file is shorter.
    func read(at offset: Int64, count: Int) async throws -> ByteBuffer {
        try await NIOThreadPool.singleton.runIfActive { try self.readNow(at: offset, count: count) }
    }

    private func readNow(at offset: Int64, count: Int) throws(StoredFileError) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        while buffer.readableBytes < count {
            let filled = buffer.readableBytes
            let result = unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count - filled) { target in
                unsafe max(0, pread(descriptor, target.baseAddress, count - filled, off_t(offset) + off_t(filled)))
            }
            if result == 0 { throw StoredFileError(operation: "read", errno: errno) }
        }
        return buffer
    }
}

/// Why stored bytes could not be had.
struct StoredFileError: Error, CustomStringConvertible {
    /// What was tried.
    let operation: String
    /// The system's error number.
    let errno: Int32

    /// One line for the log.
    var description: String { unsafe "cannot \(operation) stored content: \(String(cString: strerror(errno)))" }
}
