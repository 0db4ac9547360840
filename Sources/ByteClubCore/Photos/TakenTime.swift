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

    /// Creates a time; an offset that no zone has, or that leads out of the years 1 to 9999, is left out.
    public init(clock: APIDate, offset: Int? = nil) {
        self.clock = clock
        self.offset = offset.flatMap { Self.offsets.contains($0) && Self.isDate(clock, -$0) ? $0 : nil }
    }

    /// The time of a moment at an offset from UTC, in seconds; without one, `moment` is the clock's.
    public init(moment: APIDate, offset: Int?) {
        guard let offset, Self.offsets.contains(offset), Self.isDate(moment, offset) else {
            self.init(clock: moment)
            return
        }
        self.init(clock: APIDate(seconds: moment.seconds + Int64(offset)), offset: offset)
    }

    private static let offsets = -farthest...farthest

    /// Whether a date is within the years 1 to 9999, and still when it is shifted by some seconds.
    private static func isDate(_ date: APIDate, _ shift: Int) -> Bool {
        let dates = Int64(-62_135_596_800)...Int64(253_402_300_799)
        return dates.contains(date.seconds) && dates.contains(date.seconds + Int64(shift))
    }

    /// The moment; without an offset the one at which a clock in UTC shows this.
    public var moment: APIDate { offset.map { APIDate(seconds: clock.seconds - Int64($0)) } ?? clock }

    /// As in `2025-06-22T00:30:00+09:00` (RFC 3339), and without an offset where that is unknown (ISO 8601).
    public var description: String {
        let local = String(clock.rfc3339.dropLast())
        guard let offset else { return local }
        let distance = abs(offset)
        return local + (offset < 0 ? "-" : "+") + APIDate.two(distance / 3600) + ":"
            + APIDate.two(distance / 60 % 60)
    }
}
