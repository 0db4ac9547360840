import CLinux
import Glibc

/// The wall clock, for timestamps and for detecting racy stats; it never decides an order (invariant I11).
enum WallClock {
    /// Nanoseconds since 1970.
    static func now() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The day of the week, 0 being Monday, and the minute of the day, in this machine's time zone.
    static func localTime(_ nanoseconds: Int64) -> (weekday: Int, minute: Int) {
        var seconds = time_t(nanoseconds / 1_000_000_000)
        var parts = unsafe tm()
        tzset()
        _ = unsafe localtime_r(&seconds, &parts)
        return unsafe ((Int(parts.tm_wday) + 6) % 7, Int(parts.tm_hour) * 60 + Int(parts.tm_min))
    }

    /// How many seconds this machine's time zone is ahead of Greenwich at a time in seconds since 1970.
    static func offset(_ seconds: Int64) -> Int64 {
        var seconds = time_t(seconds)
        var parts = unsafe tm()
        tzset()
        _ = unsafe localtime_r(&seconds, &parts)
        return unsafe Int64(parts.tm_gmtoff)
    }

    /// The day as `2026-08-01`.
    static func day(_ nanoseconds: Int64) -> String {
        var seconds = time_t(nanoseconds / 1_000_000_000)
        var parts = unsafe tm()
        _ = unsafe gmtime_r(&seconds, &parts)
        let two = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
        return unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    }
}
