import ByteClubFiles
import CLibcurl
import Glibc

/// A daemon's claim on its folder: the lock that makes it the only daemon there, and the socket that clients connect to.
///
/// A socket file that an earlier daemon left is replaced. Belongs to one thread.
final class DaemonPlace {
    private let service: BackgroundService
    private var lock: Int32
    /// The listening socket, or -1.
    private(set) var listener: Int32 = -1
    /// Whether the socket is systemd's, which continues to listen when this daemon has ended.
    private let isLent: Bool

    /// The first descriptor that systemd passes (sd_listen_fds(3)).
    private static let firstLent: Int32 = 3
    private static let backlog: Int32 = 128

    /// Locks the folder, which must exist, and listens.
    ///
    /// - Returns: Nil when another daemon has the lock.
    /// - Throws: ``TransferError/Code/badConfiguration``.
    init?(_ service: BackgroundService) throws(TransferError) {
        guard let lock = try DaemonLock.take(service.lockPath) else { return nil }
        self.service = service
        self.lock = lock
        isLent = Self.isStartedBySystemd
        if isLent {
            listener = Self.firstLent
            _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
            _ = fcntl(listener, F_SETFL, O_NONBLOCK)
        } else {
            try listen()
        }
    }

    deinit { release() }

    /// Closes the socket and releases the lock.
    func release() {
        if lock >= 0 { hide() }
        for descriptor in [listener, lock] where descriptor >= 0 { close(descriptor) }
        (listener, lock) = (-1, -1)
    }

    /// The next waiting connection, without blocking; nil if none waits, or on an error, which is in `errno`.
    func accept() -> Int32? {
        while listener >= 0 {
            let connection = Glibc.accept(listener, nil, nil)
            if connection >= 0 {
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                _ = fcntl(connection, F_SETFL, O_NONBLOCK)
                return connection
            }
            if errno != EINTR, errno != ECONNABORTED { return nil }
        }
        return nil
    }

    /// Removes the socket's file; clients that have connected before can still be accepted.
    func hide() { if !isLent { unsafe unlink(service.socketPath) } }

    /// Listens again after ``hide()``.
    func show() throws(TransferError) {
        if isLent { return }
        if listener >= 0 { close(listener) }
        listener = -1
        try listen()
    }

    private func listen() throws(TransferError) {
        let path = service.socketPath
        let address = try UnixAddress(path, else: .badConfiguration)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.unusable(path, errno) }
        // The holder of the lock may remove an earlier daemon's socket.
        unsafe unlink(path)
        guard unsafe address.withPointer({ unsafe bind(descriptor, $0, $1) }) == 0, unsafe chmod(path, 0o600) == 0,
            Glibc.listen(descriptor, Self.backlog) == 0
        else {
            let code = errno
            close(descriptor)
            throw Self.unusable(path, code)
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        listener = descriptor
    }

    private static var isStartedBySystemd: Bool {
        func number(_ name: String) -> Int? {
            unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
        }
        return number("LISTEN_PID") == Int(getpid()) && number("LISTEN_FDS").map { $0 >= 1 } == true
    }

    static func unusable(_ path: String, _ code: Int32) -> TransferError {
        TransferError(.badConfiguration, "'\(path)' cannot be used: \(systemMessage(code))")
    }
}

/// The lock that makes a daemon the only one of its folder; the system releases it however the process ends.
///
/// It is a lock of an open file (fcntl(2), F_OFD_SETLK), which programs can query without taking it, so queries disturb
/// neither each other nor a starting daemon. The locked file holds the daemon's process ID.
enum DaemonLock {
    // Linux, <asm-generic/fcntl.h>.
    private static let (look, claim): (Int32, Int32) = (36, 37)

    /// Creates the file if necessary and takes the lock, without waiting for it.
    ///
    /// - Returns: A descriptor that holds the lock until it is closed; nil when another daemon has the lock.
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

    /// Whether a daemon has the lock, or the query fails; takes microseconds.
    static func isHeld(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno != ENOENT && errno != ENOTDIR }
        defer { close(descriptor) }
        var lock = whole
        return unsafe fcntl(descriptor, look, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
    }

    /// The process that has the lock; nil when none has it, or the query fails.
    ///
    /// SO_PEERCRED would not do: on a socket that systemd has passed it names systemd.
    static func holder(_ path: String) -> pid_t? {
        guard isHeld(path), let text = fileText(path, upTo: 32) else { return nil }
        return pid_t(text.prefix { $0 != "\n" }).flatMap { $0 > 1 ? $0 : nil }
    }

    /// A write lock of the whole file.
    private static var whole: flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }
}

/// How a daemon that ``DaemonLauncher`` has started reports that it is ready: by closing its standard error, a pipe.
enum DaemonStart {
    /// The environment variable with the started daemon's folder.
    static let variable = "BYTECLUB_STARTED_DAEMON"
    private static let longestLog: Int64 = 1 << 20

    /// Redirects output to the folder's `daemon.log`, which closes the pipe; does nothing for a daemon that was started in
    /// another way.
    static func tellReady(_ service: BackgroundService) {
        guard let folder = unsafe getenv(variable), unsafe String(cString: folder) == service.folder else { return }
        let path = service.folder + "/daemon.log"
        var log = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        var status = stat()
        if log >= 0, unsafe fstat(log, &status) == 0, Int64(status.st_size) > longestLog { ftruncate(log, 0) }
        if log < 0 { log = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC) }
        guard log >= 0 else { return }
        dup2(log, STDOUT_FILENO)
        dup2(log, STDERR_FILENO)
        close(log)
    }
}
