/// The value of a `Retry-After` field (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// How long to wait.
    ///
    /// - Parameters:
    ///   - value: Seconds, or a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///   - now: The present in seconds since 1970.
    /// - Returns: Nil if the value is neither.
    static func delay(_ value: String, now: Int64) -> Duration? {
        let text = value.utf8.drop { $0 == 0x20 }
        if let seconds = Int64(String(decoding: text, as: UTF8.self)) {
            return seconds >= 0 ? .seconds(min(seconds, 1 << 32)) : nil
        }
        guard let date = seconds(ofDate: value) else { return nil }
        return .seconds(min(max(date - now, 0), 1 << 32))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func seconds(ofDate text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
            (1970...9999).contains(year)
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard clock.count == 3, (0..<24).contains(clock[0]), (0..<60).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        return days(year: year, month: Int64(month) + 1, day: day) * 86400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    }

    /// Days since 1970-01-01 in the Gregorian calendar, counting years from March so that the leap day is last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
