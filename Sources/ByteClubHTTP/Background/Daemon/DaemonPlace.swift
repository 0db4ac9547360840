import Glibc

/// A daemon's claim on its folder: the lock that makes it the only one, and the socket where it is found.
///
/// The system drops the lock with the process, however that ends; a socket's file that is left over is replaced. Belongs
/// to one thread.
final class DaemonPlace {
    private let service: BackgroundService
    private var lock: Int32
    /// The socket that listens; -1 while there is none.
    private(set) var listener: Int32 = -1
    /// Whether the socket is systemd's, which goes on to listen when this daemon has ended.
    private let isLent: Bool

    /// The first descriptor that systemd hands over (sd_listen_fds(3)).
    private static let firstLent: Int32 = 3
    private static let backlog: Int32 = 128

    /// Takes the folder, which is there, and listens.
    ///
    /// - Returns: Nil when another daemon has it.
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

    /// Lets another daemon have it.
    func release() {
        if lock >= 0 { hide() }
        for descriptor in [listener, lock] where descriptor >= 0 { close(descriptor) }
        (listener, lock) = (-1, -1)
    }

    /// The next connection that waits, without blocking; nil for none.
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

    /// Lets nobody find the socket any more; those who did are still to be accepted.
    func hide() { if !isLent { unsafe unlink(service.socketPath) } }

    /// Is found again after ``hide()``.
    func show() throws(TransferError) {
        if isLent { return }
        if listener >= 0 { close(listener) }
        listener = -1
        try listen()
    }

    private func listen() throws(TransferError) {
        let path = service.socketPath
        guard let address = UnixAddress(path) else {
            throw TransferError(
                .badConfiguration, "'\(path)' is too long for a socket; the folder's path has 90 bytes at most")
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.unusable(path, errno) }
        // Whoever has the lock may remove what another one left.
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
