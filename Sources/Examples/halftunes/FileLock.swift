import Glibc

/// A file that one program at a time holds locked; a program that ends lets go of it.
struct FileLock: ~Copyable {
    private let descriptor: Int32

    /// Waits for the lock of a file, which is made where it is not there.
    init(_ path: String) throws {
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(.cannotWrite, "'\(path)' cannot be opened") }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Failure(.cannotWrite, "'\(path)' cannot be locked") }
        }
    }

    consuming func release() {}

    deinit { close(descriptor) }
}
