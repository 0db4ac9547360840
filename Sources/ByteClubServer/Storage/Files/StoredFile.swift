import CLinux
import Glibc
import NIOCore
import NIOPosix

/// A content in a file of this machine.
struct FileBlob: Blob {
    /// The file's path.
    let path: String
    let length: Int64

    var localPath: String? { path }

    func open() throws -> any BlobReader { try StoredFile(path: path) }
}

/// A file that is open for reading, so that its bytes stay there while they are sent.
final class StoredFile: BlobReader {
    private let descriptor: Int32

    /// Opens a regular file; links are not followed.
    ///
    /// - Throws: ``StorageError`` when it cannot be opened or is something else.
    init(path: String) throws(StorageError) {
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 { throw StorageError(errno: errno, "cannot open stored content") }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw StorageError(errno: EINVAL, "cannot open stored content")
        }
        descriptor = file
    }

    deinit { close(descriptor) }

    /// Reads some bytes on a thread that may block.
    func read(at offset: Int64, count: Int) async throws -> ByteBuffer {
        try await NIOThreadPool.singleton.runIfActive { try self.readNow(at: offset, count: count) }
    }

    private func readNow(at offset: Int64, count: Int) throws(StorageError) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        while buffer.readableBytes < count {
            let filled = buffer.readableBytes
            var result = 0
            unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count - filled) { target in
                result = unsafe pread(
                    descriptor, target.baseAddress, count - filled, off_t(offset) + off_t(filled))
                return max(0, result)
            }
            if result == 0 { throw StorageError(.damaged, "a content has fewer bytes than are read") }
            if result < 0, errno != EINTR { throw StorageError(errno: errno, "cannot read stored content") }
        }
        return buffer
    }
}
