import ByteClubFiles
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
    private let file: OwnedDescriptor<FileFailure>

    /// Opens a regular file; links are not followed.
    ///
    /// - Throws: ``StorageError`` when it cannot be opened or is something else.
    init(path: String) throws(StorageError) {
        do throws(FileFailure) {
            let found = try OwnedDescriptor<FileFailure>.regularFile(path, O_NOFOLLOW)
            guard let found else { throw FileFailure("open", path, EINVAL) }
            file = found.file
        } catch {
            throw StorageError(errno: error.code, "cannot open stored content")
        }
    }

    /// Reads some bytes on a thread that may block.
    func read(at offset: Int64, count: Int) async throws -> ByteBuffer {
        try await NIOThreadPool.singleton.runIfActive { try self.readNow(at: offset, count: count) }
    }

    private func readNow(at offset: Int64, count: Int) throws(StorageError) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        var code: Int32 = 0
        unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
            let wanted = unsafe UnsafeMutableRawBufferPointer(rebasing: target.prefix(count))
            let result = unsafe readAll(into: wanted, from: file.number, at: offset)
            code = result.code
            return result.count
        }
        if code != 0 { throw StorageError(errno: code, "cannot read stored content") }
        if buffer.readableBytes < count { throw StorageError(.damaged, "a content has fewer bytes than are read") }
        return buffer
    }
}
