/// A moment that has been, as people type it: RFC 3339, `2026-11-22 14:03` on the local clock, or `2h` for so long ago.
enum PastMoment {
    /// The seconds since 1970.
    ///
    /// - Throws: A ``Failure`` with the status usage when the text is none, or has not been yet.
    static func read(_ text: String, in context: Context) throws -> Int64 {
        let now = context.now()
        let seconds = try any(text, now: now, context.calendar)
        if seconds > now { throw Failure(.usage, "'\(text)' is in the future") }
        return seconds
    }

    /// The same of any moment, with the clock that is meant where none is told.
    ///
    /// - Throws: A ``Failure`` with the status usage when the text is none.
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
        // `+02:00` after a clock; the date has dashes of its own.
        let zone = text.suffix(6)
        if text.utf8.count > 16, let sign = zone.first, sign == "+" || sign == "-" {
            let parts = zone.dropFirst().split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) ?? -1 }
            guard parts.count == 2, (0...23).contains(parts[0]), (0...59).contains(parts[1]) else { return nil }
            let offset = (parts[0] * 60 + parts[1]) * (sign == "-" ? -60 : 60)
            return CalendarTime(text.dropLast(6)).map { $0.secondsAsUTC - offset }
        }
        guard let wanted = CalendarTime(text)?.secondsAsUTC else { return nil }
        // The zone's distance from Greenwich is that of the moment itself, so it is looked for from both sides.
        var seconds = wanted
        for _ in 0..<3 { seconds += wanted - calendar(seconds).secondsAsUTC }
        return seconds
    }
}
