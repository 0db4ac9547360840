/// What a `Range` header asks of a content of known length (RFC 9110 section 14).
enum ByteRange: Hashable, Sendable {
    /// Everything: no header, one that is malformed, or several ranges at once.
    case whole
    /// These bytes, at least one.
    case part(Range<Int64>)
    /// Nothing that the content has.
    case unsatisfiable

    /// Reads the header's value.
    init(_ header: String?, length: Int64) {
        guard let text = header?.utf8, text.starts(with: "bytes=".utf8) else {
            self = .whole
            return
        }
        let bounds = text.dropFirst(6).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]) else {
            self = .whole
            return
        }
        switch (first, last) {
        case (nil, nil): self = .whole
        case (nil, let count?): self = Self.checked(max(0, length - count), length, length)
        case (let start?, nil): self = Self.checked(start, length, length)
        case (let start?, let end?) where end >= start:
            self = Self.checked(start, end < length ? end + 1 : length, length)
        default: self = .whole
        }
    }

    private static func checked(_ start: Int64, _ end: Int64, _ length: Int64) -> ByteRange {
        start < end && start < length ? .part(start..<end) : .unsatisfiable
    }

    /// Nil inside nil for text that is no number; a blank bound is a known absence.
    private static func number(_ text: Substring.UTF8View.SubSequence) -> Int64?? {
        if text.isEmpty { return .some(nil) }
        guard text.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return .some(Int64(Substring(text)) ?? .max)
    }
}
