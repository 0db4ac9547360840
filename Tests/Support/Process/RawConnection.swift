import CLinux
import Glibc

/// A TCP connection to a loopback port, for requests that no client library would send.
///
/// Its calls block: use it from ``BackgroundThread``.
public struct RawConnection: ~Copyable, Sendable {
    let descriptor: Int32

    /// Connects, from another address of this machine's loopback network when one is given; nil when nobody listens.
    public init?(port: UInt16, from source: LoopbackAddress? = nil, timeout seconds: Int = 600) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, source?.bind(descriptor) ?? true else { return nil }
        guard LoopbackAddress.server.connect(descriptor, port: port) else { return nil }
        RawConnection.limit(descriptor, seconds)
    }

    /// Takes over a connected socket.
    init(accepted descriptor: Int32, timeout seconds: Int) {
        self.descriptor = descriptor
        RawConnection.limit(descriptor, seconds)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static func limit(_ descriptor: Int32, _ seconds: Int) {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    }

    /// Sends all bytes; false when the other side is gone.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Tells the other side that nothing more comes.
    public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Receives what there is, empty at the end of the stream, after an error or when nothing came in time.
    public func receive(atMost limit: Int = 1 << 16) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer.prefix(count)) : []
    }

    /// Waits for bytes or the end of the stream; false when there was neither in time.
    public func hasInput(within milliseconds: Int) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, Int32(milliseconds)) > 0
    }

    /// Receives until the other side closes.
    public func receiveAll() -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = receive()
            if more.isEmpty { return bytes }
            bytes += more
        }
    }

    /// Ends the connection with a reset rather than in order.
    public func reset() {
        var hard = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
    }

    /// Ends both directions now, also for those who wait in another thread, and resets the connection when it is let
    /// go.
    public func abort() {
        reset()
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
