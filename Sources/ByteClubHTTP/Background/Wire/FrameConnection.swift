import Glibc
import Synchronization

/// Frames over a Unix stream socket.
///
/// Any thread may send; one thread at a time receives, and blocks. Whoever drops it closes it.
final class FrameConnection: Sendable {
    private let descriptor: Int32
    private let sending = Mutex<Void>(())

    /// Takes a connected socket over.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Connects to a daemon.
    ///
    /// - Parameters:
    ///   - path: Its socket.
    ///   - seconds: How long to wait while it takes no connections that came before, and more wait than the system keeps.
    /// - Returns: The connection; nil when nobody listens there.
    /// - Throws: ``TransferError/Code/daemonUnavailable`` when the path cannot be a socket's,
    ///   ``TransferError/Code/timedOut``.
    static func connect(
        to path: String, waiting seconds: Int = DaemonConnector.patience
    ) throws(TransferError) -> FrameConnection? {
        guard let address = UnixAddress(path) else {
            throw TransferError(
                .daemonUnavailable, "'\(path)' is too long for a socket; the folder's path has 90 bytes at most")
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw TransferError(.daemonUnavailable, "no socket can be made: \(systemMessage(errno))")
        }
        // What limits sending limits connecting too (unix(7) does not say so); no time would be no limit.
        limit(SO_SNDTIMEO, of: descriptor, milliseconds: seconds * 1000)
        if seconds == 0 { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        guard unsafe address.withPointer({ unsafe Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let code = errno
            close(descriptor)
            if code == EAGAIN { throw TransferError(.timedOut, "'\(path)' takes no connections") }
            if code == ENOENT || code == ECONNREFUSED || code == ENOTDIR { return nil }
            throw TransferError(.daemonUnavailable, "'\(path)' cannot be reached: \(systemMessage(code))")
        }
        if seconds == 0 { _ = fcntl(descriptor, F_SETFL, 0) }
        limit(SO_SNDTIMEO, of: descriptor, milliseconds: 0)
        return FrameConnection(descriptor: descriptor)
    }

    /// Sends a frame, and blocks until the system has taken all of it.
    ///
    /// - Throws: ``TransferError/Code/connectionLost``; then nothing more can be sent.
    func send(_ frame: DaemonFrame) throws(TransferError) {
        let content = frame.encoded
        guard content.count <= DaemonFrame.limit else {
            throw Self.tooLong(content.count)
        }
        let count = UInt32(content.count)
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + content
        let code = sending.withLock { _ in write(bytes) }
        if code != 0 { throw Self.lost(code) }
    }

    /// What to tell of a frame that is longer than any may be.
    static func tooLong(_ count: Int) -> TransferError {
        TransferError(.bodyTooLarge, "a message of \(count) bytes is too long for the daemon")
    }

    /// Sends some of a frame's bytes, which nobody else does meanwhile; see ``DaemonFrame/onWire``.
    ///
    /// - Parameters:
    ///   - bytes: The rest of a frame.
    ///   - isWaiting: Whether to block until the system takes some.
    /// - Returns: How many were sent; nil when nothing more can be sent.
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

    /// The next frame; nil when the other side closed.
    ///
    /// - Throws: ``TransferError/Code/connectionLost``, or ``TransferError/Code/protocolViolation`` for what is no frame.
    func receive() throws(TransferError) -> DaemonFrame? {
        guard let head = try read(4, mayEnd: true) else { return nil }
        let count = head.reversed().reduce(0) { $0 << 8 | Int($1) }
        guard count <= DaemonFrame.limit else {
            throw TransferError(.protocolViolation, "a message of \(count) bytes is no message")
        }
        guard let content = try read(count, mayEnd: false) else { return nil }
        do { return try DaemonFrame(decoding: content[...]) } catch {
            throw TransferError(
                .protocolViolation, "a message cannot be understood; is the other side another version?")
        }
    }

    /// Ends both directions, which ends a ``receive()`` and a ``send(_:)`` that wait.
    func shutdown() { _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Ends what is sent, so that the other side reads an end; what it still sends can be received.
    func finishSending() { _ = Glibc.shutdown(descriptor, Int32(SHUT_WR)) }

    /// How long a ``receive()`` waits for each byte before it fails; 0 for ever.
    func limitWait(milliseconds: Int) { Self.limit(SO_RCVTIMEO, of: descriptor, milliseconds: milliseconds) }

    private static func limit(_ option: Int32, of descriptor: Int32, milliseconds: Int) {
        var time = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        unsafe setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Waits until something can be received, be it the end.
    ///
    /// - Parameter seconds: How long; while this process stands still itself, at most one of them passes.
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

    /// The user at the other end of a Unix socket, as the system knows it (SO_PEERCRED, unix(7)).
    static func peer(of descriptor: Int32) -> uid_t? {
        var credentials: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0
            ? credentials.user : nil
    }

    private func write(_ bytes: [UInt8]) -> Int32 {
        unsafe bytes.withUnsafeBytes { all in
            var rest = unsafe all
            while let start = rest.baseAddress, rest.count > 0 {
                let count = unsafe Glibc.send(descriptor, start, rest.count, Int32(MSG_NOSIGNAL))
                if count >= 0 {
                    unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
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

    /// The address of a path of at most 107 bytes; nil for another one.
    init?(_ path: String) {
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path), !path.utf8.contains(0), !path.isEmpty
        else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    }

    /// Calls a system function with the address.
    func withPointer(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
