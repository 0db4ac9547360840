import Synchronization

/// A token bucket for each of many keys; those that are full again are forgotten.
final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var buckets: [Key: TokenBucket] = [:]
        var nextSweep = 1024
        var refusals: Int64 = 0
    }

    private static var maximumCount: Int { 100_000 }

    let rate: TokenBucket.Rate?
    private let state = Mutex(State())

    /// Limits each key to a rate; nil for no limit.
    init(_ rate: TokenBucket.Rate?) {
        self.rate = rate
    }

    /// How often a key was over its limit.
    var refusals: Int64 { state.withLock { $0.refusals } }

    /// How many keys are remembered.
    var keyCount: Int { state.withLock { $0.buckets.count } }

    /// Counts an event; returns how long to wait when it is one too many.
    func take(_ key: Key, at instant: ContinuousClock.Instant = .now) -> Duration? {
        guard let rate else { return nil }
        return state.withLock { state in
            if state.buckets.count >= state.nextSweep { Self.sweep(&state, rate, at: instant) }
            let wait = state.buckets[key, default: TokenBucket(rate, at: instant)].take(rate, at: instant)
            if wait != nil { state.refusals += 1 }
            return wait
        }
    }

    /// Forgets the events of a key, as after a success.
    func forget(_ key: Key) { state.withLock { $0.buckets[key] = nil } }

    private static func sweep(_ state: inout State, _ rate: TokenBucket.Rate, at instant: ContinuousClock.Instant) {
        for (key, var bucket) in state.buckets where bucket.isFull(rate, at: instant) {
            state.buckets[key] = nil
        }
        // An attacker can choose the keys; forgetting some early is cheaper than unbounded memory.
        while state.buckets.count > maximumCount, let any = state.buckets.first { state.buckets[any.key] = nil }
        state.nextSweep = max(1024, min(state.buckets.count * 2, maximumCount + 1024))
    }
}

/// Allows a number of events a second on average, and more at once after a quiet time.
///
/// It counts elapsed time by a monotonic clock.
struct TokenBucket: Sendable {
    /// How fast a bucket fills, and how much it holds.
    struct Rate: Hashable, Sendable {
        /// The events a second.
        let perSecond: Double
        /// The events at once.
        let burst: Double
    }

    private var tokens: Double
    private var filled: ContinuousClock.Instant

    /// A full bucket.
    init(_ rate: Rate, at instant: ContinuousClock.Instant) {
        tokens = rate.burst
        filled = instant
    }

    /// Removes a token; when there is none, returns the time until there is.
    mutating func take(_ rate: Rate, at instant: ContinuousClock.Instant) -> Duration? {
        fill(rate, at: instant)
        if tokens >= 1 {
            tokens -= 1
            return nil
        }
        return .seconds((1 - tokens) / rate.perSecond)
    }

    /// Whether it is as good as new.
    mutating func isFull(_ rate: Rate, at instant: ContinuousClock.Instant) -> Bool {
        fill(rate, at: instant)
        return tokens >= rate.burst
    }

    private mutating func fill(_ rate: Rate, at instant: ContinuousClock.Instant) {
        let elapsed = filled.duration(to: instant) / .seconds(1)
        guard elapsed > 0 else { return }
        tokens = min(rate.burst, tokens + elapsed * rate.perSecond)
        filled = instant
    }
}
