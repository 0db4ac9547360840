import ByteClubCore

/// How long a session waits after failures, and how many it tolerates.
struct SessionBackoff: Sendable {
    /// How many transient failures of calls in a row a run tolerates.
    private static let mostCalls = 3
    /// How many failures of its own database in a row a session tolerates.
    private static let mostDatabaseFailures = 3
    /// The longest wait that a server can ask for, in seconds.
    private static let longestAsked = 30.0

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

    /// Waits after so many rounds without effect.
    mutating func wait(afterIdleRounds rounds: Int, at now: SyncInstant) {
        wait(Backoff.session.delay(after: rounds), at: now)
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
        callFailures = 0
        let delay = Backoff.session.delay(after: sessionFailures)
        wait(delay, at: now)
        return delay
    }

    /// Notes that something took effect.
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
