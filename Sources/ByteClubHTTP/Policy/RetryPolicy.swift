public import HTTPTypes

/// Which failures a session retries, and how often.
///
/// A failed connection is retried for every method. A refused connection and an unknown host are final until the origin
/// has responded once in the session: a mistyped address fails at once, while a restarting server is awaited. A lost
/// connection and ``statuses`` are retried only if repeating is harmless: for GET, HEAD, PUT, DELETE, OPTIONS and
/// TRACE, and for requests with an ``TaskOptions/idempotencyKey`` or ``TaskOptions/isIdempotent``. Nothing is retried
/// after a cancel or the resource timeout.
public struct RetryPolicy: Sendable, Hashable {
    /// Four attempts with random delays below 0.5, 1 and 2 seconds.
    public static var standard: RetryPolicy { RetryPolicy() }

    /// One attempt only.
    public static var never: RetryPolicy {
        var policy = RetryPolicy()
        policy.maximumAttempts = 1
        return policy
    }

    /// The statuses that are worth a retry.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The maximum number of attempts, including the first.
    ///
    /// A resumable download starts counting again with each attempt that received 64 KiB or more of its file.
    public var maximumAttempts = 4

    /// The upper bound of the first delay; each further bound is twice as long.
    ///
    /// Each delay is random below its bound.
    public var firstDelay: Duration = .milliseconds(500)

    /// The longest delay, also for `Retry-After`; if the server asks for more, its response is the result.
    public var longestDelay: Duration = .seconds(60)

    /// How many retries each request adds to the session's budget: 0.2, which limits the load on a failing server.
    var budgetPerRequest = 0.2

    /// The session's initial budget of retries, which is also its maximum.
    var initialBudget = 32.0

    /// The standard policy.
    public init() {}

    /// The delay after a failed attempt, counted from 1: a random time from zero up to the bound for that attempt.
    func delay(after attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(max(attempt - 1, 0), 30)
        let bound = min(firstDelay * (1 << doublings), longestDelay)
        return bound * Double.random(in: 0...1, using: &generator)
    }
}

/// An attempt without a response, or with a status of 400 and above.
public struct FailedAttempt: Sendable {
    /// The request as it was sent, including its secrets.
    public var request: HTTPRequest

    /// The number of the attempt, from 1.
    public var attempt: Int

    /// The outcome.
    public var reason: RetryReason

    /// The delay that the session has planned; nil if it plans no further attempt, since that may do harm or seems
    /// useless.
    public var plan: Duration?
}

/// Why a request is sent again.
public enum RetryReason: Sendable {
    /// There was no complete response.
    case failure(TransferError)
    /// The response had a status that may be temporary.
    case response(HTTPResponse)
    /// The server rejected the credential or requires one, and a new one is available.
    case newCredential
}

/// Whether to try again.
public enum RetryDecision: Sendable {
    /// Follow the ``RetryPolicy``.
    case asPlanned
    /// Retry after this delay, whatever the method. Use it only if sending the request twice does no harm.
    ///
    /// The maximum number of attempts, the resource timeout and the session's budget still apply.
    case retry(after: Duration)
    /// Do not retry; the failure or the response is the result.
    case stop
}

/// Limits retries to a share of the requests, so that a failing server is not hit much harder than a healthy one.
struct RetryBudget: Sendable {
    private let perRequest: Double
    private let most: Double
    private var saved: Double

    init(_ policy: RetryPolicy) {
        perRequest = max(policy.budgetPerRequest, 0)
        most = max(policy.initialBudget, 1)
        saved = max(policy.initialBudget, 0)
    }

    mutating func earn() { saved = min(saved + perRequest, most) }

    /// Adds one retry for an attempt that made progress.
    mutating func earnRetry() { saved = min(saved + 1, most) }

    /// Uses one retry; false if the budget is empty.
    mutating func spend() -> Bool {
        guard saved >= 1 else { return false }
        saved -= 1
        return true
    }
}

/// The value of a `Retry-After` field (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// Parses seconds, or a date such as `Sun, 06 Nov 1994 08:49:37 GMT`; nil if the value is neither.
    static func delay(_ value: String, now: Int64) -> Duration? {
        let text = value.utf8.drop { $0 == 0x20 }
        if let seconds = Int64(String(decoding: text, as: UTF8.self)) {
            return seconds >= 0 ? .seconds(min(seconds, 1 << 32)) : nil
        }
        guard let date = HTTPDate.seconds(value, now: now) else { return nil }
        return .seconds(min(max(date - now, 0), 1 << 32))
    }
}
