import Glibc

/// A file that appears under its name only when it is whole.
///
/// Bytes go to a hidden temporary file in the same folder, which is removed unless ``publish()`` renamed it.
/// Belongs to the loop's thread. Nothing is synced to disk; who needs that does it after the rename.
final class DownloadFile {
    struct Failure: Error {
        var message: String
        var errno: Int32
    }

    let path: String
    private(set) var size: Int64 = 0
    private let temporary: String
    private let descriptor: Int32
    private var isPublished = false

    init(path: String) throws(Failure) {
        guard !path.isEmpty, !path.utf8.contains(0), path.utf8.last != UInt8(ascii: "/") else {
            throw Failure(message: "there is no file name to download to", errno: EINVAL)
        }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
        let name = String(UInt64.random(in: .min ... .max), radix: 16)
        self.path = path
        temporary = "\(folder).byteclub-\(name).part"
        descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit {
        close(descriptor)
        if !isPublished { unsafe unlink(temporary) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var rest = unsafe bytes
        while let start = rest.baseAddress, rest.count > 0 {
            let count = unsafe Glibc.write(descriptor, start, rest.count)
            if count >= 0 {
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                size += Int64(count)
            } else if Glibc.errno != EINTR {
                throw Self.failure(path)
            }
        }
    }

    /// Forgets everything written.
    func truncate() throws(Failure) {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.failure(path) }
        size = 0
    }

    /// Gives the file its name, replacing what had it.
    func publish() throws(Failure) {
        guard unsafe rename(temporary, path) == 0 else { throw Self.failure(path) }
        isPublished = true
    }

    private static func failure(_ path: String) -> Failure {
        let code = Glibc.errno
        return Failure(message: "\(path) cannot be written: \(systemMessage(code))", errno: code)
    }
}
