/// A task of a ``TaskQueue``: its status and the state that is not recorded.
///
/// Times are in milliseconds since 1970.
struct QueuedTask: Sendable {
    /// Whether the task runs.
    enum Activity: Sendable, Hashable {
        case none
        case going
        /// A stop was requested.
        case stopping(Then)
    }

    /// What happens to a task once it has stopped.
    enum Then: Sendable, Hashable {
        case pauses, waits, isCancelled, timesOut
    }

    var status: BackgroundStatus
    /// The conditions that it requires.
    let rules: NetworkRules
    var activity = Activity.none
    /// Its position among all tasks, oldest first.
    let place: UInt64
    /// Its position among the tasks that are due; nil when it is not due.
    var ticket: UInt64?
    /// The safe bytes when the attempt began.
    var bytesBefore: Int64 = 0
    /// When its status was sent and saved last.
    var told: Int64 = 0
    var saved: Int64 = 0
    /// When the byte count changed last while it ran, and how long after the change before.
    var moved: Int64 = 0
    private var pace: Int64 = 0
    /// The time of its alarm.
    var alarm: Int64?
    /// Whether clients lack the latest progress.
    var isUntold = false
    /// The time that the clock was set back to; times between it and the current time's next passing count as it.
    private var latest: Int64 = .max

    static let longestBackOff: Int64 = 5 * 60_000
    static let longestRetryAfter: Int64 = 3_600_000
    /// The longest pause after several daemons in a row were killed; short, since their user wants the work to continue.
    static let longestPause: Int64 = 1000
    private static let firstBackOff: Int64 = 500
    private static let shortestStall: Int64 = 2000
    private static let longestPace: Int64 = 30_000
    /// An attempt that began so long before a daemon's death did not cause it.
    private static let soon: Int64 = 60_000

    init(_ status: BackgroundStatus, place: UInt64) {
        self.status = status
        self.status.obstacle = nil
        rules = NetworkRules(status.request.options)
        self.place = place
    }

    var isActive: Bool { status.state == .waiting || status.state == .running }

    /// When a waiting task may begin.
    var due: Int64 { max(status.nextAttempt ?? 0, earliestStart) }

    /// Whether a change of the network may help a task that waits for its next attempt.
    var mayBeHurried: Bool {
        status.interruptions == 0 && status.failure?.status == nil && status.failure?.retryAfter == nil
    }

    /// When the task times out, by the current clock.
    func deadline(at now: Int64) -> Int64 {
        let timeout = status.request.options.timeoutForResource.multiplied(by: 1000)
        return max(past(status.begun, at: now), earliestStart).adding(timeout)
    }

    /// When the queue must handle the task next without an event, by the current clock; nil for never.
    func nextTime(retention: Int64, at now: Int64) -> Int64? {
        switch (status.state, activity) {
        case (.done, _), (.failed, _): past(status.changed, at: now).adding(retention)
        case (.waiting, _): ticket == nil ? min(due, deadline(at: now)) : deadline(at: now)
        case (.running, .going), (.running, .stopping(.waits)): deadline(at: now)
        default: nil
        }
    }

    private var earliestStart: Int64 { (status.request.options.earliestStart ?? 0).multiplied(by: 1000) }

    /// A recorded time, limited to the time that the clock was set back to while it is in the future.
    ///
    /// The record itself stays, since the clock may be corrected again.
    private func past(_ time: Int64, at now: Int64) -> Int64 { time <= now ? time : min(time, latest) }

    /// Limits waits that were recorded before the clock was set back to their usual length; true if the status changed.
    mutating func keepTimes(within now: Int64) -> Bool {
        latest = now
        guard let next = status.nextAttempt else { return false }
        let latest = now.adding(status.failure?.retryAfter == nil ? Self.longestBackOff : Self.longestRetryAfter)
        status.nextAttempt = min(next, latest)
        return next > latest
    }

    mutating func enter(_ state: BackgroundStatus.State, at now: Int64) {
        status.state = state
        status.changed = now
        status.bytesPerSecond = 0
        status.nextAttempt = nil
        status.obstacle = nil
        isUntold = false
        if state != .running {
            activity = .none
            status.interruptions = 0
        }
    }

    mutating func start(at now: Int64) {
        if status.attempt == 0 || status.nextAttempt != nil { status.attempt += 1 }
        enter(.running, at: now)
        activity = .going
        bytesBefore = status.bytes
        (moved, pace) = (now, 0)
    }

    mutating func noteMove(at now: Int64) {
        pace = min(max(now - moved, 0), Self.longestPace)
        moved = now
    }

    /// When the rate becomes 0 unless progress comes first; nil when it is 0.
    ///
    /// Work that reports rarely gets twice the time between its last two reports.
    var stall: Int64? { status.bytesPerSecond > 0 ? moved + max(Self.shortestStall, 2 * pace) : nil }

    /// The status to save: for a task that is being paused or cancelled, the status after that, so that a restart keeps it.
    ///
    /// An upload that must not be sent twice is not saved as paused before it has stopped, since it may still arrive.
    func statusToSave(at now: Int64) -> BackgroundStatus {
        var task = self
        switch activity {
        case .stopping(.pauses) where status.request.isRepeatable: task.enter(.paused, at: now)
        case .stopping(.isCancelled): task.cancel(at: now)
        default: break
        }
        return task.status
    }

    /// Restarts the task's time limit and back-off.
    mutating func renew(at now: Int64) {
        status.begun = now
        status.attempt = 0
        status.failuresInRow = 0
        status.failure = nil
    }

    mutating func fail(_ failure: BackgroundFailure, at now: Int64) {
        enter(.failed, at: now)
        status.failure = failure
    }

    mutating func timeOut(after failure: BackgroundFailure?, at now: Int64) {
        let seconds = status.request.options.timeoutForResource
        let last = status.obstacle.map { "; \($0)" } ?? failure.map { "; the last attempt: \($0.message)" } ?? ""
        fail(BackgroundFailure(.timedOut, "it was not done within \(seconds) s\(last)"), at: now)
    }

    mutating func cancel(at now: Int64) {
        fail(BackgroundFailure(.cancelled, "it was cancelled"), at: now)
        status.bytes = 0
    }

    /// Schedules the next attempt, by random back-off and no earlier than the server's `Retry-After`.
    ///
    /// The bound is 0.5 s, doubled by each failure since the last attempt that made progress.
    mutating func retry(after failure: BackgroundFailure, at now: Int64) {
        status.failuresInRow = status.bytes > bytesBefore ? 1 : min(status.failuresInRow, 1 << 20) + 1
        let bound = min(Self.firstBackOff << min(Int64(status.failuresInRow) - 1, 20), Self.longestBackOff)
        let delay = max(
            Int64(jitter % UInt64(bound + 1)),
            min(max(failure.retryAfter ?? 0, 0).multiplied(by: 1000), Self.longestRetryAfter))
        enter(.waiting, at: now)
        status.failure = failure
        status.nextAttempt = now.adding(delay)
    }

    /// Continues a task that was running when the last daemon died.
    ///
    /// It continues at once, but after a random time if several daemons died in a row: the task may be the cause.
    mutating func goOn(at now: Int64) {
        let isSoon = now < status.changed.adding(Self.soon)
        let interruptions = isSoon ? min(status.interruptions, 1 << 20) + 1 : 1
        enter(.waiting, at: now)
        status.interruptions = interruptions
        guard interruptions > 1 else { return }
        let bound = interruptions == 2 ? Self.firstBackOff : Self.longestPause
        status.nextAttempt = now.adding(Int64(jitter % UInt64(bound + 1)))
    }

    /// A pseudorandom number for each task and attempt (SplitMix64).
    private var jitter: UInt64 {
        var mixed = status.id.number &+ UInt64(truncatingIfNeeded: status.attempt) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension Int64 {
    /// The sum, clamped to the range of the type.
    fileprivate func adding(_ other: Int64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? (other > 0 ? .max : .min) : sum
    }

    fileprivate func multiplied(by factor: Int64) -> Int64 {
        let (product, isOver) = multipliedReportingOverflow(by: factor)
        return isOver ? ((self > 0) == (factor > 0) ? .max : .min) : product
    }
}
