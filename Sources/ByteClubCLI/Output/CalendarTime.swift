import ByteClubCore
import Glibc

/// A date and time of day.
struct CalendarTime: Hashable, Sendable, CustomStringConvertible {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int

    /// A moment in this machine's time zone.
    static func local(_ seconds: Int64) -> CalendarTime {
        var time = time_t(seconds)
        var parts = unsafe tm()
        _ = unsafe localtime_r(&time, &parts)
        return unsafe CalendarTime(parts)
    }

    /// The moment in Greenwich.
    static func utc(_ seconds: Int64) -> CalendarTime {
        var time = time_t(seconds)
        var parts = unsafe tm()
        _ = unsafe gmtime_r(&time, &parts)
        return unsafe CalendarTime(parts)
    }

    /// Parses `2026-11-21 02:08:59`, also with `T`, without seconds, or without the time of day.
    ///
    /// nil for anything else, and for invalid dates.
    init?(_ text: some StringProtocol) {
        let halves = text.split(omittingEmptySubsequences: false) { $0 == " " || $0 == "T" || $0 == "t" }
        let date = (halves.first ?? "").split(separator: "-", omittingEmptySubsequences: false)
        let clock = (halves.dropFirst().first ?? "00:00").split(separator: ":", omittingEmptySubsequences: false)
        guard halves.count <= 2, date.count == 3, date[0].utf8.count == 4, (2...3).contains(clock.count) else {
            return nil
        }
        var numbers: [Int] = []
        for part in date + clock {
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }),
                let number = Int(part)
            else { return nil }
            numbers.append(number)
        }
        (year, month, day, hour, minute) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
        second = numbers.count > 5 ? numbers[5] : 0
        // The calendar turns an invalid date into another one.
        if Self.utc(secondsAsUTC) != self { return nil }
    }

    /// The seconds since 1970, as a time in UTC.
    var secondsAsUTC: Int64 {
        var parts = unsafe tm()
        unsafe parts.tm_year = Int32(clamping: year - 1900)
        unsafe parts.tm_mon = Int32(clamping: month - 1)
        unsafe parts.tm_mday = Int32(clamping: day)
        unsafe parts.tm_hour = Int32(clamping: hour)
        unsafe parts.tm_min = Int32(clamping: minute)
        unsafe parts.tm_sec = Int32(clamping: second)
        return unsafe Int64(timegm(&parts))
    }

    private init(_ parts: tm) {
        year = unsafe Int(parts.tm_year) + 1900
        month = unsafe Int(parts.tm_mon) + 1
        day = unsafe Int(parts.tm_mday)
        hour = unsafe Int(parts.tm_hour)
        minute = unsafe Int(parts.tm_min)
        second = unsafe Int(parts.tm_sec)
    }

    /// `2026-11-21 02:08`.
    var description: String { "\(date) \(padded(hour, 2)):\(padded(minute, 2))" }

    /// `2026-11-21`.
    var date: String { "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))" }

    /// `2026-11-21 02:08:59`.
    var exact: String { "\(description):\(padded(second, 2))" }

    /// `02:08:59`.
    var clock: String { "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))" }

    /// `2026-11-21T02:08:59Z`, for a time in UTC.
    var rfc3339: String { "\(date)T\(clock)Z" }

    /// A file's time as `2026-11-21T02:08:59.5Z`, with as many decimals as necessary.
    static func rfc3339(_ time: FileTime) -> String {
        let whole = utc(time.date.seconds).rfc3339
        if time.fraction == 0 { return whole }
        var decimals = String(time.fraction)
        decimals = String(repeating: "0", count: 9 - decimals.utf8.count) + decimals
        while decimals.last == "0" { decimals.removeLast() }
        return "\(whole.dropLast()).\(decimals)Z"
    }

    private func padded(_ value: Int, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
