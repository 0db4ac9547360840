/// The dates of cookies, which servers write in many ways (RFC 6265 section 5.1.1).
enum CookieDate {
    /// Reads a date; nil if it has no time, day, month or year, or there is no such day.
    static func seconds(_ text: String) -> Int64? {
        var (clock, day, month, year): ([Int64]?, Int64?, Int64?, Int64?)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if clock == nil, let found = time(token) {
                clock = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = HTTPDate.month(String(decoding: token.prefix(3), as: UTF8.self)) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let clock, let day, let month, var year, clock[2] < 60 else { return nil }
        if (70...99).contains(year) { year += 1900 } else if (0...69).contains(year) { year += 2000 }
        return HTTPDate.seconds(
            year: year, month: month, day: day, hour: clock[0], minute: clock[1], second: clock[2])
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 9, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The digits a token begins with, when there are so many of them.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int64? {
        let found = token.prefix(while: isDigit)
        guard digits.contains(found.count) else { return nil }
        return Int64(Substring(found))
    }

    private static func time(_ token: Substring.UTF8View) -> [Int64]? {
        let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return nil }
        let numbers = parts.prefix(3).compactMap { number($0, digits: 1...2) }
        guard numbers.count == 3, parts.prefix(2).allSatisfy({ $0.allSatisfy(isDigit) }),
            parts.count == 3 || !parts[2].allSatisfy(isDigit)
        else { return nil }
        return numbers
    }
}
