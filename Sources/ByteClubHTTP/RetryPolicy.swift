/// Which failures a session tries again, and how patiently.
///
/// A failure to connect is retried for every method, except that a refused connection and an unknown host are final
/// until the origin has answered the session once: a mistyped address is told at once, a restart is waited for. A lost
/// connection and ``statuses`` are retried only where repeating is harmless: GET,
/// HEAD, PUT, DELETE, OPTIONS, TRACE, or a request with an ``TaskOptions/idempotencyKey`` or declared
/// ``TaskOptions/isIdempotent``. Nothing is retried after a cancel or once the time for the resource is over.
public struct RetryPolicy: Sendable, Hashable {
    /// Four attempts, waiting a random time below 0.5 s, 1 s, 2 s in between.
    public static var standard: RetryPolicy { RetryPolicy() }

    /// One attempt only.
    public static var never: RetryPolicy {
        var policy = RetryPolicy()
        policy.maximumAttempts = 1
        return policy
    }

    /// The statuses after which it may go better the next time.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// How often a request is sent at most, the first time included.
    ///
    /// A download that can be continued begins to count anew with each attempt that brought 64 KiB or more of its file.
    public var maximumAttempts = 4

    /// The bound of the first wait; each further one is twice as long.
    ///
    /// The wait is random below its bound.
    public var firstDelay: Duration = .milliseconds(500)

    /// The longest wait, also when the server asks for one with `Retry-After`; if it asks for more, its response is
    /// the result.
    public var longestDelay: Duration = .seconds(60)

    /// How many retries each request earns its session: 0.2, so that a failing server is not hit much harder.
    public var budgetPerRequest = 0.2

    /// How many retries a session has before any request earned one, and the most it can save up.
    public var initialBudget = 32.0

    /// The standard policy.
    public init() {}

    /// How long to wait before attempt number `attempt` + 1.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt that failed, from 1.
    ///   - generator: Where the randomness comes from.
    /// - Returns: A time from zero up to the bound for that attempt.
    func delay(after attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(max(attempt - 1, 0), 30)
        let bound = min(firstDelay * (1 << doublings), longestDelay)
        return bound * Double.random(in: 0...1, using: &generator)
    }
}
