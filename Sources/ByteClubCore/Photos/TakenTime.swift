/// When a photo was taken: what a clock showed at that place, and how far the clock was from UTC.
///
/// People look for a photo by the clock of the place, whatever zone they are in: lists, days and searches go by
/// ``clock``.
public struct TakenTime: Hashable, Sendable, CustomStringConvertible {
    /// What the clock showed, as the date on which a clock in UTC shows the same.
    public let clock: APIDate
    /// Seconds east of UTC, at most ``farthest`` either way; nil where the photo does not say.
    public let offset: Int?

    /// The farthest that a clock is from UTC, in seconds.
    public static let farthest = 14 * 3600

    /// Creates a time; an offset that no zone has is left out.
    public init(clock: APIDate, offset: Int? = nil) {
        self.clock = clock
        self.offset = offset.flatMap { abs($0) <= Self.farthest ? $0 : nil }
    }

    /// The time of a moment at an offset from UTC, in seconds; without one, `moment` is the clock's.
    public init(moment: APIDate, offset: Int?) {
        let known = offset.flatMap { abs($0) <= Self.farthest ? $0 : nil }
        let (seconds, overflow) = moment.seconds.addingReportingOverflow(Int64(known ?? 0))
        self.init(clock: overflow ? moment : APIDate(seconds: seconds), offset: overflow ? nil : known)
    }

    /// The moment; without an offset the one at which a clock in UTC shows this.
    public var moment: APIDate {
        let (seconds, overflow) = clock.seconds.subtractingReportingOverflow(Int64(offset ?? 0))
        return overflow ? clock : APIDate(seconds: seconds)
    }

    /// As in `2025-06-22T00:30:00+09:00` (RFC 3339), and without an offset where that is unknown (ISO 8601).
    public var description: String {
        let local = String(clock.rfc3339.dropLast())
        guard let offset else { return local }
        let distance = abs(offset)
        return local + (offset < 0 ? "-" : "+") + APIDate.two(distance / 3600) + ":"
            + APIDate.two(distance / 60 % 60)
    }
}
