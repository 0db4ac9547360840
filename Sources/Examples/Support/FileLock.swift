import Glibc

/// A lock on a file, which ends with the program at the latest.
package final class FileLock: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Waits for the lock.
    ///
    /// - Throws: ``Failure`` if the file cannot be locked.
    package convenience init(_ path: String) throws(Failure) {
        guard let descriptor = try Self.locked(path, LOCK_EX) else { throw Self.failure(path, EWOULDBLOCK) }
        self.init(path, descriptor)
    }

    /// Acquires the lock; nil if another program has it.
    ///
    /// - Throws: ``Failure`` if the file cannot be locked.
    package convenience init?(trying path: String) throws(Failure) {
        guard let descriptor = try Self.locked(path, LOCK_EX | LOCK_NB) else { return nil }
        self.init(path, descriptor)
    }

    private init(_ path: String, _ descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }

    deinit { close(descriptor) }

    /// Releases the lock.
    package func release() { flock(descriptor, LOCK_UN) }

    /// Removes the file, and releases the lock.
    package func remove() {
        unsafe unlink(path)
        release()
    }

    /// Opens and locks a file, which is created if it is missing; nil if another program has the lock.
    private static func locked(_ path: String, _ kind: Int32) throws(Failure) -> Int32? {
        while true {
            let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw failure(path, errno) }
            guard flock(descriptor, kind) == 0 else {
                let code = errno
                close(descriptor)
                if code == EINTR { continue }
                if code == EWOULDBLOCK { return nil }
                throw failure(path, code)
            }
            // The program that had the lock may have removed the file.
            var (own, named) = (stat(), stat())
            if unsafe fstat(descriptor, &own) == 0, unsafe lstat(path, &named) == 0, own.st_ino == named.st_ino,
                own.st_dev == named.st_dev
            {
                return descriptor
            }
            close(descriptor)
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> Failure {
        Failure(.cannotWrite, "'\(path.printable)' cannot be locked: \(unsafe String(cString: strerror(code)))")
    }
}
