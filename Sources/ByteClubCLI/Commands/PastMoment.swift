import ArgumentParser

/// A past moment as typed: RFC 3339, `2026-11-22 14:03` in local time, or `2h` for two hours ago.
enum PastMoment {
    /// The seconds since 1970.
    ///
    /// - Throws: A ``Failure`` with the status usage for an invalid or future time.
    static func read(_ text: String, in context: Context) throws -> Int64 {
        let now = context.now()
        let seconds = try any(text, now: now, context.calendar)
        if seconds > now { throw Failure(.usage, "'\(text)' is in the future") }
        return seconds
    }

    /// Reads any time, past or future; one without a zone is local.
    ///
    /// - Throws: A ``Failure`` with the status usage for an invalid time.
    static func any(_ text: String, now: Int64, _ calendar: (Int64) -> CalendarTime) throws -> Int64 {
        guard let seconds = ago(text).map({ now - $0 }) ?? absolute(text, calendar) else {
            throw Failure(
                .usage, "'\(Failure.line(text))' is not a time; write '2026-11-22 14:03', 2026-11-22T14:03:00Z or 2h")
        }
        return seconds
    }

    private static func ago(_ text: String) -> Int64? {
        let span = text.hasSuffix(" ago") ? text.dropLast(4) : text[...]
        return TimeSpan(argument: String(span)).map(\.seconds)
    }

    private static func absolute(_ text: String, _ calendar: (Int64) -> CalendarTime) -> Int64? {
        if text.last == "Z" || text.last == "z" { return CalendarTime(text.dropLast())?.secondsAsUTC }
        // An offset such as `+02:00`; the date itself contains dashes.
        let zone = text.suffix(6)
        if text.utf8.count > 16, let sign = zone.first, sign == "+" || sign == "-" {
            let parts = zone.dropFirst().split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) ?? -1 }
            guard parts.count == 2, (0...23).contains(parts[0]), (0...59).contains(parts[1]) else { return nil }
            let offset = (parts[0] * 60 + parts[1]) * (sign == "-" ? -60 : 60)
            return CalendarTime(text.dropLast(6)).map { $0.secondsAsUTC - offset }
        }
        guard let wanted = CalendarTime(text)?.secondsAsUTC else { return nil }
        // The zone's offset depends on the result itself, so approach it in steps.
        var seconds = wanted
        for _ in 0..<3 { seconds += wanted - calendar(seconds).secondsAsUTC }
        return seconds
    }
}

/// A duration as typed: `90s`, `45m`, `2h`, `1h30m`, `1d`, `2w`.
struct TimeSpan: Hashable, Sendable {
    /// Whole seconds, 1 to a year's.
    let seconds: Int64

    /// Parses a duration; nil for an invalid one.
    init?(argument text: String) {
        var (sum, rest) = (Int64(0), text.utf8[...])
        while !rest.isEmpty {
            let digits = rest.prefix { (48...57).contains($0) }
            rest = rest.dropFirst(digits.count)
            guard digits.count <= 9, let number = Int64(String(Substring(digits))), let unit = rest.popFirst(),
                let scale = Self.scales[unit]
            else { return nil }
            sum += number * scale
        }
        guard (1...366 * 86_400).contains(sum) else { return nil }
        seconds = sum
    }

    /// Reads the value of an option.
    ///
    /// - Throws: `ValidationError` that describes the format.
    static func read(_ text: String) throws -> TimeSpan {
        guard let span = TimeSpan(argument: text) else {
            throw ValidationError("write a time of at most a year, as in 90s, 45m, 2h, 1h30m, 3d or 2w")
        }
        return span
    }

    private static let scales: [UInt8: Int64] = [
        UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3_600, UInt8(ascii: "d"): 86_400,
        UInt8(ascii: "w"): 604_800,
    ]
}
