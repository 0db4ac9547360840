import CLinux
import Glibc

/// Files that can be made again: whole or not there, never torn; losing one costs time only.
struct ThumbnailCache: Sendable {
    private let directory: String

    /// Keeps files in a folder, which is made when the first one is stored.
    init(directory: String) {
        self.directory = directory
    }

    /// A file's bytes; nil when it is not there, empty or no regular file.
    func read(_ name: String) -> [UInt8]? {
        let descriptor = unsafe open(path(of: name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0,
            status.st_size < 16 << 20
        else { return nil }
        let size = Int(status.st_size)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            unsafe count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
        }
        return bytes.count == size ? bytes : nil
    }

    /// Stores a file as well as it can; a full disk only means that the next request makes it again.
    func store(_ bytes: [UInt8], as name: String) {
        let folder = directory + "/" + name.prefix(2)
        unsafe mkdir(directory, 0o700)
        unsafe mkdir(folder, 0o700)
        let temporary = folder + "/." + name + "." + String(UInt64.random(in: .min ... .max), radix: 16)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let written = unsafe write(descriptor, bytes, bytes.count)
        let isWritten = written == bytes.count && fdatasync(descriptor) == 0
        close(descriptor)
        let isMoved = isWritten ? unsafe rename(temporary, path(of: name)) == 0 : false
        if !isMoved { unsafe unlink(temporary) }
    }

    private func path(of name: String) -> String { directory + "/" + name.prefix(2) + "/" + name }
}
