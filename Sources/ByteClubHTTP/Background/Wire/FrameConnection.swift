import CLibcurl
import Glibc

/// Frames over a Unix stream socket.
///
/// One thread at a time may send, and one may receive, which blocks. Dropping the connection closes it.
final class FrameConnection: Sendable {
    private let descriptor: Int32

    /// Takes over a connected socket.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Connects to a daemon.
    ///
    /// It waits for some seconds for room in the socket's queue of connections (`listen(2)`, backlog).
    ///
    /// - Returns: The connection; nil when no daemon listens.
    /// - Throws: ``TransferError/Code/daemonUnavailable`` when the socket cannot be used,
    ///   ``TransferError/Code/timedOut``.
    static func connect(
        to path: String, waiting seconds: Int = DaemonConnector.patience
    ) throws(TransferError) -> FrameConnection? {
        let address = try UnixAddress(path)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw TransferError(.daemonUnavailable, "no socket can be made: \(systemMessage(errno))")
        }
        // The limit for sending applies to connecting too, which unix(7) leaves out; 0 would mean no limit.
        limitSending(descriptor, seconds: seconds)
        if seconds == 0 { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        guard unsafe address.withPointer({ unsafe Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let code = errno
            close(descriptor)
            if code == EAGAIN { throw TransferError(.timedOut, "'\(path)' accepts no more connections") }
            if code == ENOENT || code == ECONNREFUSED || code == ENOTDIR { return nil }
            throw TransferError(.daemonUnavailable, "'\(path)' cannot be reached: \(systemMessage(code))")
        }
        if seconds == 0 { _ = fcntl(descriptor, F_SETFL, 0) }
        limitSending(descriptor, seconds: 0)
        return FrameConnection(descriptor: descriptor)
    }

    /// The error for a frame that is longer than ``DaemonFrame/limit``.
    static func tooLong(_ count: Int) -> TransferError {
        TransferError(.bodyTooLarge, "a message of \(count) bytes is too long for the daemon")
    }

    /// Sends some of a frame's bytes, see ``DaemonFrame/onWire``; blocks until the socket's buffer has room if it is waiting.
    ///
    /// - Returns: The number of bytes sent; nil when the connection is lost.
    func send(some bytes: ArraySlice<UInt8>, isWaiting: Bool) -> Int? {
        while true {
            let flags = Int32(MSG_NOSIGNAL) | (isWaiting ? 0 : Int32(MSG_DONTWAIT))
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags)
            }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            guard errno == EINTR else { return nil }
        }
    }

    /// The next frame; nil when the other side has closed the connection.
    ///
    /// - Throws: ``TransferError/Code/connectionLost``, or ``TransferError/Code/protocolViolation`` for invalid bytes.
    func receive() throws(TransferError) -> DaemonFrame? {
        guard let head = try read(4, mayEnd: true) else { return nil }
        let count = head.reversed().reduce(0) { $0 << 8 | Int($1) }
        guard count <= DaemonFrame.limit else {
            throw TransferError(.protocolViolation, "a message of \(count) bytes is too long")
        }
        guard let content = try read(count, mayEnd: false) else { return nil }
        do { return try DaemonFrame(decoding: content[...]) } catch {
            throw TransferError(
                .protocolViolation, "a message cannot be understood; is the other side another version?")
        }
    }

    /// Ends both directions, which ends a waiting ``receive()`` and ``send(some:isWaiting:)``.
    func shutdown() { _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Ends sending, so that the other side reads an end of file; what it sends can still be received.
    func finishSending() { _ = Glibc.shutdown(descriptor, Int32(SHUT_WR)) }

    /// Limits how long sending blocks; 0 removes the limit.
    private static func limitSending(_ descriptor: Int32, seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Waits until bytes or the end of the connection can be received.
    ///
    /// - Parameter seconds: The limit, of which at most one second passes while this process is suspended.
    /// - Returns: False when nothing came.
    func waitForBytes(seconds: Int) -> Bool {
        for _ in 0..<seconds {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = unsafe poll(&entry, 1, 1000)
            if count > 0 || count < 0 && errno != EINTR { return true }
        }
        return false
    }

    /// The user at the other end.
    var peer: uid_t? { Self.peer(of: descriptor) }

    /// The user at the other end of a Unix socket (SO_PEERCRED, unix(7)).
    static func peer(of descriptor: Int32) -> uid_t? {
        var credentials: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0
            ? credentials.user : nil
    }

    private func read(_ count: Int, mayEnd: Bool) throws(TransferError) -> [UInt8]? {
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let start = buffer.baseAddress {
                let got = unsafe recv(descriptor, start + filled, count - filled, 0)
                if got == 0 { break }
                if got > 0 {
                    filled += got
                } else if errno != EINTR {
                    code = errno
                    break
                }
            }
        }
        if bytes.count == count { return bytes }
        if code == 0, bytes.isEmpty, mayEnd { return nil }
        throw Self.lost(code)
    }

    private static func lost(_ code: Int32) -> TransferError {
        TransferError(
            .connectionLost, "the connection to the daemon ended" + (code == 0 ? "" : ": \(systemMessage(code))"))
    }
}

/// The address of a Unix socket.
struct UnixAddress {
    private var address = sockaddr_un()

    /// The address of a path of 1 to 107 bytes without NUL; for other paths this throws the code.
    init(_ path: String, else code: TransferError.Code = .daemonUnavailable) throws(TransferError) {
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path), !path.utf8.contains(0), !path.isEmpty
        else {
            throw TransferError(code, "'\(path)' is too long for a socket; the folder's path has 90 bytes at most")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    }

    /// Passes the address to a system function.
    func withPointer(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
