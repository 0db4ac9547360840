/// Allows so many events a second on average, and more at once after a quiet time.
///
/// Only how long ago something happened counts, by a clock that nobody sets.
struct TokenBucket: Sendable {
    /// How fast a bucket fills, and how much it holds.
    struct Rate: Hashable, Sendable {
        /// The events a second.
        let perSecond: Double
        /// The events at once.
        let burst: Double

        /// Creates a rate.
        init(perSecond: Double, burst: Double) {
            self.perSecond = perSecond
            self.burst = burst
        }
    }

    private var tokens: Double
    private var filled: ContinuousClock.Instant

    /// A full bucket.
    init(_ rate: Rate, at instant: ContinuousClock.Instant) {
        tokens = rate.burst
        filled = instant
    }

    /// Takes a token; when there is none, tells how long it takes until there is.
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
