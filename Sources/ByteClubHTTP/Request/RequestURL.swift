public import HTTPTypes

/// A checked http or https address, ready to be sent.
///
/// It contains no unprintable characters, user name or fragment, so that libcurl cannot parse it differently than this
/// code does (RFC 3986).
struct RequestURL: Hashable, Sendable {
    let origin: Origin
    /// Path and query, sent as they are; starts with a slash.
    let target: String
    /// The whole address.
    let text: String

    /// The address without its query, for messages and logs.
    var redacted: String {
        guard let query = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return text }
        return origin.text + target[..<query] + "?…"
    }

    init(origin: Origin, target: String) {
        self.origin = origin
        self.target = target
        var text = origin.text
        text += target
        self.text = text
    }

    static func == (left: RequestURL, right: RequestURL) -> Bool { left.text == right.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Checks the address of a request.
    init(_ request: HTTPRequest) throws(TransferError) {
        guard let name = request.scheme,
            let scheme = Origin.Scheme(rawValue: name) ?? Origin.Scheme(rawValue: name.lowercased())
        else {
            throw .badAddress("the address needs the scheme http or https")
        }
        guard let authority = request.authority, let origin = Origin(scheme: scheme, authority: authority) else {
            throw .badAddress("the address needs a plain host, with a port or without")
        }
        guard let path = request.path, path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy(Self.isPlain) else {
            throw .badAddress("the path must begin with a slash and be percent-encoded")
        }
        self.init(origin: origin, target: path)
    }

    /// Printable ASCII without blank and number sign, which cannot be part of a path or query.
    static func isPlain(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#") }
}

extension Origin {
    /// Parses `host`, `host:port`, `[v6]` or `[v6]:port`; nil for anything else.
    init?(scheme: Scheme, authority: String) {
        let bytes = Array(authority.utf8)
        var end = bytes.count
        var port = scheme.defaultPort
        let colon = bytes.lastIndex(of: UInt8(ascii: ":"))
        if let colon, !(bytes.last == UInt8(ascii: "]")) {
            let digits = bytes[(colon + 1)...]
            guard !digits.isEmpty, digits.count <= 5, digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(String(decoding: digits, as: UTF8.self)), (1...65535).contains(number)
            else { return nil }
            port = number
            end = colon
        }
        let host = bytes[..<end]
        guard host.count <= 255, Origin.isHost(host) else { return nil }
        self.init(scheme: scheme, host: String(decoding: host, as: UTF8.self).lowercased(), port: port)
    }

    private static func isHost(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first else { return false }
        if first == UInt8(ascii: "[") {
            guard bytes.count > 2, bytes.last == UInt8(ascii: "]") else { return false }
            return bytes.dropFirst().dropLast().allSatisfy {
                $0.isAlphanumeric || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
        }
        return first.isAlphanumeric && bytes.allSatisfy { $0.isAlphanumeric || "-._".utf8.contains($0) }
    }
}

extension UInt8 {
    /// Whether it is an ASCII digit or letter.
    var isAlphanumeric: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

extension String {
    /// Percent-decodes a text (RFC 3986 section 2.1); nil if the result is not UTF-8 or contains control characters.
    init?(percentDecoding text: some StringProtocol) {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        self.init(validating: bytes, as: UTF8.self)
    }
}

extension UInt64 {
    /// All 16 hexadecimal digits, in lower case.
    var digits: String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}

extension TransferError {
    static func badAddress(_ message: String) -> TransferError { TransferError(.badRequest, message) }
}

/// A scheme, host and port: the scope of credentials and connections.
struct Origin: Hashable, Sendable {
    enum Scheme: String, Sendable {
        case http, https

        var defaultPort: Int { self == .https ? 443 : 80 }
    }

    var scheme: Scheme
    /// Lower case; IPv6 addresses keep their brackets.
    var host: String
    var port: Int

    /// Host and port; the scheme's default port is omitted.
    var authority: String { port == scheme.defaultPort ? host : host + ":" + String(port) }

    /// The origin as the start of a URL.
    var text: String {
        var text = scheme == .https ? "https://" : "http://"
        text += host
        if port != scheme.defaultPort { text += ":\(port)" }
        return text
    }

    /// Whether the host's name refers to this machine.
    var isLoopback: Bool { host == "localhost" || host == "[::1]" || host.hasPrefix("127.") }
}

extension HTTPRequest {
    /// Creates a request from a URL as people write it, such as `https://club.example/notes?limit=10`.
    ///
    /// Spaces and non-ASCII characters in path and query are percent-encoded, and a fragment is dropped, as in browsers
    /// (RFC 3986).
    ///
    /// - Parameters:
    ///   - method: The method; GET by default.
    ///   - address: An absolute http or https address without a user's name.
    ///   - fields: The request's own fields.
    /// - Throws: ``TransferError/Code/badRequest`` if the address is invalid, with the reason.
    public init(_ method: Method = .get, url address: String, fields: HTTPFields = [:]) throws(TransferError) {
        let url = try RequestURL(address: address)
        self.init(
            method: method, scheme: url.origin.scheme.rawValue, authority: url.origin.authority, path: url.target,
            headerFields: fields)
    }
}
