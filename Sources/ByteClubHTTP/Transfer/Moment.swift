import Glibc

/// A point on the machine's monotonic clock.
///
/// The coarse clock (4 ms resolution, 5 ns per read) is cheap enough for callbacks that run for every chunk.
struct Moment: InstantProtocol, Sendable {
    var nanoseconds: Int64

    /// The current time by the coarse clock.
    static var now: Moment { read(CLOCK_MONOTONIC_COARSE) }

    /// The current time in nanoseconds, for events that occur a few times per attempt; the coarse clock may lag behind
    /// it.
    static var fine: Moment { read(CLOCK_MONOTONIC) }

    /// The wall clock in milliseconds since 1970.
    static var wallMilliseconds: Int64 { read(CLOCK_REALTIME).nanoseconds / 1_000_000 }

    /// Reads one of the system's clocks.
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
    /// The duration in nanoseconds, clamped to 64 bits.
    var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

    /// The duration in milliseconds, rounded up and clamped to 0 through `Int32.max`.
    var wholeMilliseconds: Int {
        let nanoseconds = wholeNanoseconds
        if nanoseconds <= 0 { return 0 }
        return Int(min((nanoseconds - 1) / 1_000_000 + 1, Int64(Int32.max)))
    }
}
