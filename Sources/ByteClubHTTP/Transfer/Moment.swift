import Glibc

/// A point on the machine's monotonic clock.
///
/// The coarse clock is read where much runs (4 ms grain, 5 ns a read): callbacks that run per chunk can afford it.
struct Moment: InstantProtocol, Sendable {
    var nanoseconds: Int64

    /// The present, by the coarse clock.
    static var now: Moment { read(CLOCK_MONOTONIC_COARSE) }

    /// The present to the nanosecond, for what happens a few times in an attempt; the coarse clock may be behind it.
    static var fine: Moment { read(CLOCK_MONOTONIC) }

    /// The present in milliseconds since 1970, by the clock that people may set.
    static var wallMilliseconds: Int64 { read(CLOCK_REALTIME).nanoseconds / 1_000_000 }

    /// The one place of this module where a clock is read.
    private static func read(_ clock: clockid_t) -> Moment {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    static let distantFuture = Moment(nanoseconds: .max)

    func advanced(by duration: Duration) -> Moment {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return overflow ? .distantFuture : Moment(nanoseconds: sum)
    }

    func duration(to other: Moment) -> Duration { .nanoseconds(other.nanoseconds &- nanoseconds) }

    static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
    /// The duration in nanoseconds, held within what 64 bits can say.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        if carried { return seconds < 0 ? .min : .max }
        return sum
    }

    /// The duration in milliseconds, rounded up, from 0 to what an `Int32` holds.
    var wholeMilliseconds: Int {
        let nanoseconds = wholeNanoseconds
        if nanoseconds <= 0 { return 0 }
        return Int(min((nanoseconds - 1) / 1_000_000 + 1, Int64(Int32.max)))
    }
}
