/// Limits a transfer to a rate by granting bytes.
///
/// A throttle reads no clock and never sleeps: each call gets the time, and the caller does the waiting. So a test can
/// be exact to the byte.
struct Throttle<Instant: InstantProtocol & Sendable>: Sendable where Instant.Duration == Duration {
    /// What a transfer may do next.
    enum Grant: Hashable, Sendable {
        /// Move this many bytes now.
        case move(Int)
        /// Ask again when this much time has passed.
        case wait(Duration)
    }

    /// Bytes per second.
    let rate: Int
    /// The maximum credit: a 24th of a second's bytes.
    ///
    /// With chunks on credit, a 64th each, no two seconds exceed twice the rate by more than 3 %.
    let capacity: Int

    /// The smallest grant, unless less is requested: a 48th of a second's bytes.
    let quantum: Int
    private var credit: Int
    private var updated: Instant
    private var remainder: Int64 = 0

    /// Creates a throttle with one quantum of credit; a rate below 1 counts as 1.
    init(rate: Int, at now: Instant) {
        self.rate = min(max(rate, 1), 1 << 40)
        capacity = max(self.rate / 24, 2)
        quantum = max(self.rate / 48, 1)
        credit = quantum
        updated = now
    }

    /// Grants up to `wanted` bytes, not fewer than ``quantum`` unless less is requested; ``spend(_:)`` counts them.
    mutating func offer(_ wanted: Int, at now: Instant) -> Grant {
        precondition(wanted > 0, "a throttle cannot grant \(wanted) bytes")
        earn(until: now)
        let least = min(wanted, quantum)
        guard credit >= least else { return .wait(time(toEarn: least - credit)) }
        return .move(min(wanted, credit))
    }

    /// Counts bytes as moved.
    mutating func spend(_ count: Int) { credit -= count }

    /// How long a whole chunk that was already received must wait; nil if it may pass at once, on credit, for whose debt
    /// the next chunk waits.
    mutating func waitForWhole(at now: Instant) -> Duration? {
        earn(until: now)
        return credit > 0 ? nil : time(toEarn: quantum - credit)
    }

    /// The number of waiting transfers that may resume at once, with one ``quantum`` of credit each, and the time until
    /// the next one may.
    mutating func turns(at now: Instant) -> (count: Int, next: Duration) {
        earn(until: now)
        let count = max(credit / quantum, 0)
        return (count, time(toEarn: (count + 1) * quantum - credit))
    }

    private func time(toEarn bytes: Int) -> Duration {
        .nanoseconds(Int64((Double(bytes) / Double(rate) * 1e9).rounded(.up)))
    }

    private mutating func earn(until now: Instant) {
        let passed = min(updated.duration(to: now), .seconds(10))
        guard passed > .zero else { return }
        updated = now
        let earned = Int128(passed.wholeNanoseconds) * Int128(rate) + Int128(remainder)
        remainder = Int64(earned % 1_000_000_000)
        credit = min(credit + Int(earned / 1_000_000_000), capacity)
    }
}

/// The rate limit that all transfers of a session share.
///
/// Used only on the loop's thread.
final class SessionThrottle {
    /// Bytes per second in each direction; nil for no limit.
    private(set) var rate: Int?
    var send: Throttle<Moment>?
    var receive: Throttle<Moment>?

    init(rate: Int?, at now: Moment) { set(rate, at: now) }

    /// Changes the rate and starts with one quantum of credit.
    func set(_ rate: Int?, at now: Moment) {
        self.rate = rate
        send = rate.map { Throttle(rate: $0, at: now) }
        receive = rate.map { Throttle(rate: $0, at: now) }
    }
}
