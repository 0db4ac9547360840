import HTTPTypes

/// A checked http or https address, ready to be sent.
///
/// Nothing unprintable, no user name and no fragment gets in, so that libcurl cannot read the text in another way
/// than we do (RFC 3986).
struct RequestURL: Hashable, Sendable {
    var origin: Origin
    /// Path and query, sent exactly so; begins with a slash.
    var target: String

    var text: String { origin.text + target }

    /// The address without its query, for messages and logs.
    var redacted: String {
        guard let query = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return text }
        return origin.text + target[..<query] + "?…"
    }

    init(origin: Origin, target: String) {
        self.origin = origin
        self.target = target
    }

    /// Checks and takes the address of a request.
    init(_ request: HTTPRequest) throws(TransferError) {
        guard let name = request.scheme?.lowercased(), let scheme = Origin.Scheme(rawValue: name) else {
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
    /// Takes `host`, `host:port`, `[v6]` or `[v6]:port`; nil if it is anything else.
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
                isDigitOrLetter($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
        }
        return isDigitOrLetter(first)
            && bytes.allSatisfy {
                isDigitOrLetter($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
            }
    }

    private static func isDigitOrLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

extension TransferError {
    static func badAddress(_ message: String) -> TransferError { TransferError(.badRequest, message) }
}
