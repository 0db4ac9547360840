internal import Glibc

/// A regular file open for reading at any place; closed when it goes.
///
/// Reads use `pread(2)` and not a mapping, so a file cut short by somebody else gives fewer bytes, not a signal.
struct FileSource: ByteSource, ~Copyable {
    let path: String
    let count: Int
    private let descriptor: Int32

    /// Opens a file; with `followsLinks` false, what a symbolic link at the path itself points to is not read.
    init(path: String, followsLinks: Bool = true) throws(MediaError) {
        guard !path.utf8.contains(0) else { throw MediaError(.io, "a path with a NUL in it cannot be opened") }
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = unsafe open(path, flags)
        guard descriptor >= 0 else { throw .system("cannot open", path, errno) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let number = errno
            close(descriptor)
            throw .system("cannot examine", path, number)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw MediaError(.io, "\(path): not a regular file")
        }
        self.path = path
        self.descriptor = descriptor
        self.count = Int(status.st_size)
    }

    deinit {
        close(descriptor)
    }

    func read(at offset: Int, count wanted: Int) throws(MediaError) -> [UInt8] {
        guard offset >= 0, wanted > 0, offset < count else { return [] }
        let size = min(wanted, count - offset)
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            while filled < size {
                let free = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let got = unsafe pread(descriptor, free.baseAddress, size - filled, off_t(offset + filled))
                if got < 0, errno == EINTR { continue }
                guard got >= 0 else {
                    failure = errno
                    return
                }
                guard got > 0 else { return }
                filled += got
            }
        }
        guard failure == 0 else { throw .system("cannot read", path, failure) }
        return bytes
    }
}

extension MediaError {
    static func system(_ doing: String, _ path: String, _ number: Int32) -> MediaError {
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return MediaError(.io, "\(doing) \(path): \(reason)")
    }
}
