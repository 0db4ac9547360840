import Glibc
import HTTPTypes

/// What tells a representation from every other one exactly enough to continue it (RFC 9110 section 13.1.5).
enum Validator: Hashable, Sendable {
    /// A strong entity tag with its quotes.
    case tag(String)
    /// A `Last-Modified` that is a strong validator, as the server wrote it.
    case date(String)

    /// How much older than `Date` a `Last-Modified` must be, in seconds, so that no second change can hide in it.
    static let leastAge: Int64 = 60
    private static let longest = 1024

    /// The strong validator of a response; nil if it has none.
    ///
    /// A weak tag rules the date out too: who has a tag must not send the date.
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

    /// Takes a strong entity tag; nil if it is weak or none.
    init?(tag: String) {
        let bytes = Array(tag.utf8)
        guard (2...Self.longest).contains(bytes.count), bytes.first == 0x22, bytes.last == 0x22 else { return nil }
        let inner = bytes.dropFirst().dropLast()
        guard inner.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }) else { return nil }
        self = .tag(tag)
    }

    /// Takes an HTTP date; nil if it is none.
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

    /// Whether a response says that it is of the same representation.
    func isRepeated(in fields: HTTPFields) -> Bool {
        switch self {
        case .tag(let tag): fields[.eTag] == tag
        case .date(let date): fields[.lastModified] == date
        }
    }

    /// Whether a response says that it is of another representation.
    func isContradicted(by fields: HTTPFields) -> Bool {
        switch self {
        case .tag(let tag): fields[.eTag].map { $0 != tag } ?? false
        case .date(let date): fields[.lastModified].map { $0 != date } ?? false
        }
    }
}
