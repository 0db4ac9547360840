/// The value of a `Content-Range` field in bytes (RFC 9110 section 14.4).
enum ContentRange: Hashable, Sendable {
    /// These bytes, of this many when that is known.
    case part(ClosedRange<Int64>, total: Int64?)
    /// None: there are only this many.
    case unsatisfied(total: Int64)

    /// Nil if the value is anything else, or contradicts itself.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let sides = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let total = Self.number(sides[1])
        if sides[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, total != nil || sides[1] == "*", let first = Self.number(ends[0]),
            let last = Self.number(ends[1]), first <= last, last < total ?? .max
        else { return nil }
        self = .part(first...last, total: total)
    }

    /// A number of bytes in decimal digits alone.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
