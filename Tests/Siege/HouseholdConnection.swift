import TestSupport

/// A connection from an address of its own that carries one request after another.
///
/// Its calls block.
final class HouseholdConnection {
    private let connection: RawConnection

    /// Connects; nil when the server does not accept.
    init?(port: UInt16, from source: LoopbackAddress) {
        guard let connection = RawConnection(port: port, from: source, timeout: 30) else { return nil }
        self.connection = connection
    }

    /// Sends a request and reads its whole answer; nil when the connection ended first, or nothing came for 30 seconds.
    func exchange(_ request: [UInt8]) -> RawMessage? {
        guard connection.send(request) else { return nil }
        var bytes = connection.receive()
        while !bytes.isEmpty {
            if let head = RawMessage(bytes) {
                let length = head.status == 304 ? 0 : head["Content-Length"].flatMap { Int($0) } ?? 0
                let total = bytes.count - head.body.count + length
                bytes.reserveCapacity(total)
                while bytes.count < total {
                    let more = connection.receive()
                    if more.isEmpty { return nil }
                    bytes += more
                }
                return RawMessage(bytes)
            }
            let more = connection.receive()
            if more.isEmpty { return nil }
            bytes += more
        }
        return nil
    }
}

/// A browser's state for the sign-in page: cookies, and the form's hidden values.
struct SignInForm: Sendable {
    private var cookies: [String: String] = [:]
    private var token = ""

    /// A browser that was never here.
    init() {}

    /// Updates the state from the page, or from the answer to its form.
    mutating func take(_ answer: RawMessage) {
        for field in answer.fields where field.name.lowercased() == "set-cookie" {
            let pair = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { cookies[pair[0]] = pair[1] }
        }
        let text = answer.text
        if let start = text.firstRange(of: "name=\"csrf\" value=\"") {
            token = String(text[start.upperBound...].prefix { $0 != "\"" })
        }
    }

    /// Asks for the page.
    var page: [UInt8] { RawRequest.get("/login", token: nil, headers: cookieField) }

    /// Submits the form; with `isLast` the connection closes after it.
    func signIn(_ name: String, password: String, isLast: Bool = false) -> [UInt8] {
        let text = "csrf=\(token)&next=/&name=\(name)&password=\(password)".replacing(" ", with: "+")
        let fields = cookieField + (isLast ? "Connection: close\r\n" : "")
        return RawRequest.send(
            "POST", "/login", token: nil, headers: fields, body: Array(text.utf8), type: RawRequest.formType)
    }

    private var cookieField: String {
        let pairs = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return pairs.isEmpty ? "" : "Cookie: \(pairs.joined(separator: "; "))\r\n"
    }
}
