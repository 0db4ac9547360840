import Glibc

/// A moment as a calendar and a clock on the wall show it.
struct CalendarTime: Hashable, Sendable, CustomStringConvertible {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int

    /// The moment in this machine's time zone.
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

    private init(_ parts: tm) {
        year = unsafe Int(parts.tm_year) + 1900
        month = unsafe Int(parts.tm_mon) + 1
        day = unsafe Int(parts.tm_mday)
        hour = unsafe Int(parts.tm_hour)
        minute = unsafe Int(parts.tm_min)
        second = unsafe Int(parts.tm_sec)
    }

    /// `2026-11-21 02:08`.
    var description: String {
        "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2)) \(padded(hour, 2)):\(padded(minute, 2))"
    }

    /// `02:08:59`.
    var clock: String { "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))" }

    private func padded(_ value: Int, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
