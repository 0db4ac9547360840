/// When the long poll for the server's changes is started again.
struct PollSchedule: Sendable {
    private var isPolling = false
    private var failures = 0
    /// When the feed is pulled after polls that failed.
    private(set) var pullAt: SyncInstant?

    /// Whether a poll can be started now.
    var isDue: Bool { !isPolling && pullAt == nil }

    /// Notes that a poll has started.
    mutating func started() { isPolling = true }

    /// Notes that a poll has ended with an answer.
    mutating func answered() { (isPolling, failures) = (false, 0) }

    /// Notes that a poll has failed: the server is away, or refuses the cursor, and a pull finds out which.
    mutating func failed(at now: SyncInstant) {
        isPolling = false
        failures += 1
        pullAt = now + Backoff.session.delay(after: failures)
    }

    /// Whether the feed must be pulled now, after a poll that failed.
    mutating func takePull(at now: SyncInstant) -> Bool {
        guard !isPolling, let pullAt, pullAt <= now else { return false }
        self.pullAt = nil
        return true
    }
}
