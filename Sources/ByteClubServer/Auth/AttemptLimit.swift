import Synchronization

/// How often something that may be guessed can be tried: a number of times at once, then one more each interval.
///
/// It counts by any text, such as an address or a name, on a clock that never jumps, and remembers a bounded number of them.
final class AttemptLimit: Sendable {
    private static let maximumCount = 10_000

    private let attempts: Int
    private let interval: Duration
    /// When each text's attempts will all be there again.
    private let full = Mutex<[String: ContinuousClock.Instant]>([:])

    /// Allows `attempts` at once, and another after each interval.
    init(attempts: Int, interval: Duration) {
        self.attempts = attempts
        self.interval = interval
    }

    /// Counts an attempt; nil when it is allowed, otherwise how long to wait.
    func take(_ text: String, at now: ContinuousClock.Instant = .now) -> Duration? {
        full.withLock { full in
            let next = max(full[text] ?? now, now) + interval
            let wait = (next - now) - interval * attempts
            if wait > .zero { return wait }
            if full.count >= Self.maximumCount { full = full.filter { $0.value > now } }
            if full.count >= Self.maximumCount, let any = full.first { full[any.key] = nil }
            full[text] = next
            return nil
        }
    }

    /// Forgets the attempts of a text, as after a success.
    func forget(_ text: String) { full.withLock { $0[text] = nil } }
}
