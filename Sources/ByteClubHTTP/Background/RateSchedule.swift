import Glibc

/// How many bytes per second a daemon may move at which time of the day.
public struct RateSchedule: Sendable, Hashable {
    /// One part of the day.
    public struct Span: Sendable, Hashable {
        /// Its first minute since midnight, local time, 0 to 1439.
        public var from: Int
        /// The minute it ends before, 0 to 1440; one that is not after ``from`` is on the next day.
        public var to: Int
        /// The limit in bytes per second; 0 holds all transfers, nil lets them be as fast as they can.
        public var rate: Int?

        /// A part of the day.
        public init(from: Int, to: Int, rate: Int?) {
            self.from = from
            self.to = to
            self.rate = rate
        }

        fileprivate func holds(_ minute: Int) -> Bool {
            from < to ? from <= minute && minute < to : from <= minute || minute < to
        }
    }

    /// The limit outside of all spans; as ``Span/rate``.
    public var otherwise: Int?

    /// The parts of the day; the first one that a minute is in counts.
    public var spans: [Span]

    /// A schedule; without spans the limit holds all day.
    public init(otherwise: Int? = nil, spans: [Span] = []) {
        self.otherwise = otherwise
        self.spans = spans
    }
}

extension RateSchedule {
    static let minutesOfDay = 1440
    static let mostRate = 1_000_000_000_000_000
    private static let mostSpans = 100

    /// The limit at a minute of the day.
    ///
    /// - Parameter minute: Minutes since midnight; those of other days count as well.
    /// - Returns: Bytes per second; 0 holds all transfers, nil lets them be as fast as they can.
    public func rate(atMinute minute: Int) -> Int? {
        let rest = minute % Self.minutesOfDay
        let minute = rest < 0 ? rest + Self.minutesOfDay : rest
        return spans.first { $0.holds(minute) }.map(\.rate) ?? otherwise
    }

    /// The first minute after another one at which the limit is a different one.
    ///
    /// - Parameter minute: Minutes since midnight.
    /// - Returns: At most a day more; nil when the limit is always the same.
    public func nextChange(afterMinute minute: Int) -> Int? {
        let present = rate(atMinute: minute)
        return (1...Self.minutesOfDay).lazy.map { minute + $0 }.first { rate(atMinute: $0) != present }
    }

    /// The limit at a time, and when to ask again.
    ///
    /// - Parameters:
    ///   - seconds: The time, in seconds since 1970.
    ///   - minuteOfDay: What local clocks show at a time, in minutes since midnight.
    /// - Returns: The limit, as ``Span/rate``, and when it is another one: at most an hour later, since the zone of the
    ///   machine may change; nil when the limit is always the same.
    func current(
        at seconds: Int64, minuteOfDay: (Int64) -> Int = Self.localMinute
    ) -> (rate: Int?, nextChange: Int64?) {
        let minute = minuteOfDay(seconds)
        let present = rate(atMinute: minute)
        guard nextChange(afterMinute: minute) != nil else { return (present, nil) }
        let start = seconds - (seconds % 60 + 60) % 60
        let next = (1...60).lazy.map { start + $0 * 60 }.first { rate(atMinute: minuteOfDay($0)) != present }
        return (present, next ?? start + 3600)
    }

    /// What a clock on the wall shows, in minutes since midnight.
    static func localMinute(at seconds: Int64) -> Int {
        var time = time_t(seconds)
        var parts = unsafe tm()
        tzset()
        guard unsafe localtime_r(&time, &parts) != nil else { return 0 }
        return unsafe Int(parts.tm_hour) * 60 + Int(parts.tm_min)
    }

    /// Whether ``check()`` finds nothing.
    var canBeKept: Bool {
        do throws(TransferError) { try check() } catch { return false }
        return true
    }

    /// Finds out whether the schedule can be kept to.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration``.
    func check() throws(TransferError) {
        guard spans.count <= Self.mostSpans else {
            throw TransferError(.badConfiguration, "a schedule has at most \(Self.mostSpans) parts of the day")
        }
        guard (spans.map(\.rate) + [otherwise]).allSatisfy({ (0...Self.mostRate).contains($0 ?? 0) }) else {
            throw TransferError(.badConfiguration, "a schedule's limit is 0 to \(Self.mostRate) bytes per second")
        }
        for span in spans {
            guard (0..<Self.minutesOfDay).contains(span.from), (0...Self.minutesOfDay).contains(span.to) else {
                throw TransferError(
                    .badConfiguration, "a part of the day is from a minute below 1440 to one of at most 1440")
            }
        }
    }
}
