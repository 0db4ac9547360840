import Glibc

/// The lock that makes a daemon the only one of its folder; the system drops it with the process, however that ends.
///
/// It is a lock of an open file (fcntl(2), F_OFD_SETLK), at which others can look without taking it: they stand neither
/// in each other's way nor in that of a daemon that starts. The locked file holds the daemon's process ID.
enum DaemonLock {
    // Linux, <asm-generic/fcntl.h>.
    private static let (look, claim): (Int32, Int32) = (36, 37)

    /// Takes the lock, without waiting for it.
    ///
    /// - Parameter path: The file, made where it is not there.
    /// - Returns: A descriptor that holds the lock until it is closed; nil when another daemon has it.
    /// - Throws: ``TransferError/Code/badConfiguration``.
    static func take(_ path: String) throws(TransferError) -> Int32? {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw DaemonPlace.unusable(path, errno) }
        var lock = whole
        guard unsafe fcntl(descriptor, claim, &lock) == 0 else {
            let code = errno
            close(descriptor)
            if code == EAGAIN || code == EACCES { return nil }
            throw DaemonPlace.unusable(path, code)
        }
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        unsafe _ = pwrite(descriptor, text, text.count, 0)
        return descriptor
    }

    /// Whether a daemon has the lock, also when that cannot be found out; takes microseconds.
    static func isHeld(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno != ENOENT && errno != ENOTDIR }
        defer { close(descriptor) }
        var lock = whole
        return unsafe fcntl(descriptor, look, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
    }

    /// The process that has the lock; nil when none has, or that cannot be found out.
    ///
    /// A socket tells this of a connection's other end as well, but of a socket that systemd lent it tells systemd.
    static func holder(_ path: String) -> pid_t? {
        guard isHeld(path) else { return nil }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
        return pid_t(text.prefix { $0 != "\n" }).flatMap { $0 > 1 ? $0 : nil }
    }

    /// A lock for writing, of all of the file.
    private static var whole: flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }
}
