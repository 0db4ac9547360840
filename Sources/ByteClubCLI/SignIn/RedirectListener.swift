import ByteClubFiles
import CLinux
import Glibc

/// A listener on loopback for the redirect after a sign-in in a browser (RFC 8252 section 7.3).
///
/// Any local program may connect. All connections are served concurrently, so that none delays the browser.
final class RedirectListener: Sendable {
    /// The most concurrent connections; a further one closes the oldest.
    static let mostVisitors = 64
    /// The time for a client to send its whole request.
    static let patience = Duration.seconds(2)

    /// The address to be sent back to.
    let url: String
    private let descriptor: Int32

    /// Listens on a free port of 127.0.0.1.
    ///
    /// - Throws: ``FileFailure`` when no socket can be opened.
    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FileFailure("read", "a socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                let (bound, heard) = unsafe (
                    bind(descriptor, generic, size), listen(descriptor, Int32(Self.mostVisitors))
                )
                let named = unsafe getsockname(descriptor, generic, &size)
                return bound == 0 && heard == 0 && named == 0
            }
        }
        guard isBound, byteclub_set_nonblocking(descriptor) == 0 else {
            close(descriptor)
            throw FileFailure("read", "a socket on 127.0.0.1")
        }
        self.descriptor = descriptor
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"
    }

    deinit { close(descriptor) }

    /// Waits, blocking its thread, for the redirect's values with `state`; nil after a timeout.
    ///
    /// A client has `patience` to send its request. A browser with permission is redirected to `page`, if there is one.
    func wait(
        state: String, seconds: Int, patience: Duration = RedirectListener.patience, then page: String? = nil
    ) -> [String: String]? {
        let end = ContinuousClock.now + .seconds(seconds)
        var visitors: [RedirectVisitor] = []
        defer { for visitor in visitors { visitor.dismiss(.unexpected) } }
        while true {
            let now = ContinuousClock.now
            if now >= end { return nil }
            for visitor in visitors where visitor.end <= now { visitor.dismiss(.tooSlow) }
            visitors.removeAll { $0.end <= now }
            let ready = poll(visitors, until: visitors.reduce(end) { min($0, $1.end) })
            var waiting: [RedirectVisitor] = []
            var found: [String: String]?
            for var visitor in visitors {
                guard ready.contains(visitor.descriptor), let line = visitor.read() else {
                    waiting.append(visitor)
                    continue
                }
                let values = Self.values(of: line)
                let isAnswer = values["state"] == state
                if isAnswer { found = values }
                visitor.dismiss(!isAnswer ? .unexpected : values["error"] == nil ? .allowed(then: page) : .refused)
            }
            visitors = waiting
            if let found { return found }
            if ready.contains(descriptor) { admit(&visitors, patience) }
        }
    }

    /// The sockets with input, the listening one among them; empty after a timeout.
    private func poll(_ visitors: [RedirectVisitor], until end: ContinuousClock.Instant) -> Set<Int32> {
        var polled = ([descriptor] + visitors.map(\.descriptor)).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        let milliseconds = max(0, (end - ContinuousClock.now) / .milliseconds(1)).rounded(.up)
        guard unsafe Glibc.poll(&polled, nfds_t(polled.count), Int32(min(milliseconds, 60_000))) > 0 else { return [] }
        return Set(polled.filter { $0.revents != 0 }.map(\.fd))
    }

    private func admit(_ visitors: inout [RedirectVisitor], _ patience: Duration) {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        if visitors.count >= Self.mostVisitors { visitors.removeFirst().dismiss(.tooMany) }
        visitors.append(RedirectVisitor(connection, until: .now + patience))
    }

    /// The query parameters of a request's first line.
    static func values(of line: String) -> [String: String] {
        let words = line.split(separator: " ")
        guard words.count >= 2, words[0] == "GET", let mark = words[1].firstIndex(of: "?") else { return [:] }
        var values: [String: String] = [:]
        for pair in words[1][mark...].dropFirst().split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1)
            guard halves.count == 2 else { continue }
            values[String(halves[0])] = decoded(halves[1])
        }
        return values
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(rest.prefix(2)) ?? "", radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
