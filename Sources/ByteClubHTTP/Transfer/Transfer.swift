import HTTPTypes
import Synchronization

/// A task under way: everything of it that only the loop's thread touches.
///
/// One transfer spans all hops and attempts of its task. It is not Sendable; the loop creates it and drops it.
final class Transfer {
    static let liveCount = Atomic<Int>(0)

    let task: SessionTask
    var head: RequestHead
    private(set) var stage = Stage.waiting
    /// How many redirects it followed.
    var hops = 0
    /// Whether a redirect led it to another origin, from where no credential of the task's may come back.
    var hasLeftOrigin = false
    /// Which credential the request bears, where an ``Authentication`` put one on it.
    var credential: UInt64?
    /// Whether it was sent again with a new credential.
    var isReauthenticated = false
    /// Whether somebody decides about redirects, and so may want their bodies.
    let keepsRedirectBodies: Bool
    /// The code that is asked about it.
    var question: Task<Void, Never>?
    var isSuspended = false
    var suspendedAt = Moment.distantFuture
    /// Since when a slow reader holds it.
    var heldSince: Moment?
    var priority: SessionTask.Priority
    /// Its place in the queue; a turn with another number is not its.
    var ticket: UInt64 = 0
    var resourceDeadline: Moment
    let idleLimit: Duration

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
        _ task: SessionTask, head: RequestHead, configuration: SessionConfiguration, sessionThrottle: SessionThrottle,
        idle: Work, at now: Moment
    ) {
        self.task = task
        self.sessionThrottle = sessionThrottle
        work = idle
        priority = task.priority
        self.head = head
        idleLimit = task.options.timeoutForRequest ?? configuration.timeoutForRequest
        resourceDeadline = now.advanced(by: configuration.timeoutForResource)
        keepsRedirectBodies = task.inbox.asksAboutRedirects(of: task)
        Self.liveCount.add(1, ordering: .relaxed)
    }

    /// What only this transfer has, made when it is first needed.
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

    /// Whether the body is a stream of which something was sent.
    var isSpent: Bool { isSentOnce && (source?.offset ?? 0) > 0 }

    var isActive: Bool { if case .active = stage { true } else { false } }

    func enter(_ next: Stage) {
        precondition(stage.canBecome(next), "a transfer cannot go from \(stage) to \(next)")
        stage = next
    }

    /// Starts a new attempt and opens the body.
    func begin(at now: Moment) throws(UploadSource.Failure) {
        attempt = Attempt(number: attempt.number + 1, at: now)
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

    /// What the transfer is doing, as far as can be told from outside libcurl.
    var phase: TransferError.Phase {
        guard isActive, let easy = attempt.easy else { return .queue }
        if attempt.response != nil { return .receive }
        return easy.phase(
            isSecure: head.url.origin.scheme == .https,
            isSending: source.map { $0.length < 0 || attempt.sent < $0.length } ?? false)
    }
}
