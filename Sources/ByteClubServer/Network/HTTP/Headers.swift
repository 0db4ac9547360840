import ByteClubCore
import HTTPTypes
import Synchronization

/// The host of a URL, with or without its port, as in the header `Host`.
enum HostName {
    private static let maximumBytes = 255

    /// Whether a text is a name, an IPv4 address or an IPv6 address in brackets, and after a colon a port or nothing;
    /// RFC 9110, 7.2.
    ///
    /// Of the characters of names in RFC 3986 it accepts those that names of machines have.
    static func isValid(_ text: some StringProtocol) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count <= maximumBytes else { return false }
        let end = bytes.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? bytes.firstIndex(of: UInt8(ascii: ":"))
        let (host, port) = (bytes[..<(end ?? bytes.count)], bytes[(end ?? bytes.count)...])
        return isHost(host) && isPort(port)
    }

    private static func isHost(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: "[") else {
            return !bytes.isEmpty && bytes.allSatisfy(\.isUnreserved)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes.last == UInt8(ascii: "]") && text.contains(":") && IPAddress(text) != nil
    }

    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: ":") else { return bytes.isEmpty }
        let digits = bytes.dropFirst()
        return digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && (digits.isEmpty || UInt16(String(decoding: digits, as: UTF8.self)) != nil)
    }
}

/// The elements of a header's value that is a list (RFC 9110, 5.6.1), without the blanks around them and without empty
/// ones.
enum HeaderList {
    /// Splits a list without quotes.
    static func plain(_ value: String) -> [Substring] {
        value.utf8.split(separator: UInt8(ascii: ",")).map { trimmed(Substring($0)) }.filter { !$0.isEmpty }
    }

    /// Splits a list whose elements may hold commas in quotes.
    ///
    /// It is parsed from its end, to which each proxy appends: so an unbalanced quotation mark of an earlier one cannot
    /// hide the elements of later ones.
    static func quoted(_ value: String) -> [Substring] {
        var elements: [Substring] = []
        var end = value.utf8.endIndex
        var index = end
        var isQuoted = false
        while index > value.utf8.startIndex {
            index = value.utf8.index(before: index)
            let byte = value.utf8[index]
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard byte == UInt8(ascii: ","), !isQuoted else { continue }
            elements.append(trimmed(value[value.utf8.index(after: index)..<end]))
            end = index
        }
        elements.append(trimmed(value[..<end]))
        return elements.reversed().filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let start = text.utf8.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }
        return end.map { Substring(start[...$0]) } ?? ""
    }
}

/// The `; name=value` parameters of a header's value (RFC 9110 section 5.6.6), values quoted or not.
struct HeaderParameters {
    private var values: [String: String] = [:]

    /// Reads the parameters after the first semicolon; malformed ones are left out.
    init(_ header: some StringProtocol) {
        var name = ""
        var value = ""
        var (isValue, isQuoted, isEscaped, isFirst) = (false, false, false, true)
        for character in String(header) + ";" {
            if isQuoted {
                if isEscaped || (character != "\\" && character != "\"") {
                    value.append(character)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else {
                    isQuoted = false
                }
            } else if character == ";" {
                if !isFirst, isValue, values[name] == nil { values[name] = value }
                (name, value, isValue, isFirst) = ("", "", false, false)
            } else if character == "=", !isValue {
                isValue = true
            } else if character == "\"", isValue {
                isQuoted = true
            } else if character != " ", character != "\t" {
                if isValue { value.append(character) } else { name += character.lowercased() }
            }
        }
    }

    /// A parameter's value; names are in lower case.
    subscript(_ name: String) -> String? { values[name] }
}

/// Lets web pages of any origin use the API (CORS).
///
/// A page can do no more than the token it has allows: cookies are never accepted there.
enum CrossOrigin {
    private static let methods = "GET, HEAD, POST, PUT, OPTIONS"
    private static let requestHeaders = "Authorization, Content-Type, If-None-Match, If-Range, Range"
    private static let responseHeaders =
        "Accept-Ranges, Content-Range, ETag, Retry-After, X-Dropbox-Metadata, X-Dropbox-Request-Id"

    /// The answer to a browser that asks whether a page may make a call; nil for any other request.
    static func preflight(_ request: Request) -> Response? {
        guard request.method == .options, request.isForPrograms, request.headers[.origin] != nil,
            request.headers[.accessControlRequestMethod] != nil
        else { return nil }
        let headers: HTTPFields = [
            .accessControlAllowMethods: methods, .accessControlAllowHeaders: requestHeaders,
            .accessControlMaxAge: "86400",
        ]
        return Response(.noContent, headers: headers, body: .none)
    }

    /// Lets the page that made a call read the answer.
    static func allow(_ request: Request, in headers: inout HTTPFields) {
        guard request.isForPrograms, request.headers[.origin] != nil else { return }
        headers[.accessControlAllowOrigin] = "*"
        headers[.accessControlExposeHeaders] = responseHeaders
    }
}

/// The value of the `Date` header, made once a second.
final class DateHeader: Sendable {
    private let cached = Mutex((seconds: Int64(-1), text: ""))

    /// The text for a moment, as in `Sun, 06 Nov 1994 08:49:37 GMT`.
    func text(at seconds: Int64) -> String {
        cached.withLock { cached in
            if cached.seconds != seconds {
                cached = (seconds, APIDate(seconds: seconds).description.dropLast(5) + "GMT")
            }
            return cached.text
        }
    }
}

extension HTTPFields {
    /// Makes browsers return over TLS only (RFC 6797), so that an attacker on the path cannot keep a later visit on plain
    /// HTTP: for a year, for this host and not for others below it.
    mutating func requireTLS() { self[.strictTransportSecurity] = "max-age=31536000" }
}
