import Glibc

/// A daemon's rate limits by the time of the week.
public struct RateSchedule: Sendable, Hashable {
    /// A part of every week.
    public struct Span: Sendable, Hashable {
        /// The days on which it begins, 0 for Monday to 6 for Sunday; at least one.
        public var days: Set<Int>
        /// Its first minute since midnight, local time, 0 to 1439.
        public var from: Int
        /// The first minute after it, since the same midnight; above ``from``, by at most 1440.
        public var to: Int
        /// The limit in bytes per second; 0 pauses all transfers, nil means no limit.
        public var rate: Int?

        /// A part of the week, on every day unless days are given.
        public init(days: Set<Int> = Set(0..<7), from: Int, to: Int, rate: Int?) {
            self.days = days
            self.from = from
            self.to = to
            self.rate = rate
        }

        fileprivate func holds(_ day: Int, _ minute: Int) -> Bool {
            if days.contains(day), from <= minute, minute < to { return true }
            return days.contains((day + 6) % 7) && minute + minutesOfDay < to
        }
    }

    /// The limit outside of all spans; as ``Span/rate``.
    public var otherwise: Int?

    /// The parts of the week; the first one that contains a minute applies.
    public var spans: [Span]

    /// A schedule; without spans the limit always applies.
    public init(otherwise: Int? = nil, spans: [Span] = []) {
        self.otherwise = otherwise
        self.spans = spans
    }
}

extension RateSchedule {
    private static let minutesOfDay = 1440
    private static let mostRate = 1_000_000_000_000_000
    private static let mostSpans = 100

    /// The limit at a time of the week.
    ///
    /// - Parameters:
    ///   - weekday: The day, 0 for Monday to 6 for Sunday.
    ///   - minute: Minutes since midnight, 0 to 1439.
    /// - Returns: The limit, as ``Span/rate``.
    public func rate(weekday: Int, minute: Int) -> Int? {
        spans.first { $0.holds(weekday, minute) }.map(\.rate) ?? otherwise
    }

    /// The limit at a time, as ``Span/rate``, and when it may change, both in seconds since 1970.
    ///
    /// That is at most an hour later, since the machine's time zone may change, and nil without spans.
    func current(
        at seconds: Int64, localTime: (Int64) -> (weekday: Int, minute: Int) = Self.localTime
    ) -> (rate: Int?, nextChange: Int64?) {
        func rate(_ seconds: Int64) -> Int? {
            let (weekday, minute) = localTime(seconds)
            return self.rate(weekday: weekday, minute: minute)
        }
        let present = rate(seconds)
        if spans.isEmpty { return (present, nil) }
        let start = seconds - (seconds % 60 + 60) % 60
        let next = (1...60).lazy.map { start + $0 * 60 }.first { rate($0) != present }
        return (present, next ?? start + 3600)
    }

    /// The local time: the day of the week, 0 for Monday, and minutes since midnight.
    static func localTime(at seconds: Int64) -> (weekday: Int, minute: Int) {
        var time = time_t(seconds)
        var parts = unsafe tm()
        tzset()
        guard unsafe localtime_r(&time, &parts) != nil else { return (0, 0) }
        return unsafe ((Int(parts.tm_wday) + 6) % 7, Int(parts.tm_hour) * 60 + Int(parts.tm_min))
    }

    /// Whether ``check()`` throws nothing.
    var canBeKept: Bool { (try? check()) != nil }

    /// Checks the schedule without a daemon, which accepts valid schedules only.
    ///
    /// A valid one has at most 100 ``spans`` whose properties keep to their ranges, and rates of at most 10^15 bytes a
    /// second.
    ///
    /// - Throws: ``TransferError`` with the code ``TransferError/Code/badConfiguration``, whose message names the range.
    public func check() throws(TransferError) {
        func require(_ condition: Bool, _ message: String) throws(TransferError) {
            if !condition { throw TransferError(.badConfiguration, message) }
        }
        try require(spans.count <= Self.mostSpans, "a schedule has at most \(Self.mostSpans) parts of the week")
        try require(
            (spans.map(\.rate) + [otherwise]).allSatisfy { (0...Self.mostRate).contains($0 ?? 0) },
            "a schedule's limit must be 0 to \(Self.mostRate) bytes per second")
        for span in spans {
            try require(
                !span.days.isEmpty && span.days.isSubset(of: 0..<7) && (0..<Self.minutesOfDay).contains(span.from)
                    && (span.from + 1...span.from + Self.minutesOfDay).contains(span.to),
                "a part of the week must have days 0 to 6, start below minute 1440, and last 1 to 1440 minutes")
        }
    }
}
