import Glibc

/// Somebody who has connected to a ``RedirectListener``: the browser, or any other program of this machine.
///
/// No call of it waits.
struct RedirectVisitor {
    /// What somebody is told before the connection is closed.
    enum Farewell: String {
        case expected = "200 OK"
        case unexpected = "400 Bad Request"
        case tooSlow = "408 Request Timeout"
        case tooMany = "503 Service Unavailable"

        fileprivate var text: String {
            switch self {
            case .expected: "You can close this page and go back to ByteClub."
            case .unexpected: "This is not what ByteClub waits for."
            case .tooSlow: "The request took too long."
            case .tooMany: "Too many programs ask at once."
            }
        }
    }

    private static let largestRequest = 16 << 10

    /// The connected socket.
    let descriptor: Int32
    /// When the request must be there.
    let end: ContinuousClock.Instant
    private var bytes: [UInt8] = []

    init(_ descriptor: Int32, until end: ContinuousClock.Instant) {
        self.descriptor = descriptor
        self.end = end
    }

    /// Takes what has come, and gives the request's first line once there is one or nothing more can make it one.
    mutating func read() -> String? {
        var buffer = [UInt8](repeating: 0, count: Self.largestRequest)
        let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        bytes += buffer.prefix(max(0, count))
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let isWhole = line.count < bytes.count || count <= 0 || bytes.count >= Self.largestRequest
        return isWhole ? String(decoding: line, as: UTF8.self) : nil
    }

    /// Says goodbye and closes the connection.
    func dismiss(_ farewell: Farewell) {
        let page = "<!doctype html><meta charset=utf-8><title>ByteClub</title><p>\(farewell.text)</p>"
        let head = """
            HTTP/1.1 \(farewell.rawValue)\r
            Content-Type: text/html; charset=UTF-8\r
            Content-Length: \(page.utf8.count)\r
            Connection: close\r
            \r\n
            """
        let bytes = Array((head + page).utf8)
        _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        close(descriptor)
    }
}
