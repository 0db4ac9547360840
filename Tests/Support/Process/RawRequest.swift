/// HTTP requests as bytes, for loads that send the same ones over and over.
public enum RawRequest {
    /// The type of a form's body.
    public static let formType = "application/x-www-form-urlencoded"

    /// A request without a body; each line of `headers` ends in CRLF.
    public static func get(_ target: String, token: String?, headers: String = "") -> [UInt8] {
        Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(authorization(token))\(headers)\r\n".utf8)
    }

    /// A request with a body; each line of `headers` ends in CRLF.
    public static func send(
        _ method: String, _ target: String, token: String?, headers: String = "", body: [UInt8], type: String? = nil
    ) -> [UInt8] {
        let type = type.map { "Content-Type: \($0)\r\n" } ?? ""
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(authorization(token))\(headers)\(type)"
            + "Content-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body
    }

    private static func authorization(_ token: String?) -> String {
        token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    }
}

/// Finds a member near the start of a JSON answer without parsing the answer.
public enum JSONMember {
    /// A text without escapes.
    public static func text(_ name: String, in answer: [UInt8]) -> String? {
        let start = head(of: answer)
        return start.firstRange(of: "\"\(name)\":\"").map { String(start[$0.upperBound...].prefix { $0 != "\"" }) }
    }

    /// Whether the member is present and false.
    public static func isFalse(_ name: String, in answer: [UInt8]) -> Bool {
        head(of: answer).contains("\"\(name)\":false")
    }

    private static func head(of answer: [UInt8]) -> String { String(decoding: answer.prefix(4096), as: UTF8.self) }
}
