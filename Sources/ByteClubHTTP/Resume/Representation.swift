import Glibc
import HTTPTypes

/// The representation that a download's temporary file is part of, as its first response described it.
struct Representation: Hashable, Sendable {
    /// The length of the whole, if it was declared.
    var total: Int64?
    /// The validator for `If-Range`; nil if the download cannot be resumed.
    var validator: Validator?
    /// The response's fields.
    var fields: HTTPFields
}

extension Representation {
    /// Reads a response whose body starts at the first byte.
    init(_ response: HTTPResponse) {
        fields = response.headerFields
        let isOpaque = Self.isEncoded(fields) || Self.refusesRanges(fields)
        switch response.status.code {
        case 206:
            guard case .part(_, let total)? = fields[.contentRange].flatMap({ ContentRange($0) }) else { return }
            self.total = total
        default:
            if !fields.contains(.transferEncoding) {
                total = fields[.contentLength].flatMap { ContentRange.number($0) }
            }
            guard response.status.code == 200 else { return }
        }
        validator = isOpaque ? nil : Validator(fields)
    }

    /// The response as if the whole had arrived in one piece (RFC 9110 section 15.3.7.3).
    ///
    /// Fields of the last part's response replace older ones.
    func whole(_ last: HTTPResponse) -> HTTPResponse {
        var fields = fields
        if last.status.code == 206 {
            for field in last.headerFields { fields[values: field.name] = last.headerFields[values: field.name] }
        }
        fields[.contentRange] = nil
        if let total { fields[.contentLength] = String(total) }
        return HTTPResponse(status: .ok, headerFields: fields)
    }

    /// Whether the body is encoded, so that its bytes are not the representation's.
    static func isEncoded(_ fields: HTTPFields) -> Bool {
        fields[.contentEncoding].map { !$0.isEmpty && $0.lowercased() != "identity" } ?? false
    }

    private static func refusesRanges(_ fields: HTTPFields) -> Bool {
        fields[.acceptRanges]?.lowercased() == "none"
    }
}

/// A validator that identifies a representation exactly enough to resume it (RFC 9110 section 13.1.5).
enum Validator: Hashable, Sendable {
    /// A strong entity tag with its quotes.
    case tag(String)
    /// A `Last-Modified` that is a strong validator, as the server wrote it.
    case date(String)

    /// The number of seconds by which a `Last-Modified` must precede `Date`, so that it cannot hide a second change.
    static let leastAge: Int64 = 60
    private static let longest = 1024

    /// The strong validator of a response; nil if it has none.
    ///
    /// A weak tag excludes the date as well: a client with a tag must not send the date.
    init?(_ fields: HTTPFields) {
        if let tag = fields[.eTag] {
            self.init(tag: tag)
            return
        }
        guard let modified = fields[.lastModified], let date = fields[.date],
            let modifiedAt = HTTPDate.seconds(modified, now: Int64(time(nil))),
            let sentAt = HTTPDate.seconds(date, now: Int64(time(nil))),
            sentAt >= modifiedAt + Self.leastAge
        else { return nil }
        self.init(date: modified)
    }

    /// Checks a strong entity tag; nil if it is weak or invalid.
    init?(tag: String) {
        let bytes = Array(tag.utf8)
        guard (2...Self.longest).contains(bytes.count), bytes.first == 0x22, bytes.last == 0x22 else { return nil }
        let inner = bytes.dropFirst().dropLast()
        guard inner.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }) else { return nil }
        self = .tag(tag)
    }

    /// Checks an HTTP date; nil if it is invalid.
    init?(date: String) {
        guard date.utf8.count <= 64, HTTPDate.seconds(date, now: Int64(time(nil))) != nil,
            date.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { return nil }
        self = .date(date)
    }

    /// The value of `If-Range`.
    var text: String {
        switch self {
        case .tag(let text), .date(let text): text
        }
    }

    /// Whether a response confirms this validator.
    func isRepeated(in fields: HTTPFields) -> Bool {
        switch self {
        case .tag(let tag): fields[.eTag] == tag
        case .date(let date): fields[.lastModified] == date
        }
    }

    /// Whether a response has a different validator.
    func isContradicted(by fields: HTTPFields) -> Bool {
        switch self {
        case .tag(let tag): fields[.eTag].map { $0 != tag } ?? false
        case .date(let date): fields[.lastModified].map { $0 != date } ?? false
        }
    }
}
