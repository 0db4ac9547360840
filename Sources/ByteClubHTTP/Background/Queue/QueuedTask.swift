/// A task of a ``TaskQueue``, with what only the present daemon knows of it.
///
/// Times are in milliseconds since 1970.
struct QueuedTask: Sendable {
    /// Whether it is under way.
    enum Activity: Sendable, Hashable {
        case none
        case going
        /// It was told to stop.
        case stopping(Then)
    }

    /// What becomes of a task once it has stopped.
    enum Then: Sendable, Hashable {
        case pauses, waits, isCancelled, timesOut
    }

    var status: BackgroundStatus
    var activity = Activity.none
    /// Its place among all tasks, oldest first.
    let place: UInt64
    /// Its place among those that are due; nil when it is not.
    var ticket: UInt64?
    /// What was safe when the attempt began.
    var bytesBefore: Int64 = 0
    /// When it was told and saved last.
    var told: Int64 = 0
    var saved: Int64 = 0
    /// When bytes moved last while it was under way, and how long before that the time before.
    var moved: Int64 = 0
    private var pace: Int64 = 0
    /// For when an alarm is set.
    var alarm: Int64?
    /// Whether progress was made that is not told.
    var isUntold = false
    /// What the clock was set back to; times after that which the clock has not reached again count as this one.
    private var latest: Int64 = .max

    static let longestBackOff: Int64 = 5 * 60_000
    static let longestRetryAfter: Int64 = 3_600_000
    /// After daemons that die one after another: somebody may have killed each, who wants the work to go on soon.
    static let longestPause: Int64 = 1000
    private static let firstBackOff: Int64 = 500
    private static let shortestStall: Int64 = 2000
    private static let longestPace: Int64 = 30_000
    /// A daemon that dies so long after an attempt began does not die of it.
    private static let soon: Int64 = 60_000

    init(_ status: BackgroundStatus, place: UInt64) {
        self.status = status
        self.place = place
    }

    var isActive: Bool { status.state == .waiting || status.state == .running }

    /// When a waiting task may begin.
    var due: Int64 { max(status.nextAttempt ?? 0, earliestStart) }

    /// Whether another network may help a task that waits for its next attempt.
    var mayBeHurried: Bool {
        status.interruptions == 0 && status.failure?.status == nil && status.failure?.retryAfter == nil
    }

    /// When a task that is not done is given up, as it looks now.
    func deadline(at now: Int64) -> Int64 {
        let timeout = status.request.options.timeoutForResource.multiplied(by: 1000)
        return max(past(status.begun, at: now), earliestStart).adding(timeout)
    }

    /// When something is due to be done about the task by itself, as it looks now; nil for never.
    func nextTime(retention: Int64, at now: Int64) -> Int64? {
        switch (status.state, activity) {
        case (.done, _), (.failed, _): past(status.changed, at: now).adding(retention)
        case (.waiting, _): ticket == nil ? min(due, deadline(at: now)) : deadline(at: now)
        case (.running, .going), (.running, .stopping(.waits)): deadline(at: now)
        default: nil
        }
    }

    private var earliestStart: Int64 { (status.request.options.earliestStart ?? 0).multiplied(by: 1000) }

    /// When something happened, also while a clock that was set back shows an earlier time.
    ///
    /// What was noted stays as it is: the clock may be set right again.
    private func past(_ time: Int64, at now: Int64) -> Int64 { time <= now ? time : min(time, latest) }

    /// Keeps what was noted before the clock was set back from holding the task for longer than it says.
    ///
    /// - Returns: Whether that shows.
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

    /// When its rate is none any more, unless bytes move before; nil when it is 0.
    ///
    /// Work that tells of its bytes now and then only is given twice the time between.
    var stall: Int64? { status.bytesPerSecond > 0 ? moved + max(Self.shortestStall, 2 * pace) : nil }

    /// How it stands once what was asked of it is done, which a restart must not forget.
    ///
    /// An upload that must not be sent twice may have arrived until it has stopped: resuming it is not for granted then.
    func statusToSave(at now: Int64) -> BackgroundStatus {
        var task = self
        switch activity {
        case .stopping(.pauses) where status.request.isRepeatable: task.enter(.paused, at: now)
        case .stopping(.isCancelled): task.cancel(at: now)
        default: break
        }
        return task.status
    }

    /// Begins its time anew.
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
        let last = failure.map { "; the last attempt: \($0.message)" } ?? ""
        let code = TransferError.Code.timedOut.description
        fail(BackgroundFailure(code: code, message: "it was not done within \(seconds) s\(last)"), at: now)
    }

    mutating func cancel(at now: Int64) {
        fail(BackgroundFailure(code: TransferError.Code.cancelled.description, message: "it was cancelled"), at: now)
        status.bytes = 0
    }

    /// Has the task try again: after a random time below 0.5 s, doubled with each failure since the last attempt that
    /// moved something, and not before the server wants it.
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

    /// Has what ran when the last daemon died go on: at once, but after a random time when one after another dies, which
    /// it may be the reason for.
    mutating func goOn(at now: Int64) {
        let isSoon = now < status.changed.adding(Self.soon)
        let interruptions = isSoon ? min(status.interruptions, 1 << 20) + 1 : 1
        enter(.waiting, at: now)
        status.interruptions = interruptions
        guard interruptions > 1 else { return }
        let bound = interruptions == 2 ? Self.firstBackOff : Self.longestPause
        status.nextAttempt = now.adding(Int64(jitter % UInt64(bound + 1)))
    }

    /// Another number for each task and attempt (SplitMix64).
    private var jitter: UInt64 {
        var mixed = status.id.number &+ UInt64(truncatingIfNeeded: status.attempt) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension Int64 {
    /// The sum, or the nearest number to it that there is.
    fileprivate func adding(_ other: Int64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? (other > 0 ? .max : .min) : sum
    }

    fileprivate func multiplied(by factor: Int64) -> Int64 {
        let (product, isOver) = multipliedReportingOverflow(by: factor)
        return isOver ? ((self > 0) == (factor > 0) ? .max : .min) : product
    }
}
