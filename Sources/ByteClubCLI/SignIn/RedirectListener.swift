import CLinux
import Glibc

/// Waits on loopback for the browser that a server sends back after a sign-in (RFC 8252 section 7.3).
final class RedirectListener: Sendable {
    private static let largestRequest = 16 << 10

    /// The address to be sent back to.
    let url: String
    private let descriptor: Int32

    /// Listens on a free port of 127.0.0.1.
    ///
    /// - Throws: ``FileError`` when the system allows no socket.
    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FileError(.read, "a socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                let (bound, heard) = unsafe (bind(descriptor, generic, size), listen(descriptor, 8))
                let named = unsafe getsockname(descriptor, generic, &size)
                return bound == 0 && heard == 0 && named == 0
            }
        }
        guard isBound else {
            close(descriptor)
            throw FileError(.read, "a socket on 127.0.0.1")
        }
        self.descriptor = descriptor
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"
    }

    deinit { close(descriptor) }

    /// Waits, blocking its thread, for the values that come back together with `state`; nil when nothing does in time.
    func wait(state: String, seconds: Int) -> [String: String]? {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            let left = (end - .now).components.seconds
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard left > 0 else { return nil }
            _ = unsafe poll(&waiting, 1, Int32(min(left, 60)) * 1000)
            guard waiting.revents != 0 else { continue }
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { continue }
            defer { close(connection) }
            let values = Self.values(of: Self.request(connection))
            let isAnswer = values["state"] == state
            Self.answer(connection, isAnswer)
            if isAnswer { return values }
        }
    }

    /// The values in the query of a request's first line.
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

    /// The first line of what somebody sends, who has two seconds for it.
    private static func request(_ connection: Int32) -> String {
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        unsafe setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < largestRequest, !bytes.contains(UInt8(ascii: "\n")) {
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    private static func answer(_ connection: Int32, _ isAnswer: Bool) {
        let text =
            isAnswer ? "You can close this page and go back to ByteClub." : "This is not what ByteClub waits for."
        let page = "<!doctype html><meta charset=utf-8><title>ByteClub</title><p>\(text)</p>"
        let head = """
            HTTP/1.1 \(isAnswer ? "200 OK" : "400 Bad Request")\r
            Content-Type: text/html; charset=UTF-8\r
            Content-Length: \(page.utf8.count)\r
            Connection: close\r
            \r\n
            """
        let bytes = Array((head + page).utf8)
        _ = unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
