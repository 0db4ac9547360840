import ByteClubCore

/// The target of a request line: the decoded components of its path, and its query.
///
/// Repeated slashes and one at the end do not count; `%2F` is a slash, because some v1 clients encode the whole path.
struct RequestTarget: Sendable {
    /// The most bytes that a target may have.
    static let maximumBytes = 16 << 10

    /// The path's components, decoded; dots are ordinary components here and refused later.
    let components: [String]
    /// The path as it was sent.
    let path: Substring
    /// The query after the question mark, still encoded.
    let query: Substring

    /// Reads a target in origin or absolute form.
    ///
    /// - Throws: ``APIError`` 400 when it is too long, malformed, or no UTF-8 once decoded.
    init(_ text: String) throws(APIError) {
        if text.utf8.count > Self.maximumBytes { throw APIError(400, "the URL is too long") }
        var rest = Self.afterOrigin(text)
        if let question = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[rest.utf8.index(after: question)...]
            rest = rest[..<question]
        } else {
            query = ""
        }
        path = rest
        guard let decoded = PercentEncoding.decode(rest, plusIsBlank: false), !decoded.utf8.contains(0) else {
            throw APIError(400, "the URL's path is not percent-encoded UTF-8")
        }
        components = Self.components(of: decoded)
    }

    private static func components(of decoded: String) -> [String] {
        decoded.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    private static let secretLength = 32

    /// The loggable form, as ``loggable(_:)``.
    var loggable: String { Self.loggable(path, components) }

    /// The loggable form of a target: its path as it was sent, printable, without the query and without secrets.
    ///
    /// The secret after one of ``secretPlaces`` is left out with everything that follows, and anywhere else a run of 32
    /// hexadecimal digits or more becomes `_`. A target that cannot be decoded is not shown at all, because it may
    /// contain a secret in any form.
    static func loggable(_ text: String) -> String {
        let path = Self.path(of: text)
        guard let decoded = PercentEncoding.decode(path, plusIsBlank: false) else { return "(undecodable)" }
        return loggable(path, components(of: decoded))
    }

    private static func loggable(_ path: Substring, _ components: [String]) -> String {
        if let place = secretPlaces.first(where: { components.count > $0.count && components.starts(with: $0) }) {
            return "/" + place.joined(separator: "/") + "/_"
        }
        var shown: [UInt8] = []
        var digits = 0
        for byte in path.utf8.prefix(1024) {
            digits = Hexadecimal.isDigit(byte) ? digits + 1 : 0
            if digits == secretLength {
                shown.removeLast(secretLength - 1)
                shown.append(UInt8(ascii: "_"))
            } else if digits < secretLength {
                shown.append(byte > 0x20 && byte < 0x7F ? byte : UInt8(ascii: "_"))
            }
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// The paths that a secret follows: those of endpoints with ``Endpoint/hidesTail``, and `/join`.
    static let secretPlaces =
        Endpoint.all.filter(\.hidesTail).flatMap(\.addresses).map { $0.split(separator: "/").map(String.init) }
        + [["join"]]

    /// A target's path as it was sent, without scheme, host and query.
    static func path(of text: String) -> Substring {
        let rest = afterOrigin(text)
        return rest.utf8.firstIndex(of: UInt8(ascii: "?")).map { rest[..<$0] } ?? rest
    }

    private static func afterOrigin(_ text: String) -> Substring {
        guard text.utf8.first != UInt8(ascii: "/") else { return text[...] }
        for scheme in ["http://", "https://"] where text.utf8.starts(with: scheme.utf8) {
            let rest = text.dropFirst(scheme.count)
            return rest.utf8.firstIndex(of: UInt8(ascii: "/")).map { rest[$0...] } ?? ""
        }
        return text[...]
    }
}

/// Percent-encoding as URLs and forms have it (RFC 3986 section 2.1).
enum PercentEncoding {
    /// Decodes a text; nil when an escape is malformed or the result is no UTF-8.
    ///
    /// With `plusIsBlank`, as queries and forms have it, `+` means a blank.
    static func decode(_ text: some StringProtocol, plusIsBlank: Bool) -> String? {
        decode(text.utf8, plusIsBlank: plusIsBlank)
    }

    /// Decodes bytes; nil when an escape is malformed or the result is no UTF-8.
    static func decode(_ text: some Sequence<UInt8>, plusIsBlank: Bool) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.underestimatedCount)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(Hexadecimal.value),
                    let low = rest.next().flatMap(Hexadecimal.value)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Encodes all but RFC 3986's unreserved characters.
    static func encode(_ text: String) -> String { text.percentEncoded }

    /// Encodes values as a query or a form.
    static func form(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { "\($0.name)=\(encode($0.value))" }.joined(separator: "&")
    }
}
