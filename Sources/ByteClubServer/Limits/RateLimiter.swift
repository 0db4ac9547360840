import Synchronization

/// A token bucket for each of many keys; those that are full again are forgotten.
final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var buckets: [Key: TokenBucket] = [:]
        var nextSweep = 1024
        var refusals: Int64 = 0
    }

    private static var maximumCount: Int { 100_000 }

    private let rate: TokenBucket.Rate?
    private let state = Mutex(State())

    /// Limits each key to a rate; nil for no limit.
    init(_ rate: TokenBucket.Rate?) {
        self.rate = rate
    }

    /// How often a key was over its limit.
    var refusals: Int64 { state.withLock { $0.refusals } }

    /// How many keys are remembered.
    var keyCount: Int { state.withLock { $0.buckets.count } }

    /// Counts an event; when it is one too many, tells how long to wait.
    func take(_ key: Key, at instant: ContinuousClock.Instant = .now) -> Duration? {
        guard let rate else { return nil }
        return state.withLock { state in
            if state.buckets.count >= state.nextSweep { Self.sweep(&state, rate, at: instant) }
            let wait = state.buckets[key, default: TokenBucket(rate, at: instant)].take(rate, at: instant)
            if wait != nil { state.refusals += 1 }
            return wait
        }
    }

    /// Forgets what a key has done, as after a success.
    func forget(_ key: Key) { state.withLock { $0.buckets[key] = nil } }

    private static func sweep(_ state: inout State, _ rate: TokenBucket.Rate, at instant: ContinuousClock.Instant) {
        for (key, var bucket) in state.buckets where bucket.isFull(rate, at: instant) {
            state.buckets[key] = nil
        }
        // Keys may be of an attacker's choice; what is forgotten early costs less than memory without end.
        while state.buckets.count > maximumCount, let any = state.buckets.first { state.buckets[any.key] = nil }
        state.nextSweep = max(1024, min(state.buckets.count * 2, maximumCount + 1024))
    }
}
