package import ByteClubCore
import ByteClubHTTP
import Glibc
import Synchronization

/// A regular file open for reading, and how it looked when it was opened.
///
/// Reads are by offset, so any number of threads may share it.
package final class OpenFile: Sendable {
    let path: String
    private let stamp: FileStamp
    private let descriptor: Int32
    /// Identifies the file's present state, also for later processes.
    let state: String

    /// The length in bytes that it had when it was opened.
    var size: Int64 { stamp.size }

    /// Opens a file.
    package init(reading path: String) throws(RemoteError) {
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
    package func readAll() throws(RemoteError) -> [UInt8] {
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

/// Local files as downloads make them.
enum LocalFile {
    /// Writes a file that is there only when all its bytes are.
    static func write(_ bytes: [UInt8], to path: String) throws(RemoteError) {
        let part = stagingPath(for: path)
        let descriptor = unsafe open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .localFile("cannot write '\(path)'", errno) }
        var offset = 0
        var failure: Int32 = 0
        while offset < bytes.count, failure == 0 {
            let count = unsafe bytes.withUnsafeBytes { all in
                unsafe Glibc.write(descriptor, all.baseAddress?.advanced(by: offset), all.count - offset)
            }
            if count >= 0 { offset += count } else if errno != EINTR { failure = errno }
        }
        if close(descriptor) != 0, failure == 0 { failure = errno }
        if failure != 0 {
            remove(part)
            throw .localFile("cannot write '\(path)'", failure)
        }
        try put(part, at: path)
    }

    /// The bytes of a short file; nil when it cannot be read.
    static func read(_ path: String) -> [UInt8]? {
        guard let file = try? OpenFile(reading: path), file.size <= 1 << 20 else { return nil }
        return try? file.readAll()
    }

    /// A hidden name in the same folder, which no other download uses.
    static func stagingPath(for path: String) -> String {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        return folder + ".byteclub-\(getpid())-\(lastStaged.wrappingAdd(1, ordering: .relaxed).newValue).part"
    }

    /// Renames a whole file to its place; when that fails, the file is removed.
    static func put(_ staged: String, at path: String) throws(RemoteError) {
        guard unsafe rename(staged, path) != 0 else { return }
        let code = errno
        remove(staged)
        throw .localFile("cannot write '\(path)'", code)
    }

    /// Removes a file, if it is there.
    static func remove(_ path: String) { _ = unsafe unlink(path) }

    private static let lastStaged = Atomic<UInt64>(0)
}

extension RemoteError {
    static func localFile(_ what: String, _ code: Int32) -> RemoteError {
        let text = unsafe strerror(code).map { unsafe String(cString: $0) }
        return RemoteError(.localFile, "\(what): \(text ?? "error \(code)")")
    }
}
