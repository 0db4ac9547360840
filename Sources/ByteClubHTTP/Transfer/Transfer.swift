import HTTPTypes
import Synchronization

/// A running task: all its state that only the loop's thread uses.
///
/// One transfer spans all hops and attempts of its task. It is not Sendable; the loop creates and releases it.
final class Transfer {
    static let liveCount = Atomic<Int>(0)

    let task: SessionTask
    var head: RequestHead
    private(set) var stage = Stage.waiting
    /// The number of redirects followed.
    var hops = 0
    /// Whether a redirect led to another origin; the task's credentials are not sent from then on.
    var hasLeftOrigin = false
    /// The number of the request's credential, if an ``Authentication`` added one.
    var credential: UInt64?
    /// How often it was sent again with a new credential.
    var renewals: UInt8 = 0
    /// Whether user code decides about redirects and so may need their bodies.
    let keepsRedirectBodies: Bool
    /// The running question to user code.
    var question: Task<Void, Never>?
    var isSuspended = false
    /// Why it waits for other conditions of the network; nil if it does not.
    var obstacle: NetworkConditions.Obstacle?
    var suspendedAt = Moment.distantFuture
    /// Since when it waits for a slow reader.
    var heldSince: Moment?
    var priority: SessionTask.Priority
    /// Its ticket in the queue; entries with another ticket are outdated.
    var ticket: UInt64 = 0
    var resourceDeadline: Moment
    let idleLimit: Duration
    /// The conditions that the task requires.
    let rules: NetworkRules

    var source: UploadSource?
    var file: DownloadFile?
    var hasTakenResumeData = false
    let sessionThrottle: SessionThrottle
    var metrics = TaskMetrics()
    var notedHops = 0
    var queuedSince = Moment.fine
    private(set) var work: Work
    private var isUnderWay = false

    init(
        _ task: SessionTask, head: RequestHead, defaults: Defaults, sessionThrottle: SessionThrottle, idle: Work,
        at now: Moment
    ) {
        self.task = task
        self.sessionThrottle = sessionThrottle
        work = idle
        priority = task.priority
        self.head = head
        idleLimit = task.options.timeoutForRequest ?? defaults.idleLimit
        rules = defaults.rules?.overridden(by: task.options) ?? NetworkRules()
        resourceDeadline = now.advanced(by: defaults.resourceLimit)
        keepsRedirectBodies = defaults.keepsRedirectBodies || task.options.policy.redirectHandler != nil
        Self.liveCount.add(1, ordering: .relaxed)
    }

    /// The transfer's own state, created when it is first needed.
    var underWay: Work {
        if !isUnderWay {
            work = Work(rate: task.options.rateLimit, at: .now)
            isUnderWay = true
        }
        return work
    }

    deinit { Self.liveCount.subtract(1, ordering: .relaxed) }

    /// Whether sending the request again does no harm.
    var mayRepeat: Bool {
        if isSentOnce { return false }
        return head.isIdempotent || task.options.isIdempotent || task.options.idempotencyKey != nil
    }

    /// Whether the body is a stream, which cannot be sent a second time.
    private var isSentOnce: Bool { if head.hasBody, case .stream = task.body { true } else { false } }

    /// Whether the body is a stream that was partly sent.
    var isSpent: Bool { isSentOnce && (source?.offset ?? 0) > 0 }

    var isActive: Bool { if case .active = stage { true } else { false } }

    func enter(_ next: Stage) {
        precondition(stage.canBecome(next), "a transfer cannot go from \(stage) to \(next)")
        stage = next
    }

    /// Starts a new attempt and opens the body.
    func begin(at now: Moment) throws(UploadSource.Failure) {
        underWay.attempt = Attempt(number: attempt.number + 1, at: now)
        if head.hasBody {
            if let source {
                guard source.seek(to: 0) else {
                    throw UploadSource.Failure(code: .bodyFailed, message: "a streamed body cannot be sent again")
                }
                try source.verify()
            } else {
                source = try UploadSource(task.body) { [inbox = task.inbox, task] in
                    _ = inbox.post(.sendMore(task))
                }
            }
        } else {
            source = nil
        }
        beginPart()
        meter.begin(attempt: attempt.number, expectedToSend: source?.length ?? 0, at: now)
    }

    /// Releases the bodies, so that the result holds the only copy of the received one.
    func releaseBodies() {
        source = nil
        if isUnderWay { attempt.bytes = [] }
    }

    func error(_ code: TransferError.Code, _ message: String, phase: TransferError.Phase, errno: Int32 = 0)
        -> TransferError
    {
        var error = TransferError(code, message, phase: phase, url: head.url.redacted)
        error.errno = errno
        error.attempt = attempt.number
        error.bytesSent = attempt.sent
        error.bytesReceived = attempt.received
        return error
    }

    /// The transfer's phase, as far as it is visible from outside libcurl.
    var phase: TransferError.Phase {
        guard isActive, let easy = attempt.easy else { return .queue }
        if attempt.response != nil { return .receive }
        return easy.phase(
            isSecure: head.url.origin.scheme == .https,
            isSending: source.map { $0.length < 0 || attempt.sent < $0.length } ?? false)
    }
}

extension Transfer {
    /// The settings of a session that each of its transfers needs from the start, in a form that is cheap to copy.
    struct Defaults {
        let idleLimit: Duration
        let resourceLimit: Duration
        /// Nil if the requests use no network.
        let rules: NetworkRules?
        let keepsRedirectBodies: Bool

        init(_ inbox: Inbox) {
            let configuration = inbox.configuration
            idleLimit = configuration.timeoutForRequest
            resourceLimit = configuration.timeoutForResource
            rules = NetworkRules(configuration)
            keepsRedirectBodies = inbox.events.hasDelegate || configuration.policy.redirectHandler != nil
        }
    }

    /// The stage of a transfer.
    enum Stage {
        /// In its origin's queue.
        case waiting
        /// In the multi handle, occupying a slot of its origin.
        case active
        /// Out of the multi handle; the next step is being decided.
        case retired
        /// Waiting for the next attempt.
        case delayed(until: Moment)
        /// Admitted while it was suspended, or must not use the network; it is queued again when that has changed.
        case parked
        /// Waiting for user code to decide the next step.
        case asking
        /// Completed with a result.
        case finished

        func canBecome(_ next: Stage) -> Bool {
            switch (self, next) {
            case (.waiting, .active), (.waiting, .parked), (.active, .retired), (.retired, .delayed): true
            case (.retired, .waiting), (.delayed, .waiting), (.parked, .waiting): true
            case (.waiting, .asking), (.retired, .asking), (.delayed, .asking), (.asking, .waiting): true
            case (.asking, .delayed), (.asking, .asking), (.asking, .finished): true
            // Earlier, since the network has changed.
            case (.delayed, .delayed): true
            // A transfer leaves the multi handle before its result is given.
            case (.waiting, .finished), (.retired, .finished), (.delayed, .finished), (.parked, .finished): true
            default: false
            }
        }
    }
}
