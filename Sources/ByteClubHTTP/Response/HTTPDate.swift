/// Parsing of HTTP dates (RFC 9110 section 5.6.7), in seconds since 1970.
enum HTTPDate {
    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT` and the two obsolete forms; nil for anything else.
    ///
    /// A two-digit year is read by the current time: at most 50 years ahead.
    static func seconds(_ text: String, now: Int64) -> Int64? {
        let parts = text.split(separator: " ").map(String.init)
        switch parts.count {
        case 6 where parts[5] == "GMT" && parts[0].hasSuffix(","):
            guard let year = number(parts[3], digits: 4...4) else { return nil }
            return seconds(day: parts[1], month: parts[2], year: year, clock: parts[4])
        case 4 where parts[3] == "GMT" && parts[0].hasSuffix(","):
            let date = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            guard date.count == 3, let short = number(date[2], digits: 2...2) else { return nil }
            let present = year(of: now)
            var year = present - present % 100 + short
            if year > present + 50 { year -= 100 }
            return seconds(day: date[0], month: date[1], year: year, clock: parts[2])
        case 5:
            guard let year = number(parts[4], digits: 4...4) else { return nil }
            return seconds(day: parts[2], month: parts[1], year: year, clock: parts[3])
        default: return nil
        }
    }

    /// The month with this name of three letters, in any case, from 1.
    static func month(_ name: some StringProtocol) -> Int64? {
        months.firstIndex(of: name.lowercased()).map { Int64($0) + 1 }
    }

    /// The seconds of a date and time in UTC; nil if it does not exist.
    static func seconds(year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64) -> Int64? {
        guard (1...12).contains(month), (1601...9999).contains(year), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second), day >= 1
        else { return nil }
        let start = days(year: year, month: month)
        let next = month == 12 ? days(year: year + 1, month: 1) : days(year: year, month: month + 1)
        guard day <= next - start else { return nil }
        return (start + day - 1) * 86400 + hour * 3600 + minute * 60 + second
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func seconds(day: String, month name: String, year: Int64, clock: String) -> Int64? {
        let clock = clock.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2...2) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            let day = number(day, digits: 1...2), let month = month(name)
        else { return nil }
        return seconds(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int64? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    private static func year(of seconds: Int64) -> Int64 {
        var year = 1970 + seconds / 31_556_952
        while days(year: year, month: 1) * 86400 > seconds { year -= 1 }
        while days(year: year + 1, month: 1) * 86400 <= seconds { year += 1 }
        return year
    }

    /// Days from 1970-01-01 to a month's first in the Gregorian calendar.
    ///
    /// Years are counted from March, so that the leap day is last.
    private static func days(year: Int64, month: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
