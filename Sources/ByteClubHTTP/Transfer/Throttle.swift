/// Keeps a transfer to a rate by saying how many bytes may go now.
///
/// A throttle reads no clock and never sleeps: each call is told the time, and the caller does the waiting. So a test
/// can be exact to the byte.
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
    /// The most bytes that can be saved up: a 24th of a second's worth.
    ///
    /// With the chunks that come on credit, a 64th, no two seconds ever have 3 % more than twice the rate.
    let capacity: Int

    /// The least that is granted unless less is wanted: a 48th of a second's worth.
    let quantum: Int
    private var credit: Int
    private var updated: Instant
    private var remainder: Int64 = 0

    /// A throttle with one quantum of credit.
    ///
    /// - Parameters:
    ///   - rate: Bytes per second; below 1 counts as 1.
    ///   - now: The time.
    init(rate: Int, at now: Instant) {
        self.rate = min(max(rate, 1), 1 << 40)
        capacity = max(self.rate / 24, 2)
        quantum = max(self.rate / 48, 1)
        credit = quantum
        updated = now
    }

    /// Grants up to `wanted` bytes, not fewer than ``quantum`` unless less is wanted.
    mutating func take(_ wanted: Int, at now: Instant) -> Grant {
        let grant = offer(wanted, at: now)
        if case .move(let count) = grant { spend(count) }
        return grant
    }

    /// What ``take(_:at:)`` would grant, for who must ask another throttle too before they ``spend(_:)``.
    mutating func offer(_ wanted: Int, at now: Instant) -> Grant {
        precondition(wanted > 0, "a throttle cannot grant \(wanted) bytes")
        earn(until: now)
        let least = min(wanted, quantum)
        guard credit >= least else { return .wait(time(toEarn: least - credit)) }
        return .move(min(wanted, credit))
    }

    /// Counts bytes as moved.
    mutating func spend(_ count: Int) { credit -= count }

    /// Grants a whole chunk that is there already, on credit; the debt is waited for before the next one.
    mutating func takeWhole(_ size: Int, at now: Instant) -> Grant {
        if let time = waitForWhole(at: now) { return .wait(time) }
        spend(size)
        return .move(size)
    }

    /// How long a chunk that is there already must wait; nil when it may go at once.
    mutating func waitForWhole(at now: Instant) -> Duration? {
        earn(until: now)
        return credit > 0 ? nil : time(toEarn: quantum - credit)
    }

    /// How many of those that wait may be let go at once, for a ``quantum`` of credit each, and how long it takes to
    /// earn the next one's when they have used theirs.
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
