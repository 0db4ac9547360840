import ByteClubCore

/// Exponential backoff: the wait doubles with each failure, up to a limit.
struct Backoff: Hashable, Sendable {
    /// The wait after the first failure.
    let first: Duration
    /// The longest wait.
    let longest: Duration

    /// The wait after so many failures in a row, at least one.
    func delay(after failures: Int) -> Duration {
        let doublings = min(max(failures, 1) - 1, 30)
        return min(first * (1 << doublings), longest)
    }

    /// For a file that is being written.
    static let beingWritten = Backoff(first: .seconds(2), longest: .seconds(60))
    /// For an item that the disk or the server refuses.
    static let refused = Backoff(first: .seconds(2), longest: .seconds(3_600))
    /// For a call that fails in the middle of other work.
    static let call = Backoff(first: .milliseconds(100), longest: .seconds(30))
    /// For a session that cannot continue, and for its long poll.
    static let session = Backoff(first: .milliseconds(500), longest: .seconds(60))
}

/// How long a session waits after failures and after work without effect, and how many failures it tolerates.
struct SessionBackoff: Sendable {
    /// After how many rounds without effect the session waits before it tries again.
    private static let mostIdleRounds = 6
    /// How many transient failures of calls in a row a run tolerates.
    private static let mostCalls = 3
    /// How many failures of its own database in a row a session tolerates.
    private static let mostDatabaseFailures = 3
    /// The longest wait that a server can ask for, in seconds.
    private static let longestAsked = 30.0

    /// How many rounds in a row had no effect.
    private var idleRounds = 0
    private var callFailures = 0
    private var sessionFailures = 0
    private var until: SyncInstant?
    /// Whether the server has set the wait itself (`Retry-After`).
    private var isAsked = false

    /// Until when the session waits; nil when it does not.
    mutating func end(at now: SyncInstant) -> SyncInstant? {
        if let until, until > now { return until }
        (until, isAsked) = (nil, false)
        return nil
    }

    /// Ends a wait that the server has not asked for.
    mutating func endEarly() { if !isAsked { until = nil } }

    /// Whether so many rounds in a row had no effect that the next one must wait.
    var isIdle: Bool { idleRounds >= Self.mostIdleRounds }

    /// Counts a round, or a part of the feed, that had no effect.
    mutating func roundWasIdle() { idleRounds += 1 }

    /// Resets the count of idle rounds: after an event or a deadline, the next round may have an effect.
    mutating func woke() { idleRounds = 0 }

    /// Notes that an operation took effect.
    mutating func progressed() { (idleRounds, callFailures) = (0, 0) }

    /// Waits after rounds without effect, and resets their count.
    mutating func waitAfterIdleRounds(at now: SyncInstant) {
        wait(Backoff.session.delay(after: idleRounds), at: now)
        idleRounds = 0
    }

    /// Counts a call's transient failure.
    ///
    /// - Throws: The error when there were too many.
    mutating func callFailed(_ error: RemoteError, at now: SyncInstant) throws(RemoteError) {
        callFailures += 1
        // One answer that violates the protocol may come from a proxy; a second one is the server's.
        if callFailures > (error.code == .protocolViolation ? 1 : Self.mostCalls) { throw error }
        // Limited before it is converted: a server may ask for more seconds than a duration holds.
        let asked = error.retryAfter.map { Duration.seconds(min($0, Self.longestAsked)) }
        wait(asked ?? Backoff.call.delay(after: callFailures), isAsked: asked != nil, at: now)
    }

    /// Counts a failure of the session.
    ///
    /// - Returns: How long it waits.
    /// - Throws: The error when waiting does not help.
    mutating func sessionFailed(_ error: SyncError, at now: SyncInstant) throws(SyncError) -> Duration {
        guard Self.mayPass(error) || error.code == .database && sessionFailures < Self.mostDatabaseFailures else {
            throw error
        }
        sessionFailures += 1
        (callFailures, idleRounds) = (0, 0)
        let delay = Backoff.session.delay(after: sessionFailures)
        wait(delay, at: now)
        return delay
    }

    /// Notes that no call fails any more.
    mutating func succeeded() { callFailures = 0 }

    /// Notes that nothing is left to do.
    mutating func atRest() { sessionFailures = 0 }

    private mutating func wait(_ delay: Duration, isAsked: Bool = false, at now: SyncInstant) {
        (until, self.isAsked) = (now + delay, isAsked)
    }

    /// Whether a failure is transient: an answer of a proxy in the server's name may be, a wrong token is not.
    private static func mayPass(_ error: SyncError) -> Bool {
        if case .remote(let error) = error.code { return error.code != .unauthorized }
        return error.isRetryable
    }
}
