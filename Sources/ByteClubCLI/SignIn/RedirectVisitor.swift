import Glibc

/// A client of a ``RedirectListener``: the browser, or any other program on this machine.
///
/// Its calls never block.
struct RedirectVisitor {
    /// The response before the connection is closed.
    enum Farewell {
        /// Permission was granted; redirects to a page, if there is one.
        case allowed(then: String?)
        case refused, unexpected, tooSlow, tooMany

        fileprivate var response: (status: String, title: String, text: String) {
            let wrong = "Something went wrong"
            return switch self {
            case .allowed(let page):
                (
                    page.map { "303 See Other\r\nLocation: \($0)" } ?? "200 OK", "You are signed in",
                    "You can close this page and return to ByteClub."
                )
            case .refused: ("200 OK", "Access was refused", "No new access was granted. You can close this page.")
            case .unexpected: ("400 Bad Request", wrong, "ByteClub did not expect this request.")
            case .tooSlow: ("408 Request Timeout", wrong, "The request took too long.")
            case .tooMany: ("503 Service Unavailable", wrong, "Too many requests at once.")
            }
        }
    }

    private static let largestRequest = 16 << 10

    /// As the server's pages look.
    private static let style = """
        :root{color-scheme:light dark}body{font:17px/1.5 system-ui,sans-serif;max-width:42rem;margin:2rem auto;\
        padding:0 1.2rem}h1{line-height:1.2}
        """

    /// The connected socket.
    let descriptor: Int32
    /// The deadline of the request.
    let end: ContinuousClock.Instant
    private var bytes: [UInt8] = []

    init(_ descriptor: Int32, until end: ContinuousClock.Instant) {
        self.descriptor = descriptor
        self.end = end
    }

    /// Reads available bytes, and returns the request's first line once it is complete or can no longer be.
    mutating func read() -> String? {
        var buffer = [UInt8](repeating: 0, count: Self.largestRequest)
        let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        bytes += buffer.prefix(max(0, count))
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let isWhole = line.count < bytes.count || count <= 0 || bytes.count >= Self.largestRequest
        return isWhole ? String(decoding: line, as: UTF8.self) : nil
    }

    /// Responds and closes the connection.
    func dismiss(_ farewell: Farewell) {
        let (status, title, text) = farewell.response
        let page = """
            <!doctype html><html lang=en><meta charset=utf-8>\
            <meta name=viewport content="width=device-width,initial-scale=1"><title>\(title)</title>\
            <style>\(Self.style)</style><h1>\(title)</h1><p>\(text)</p>
            """
        let head = """
            HTTP/1.1 \(status)\r
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
