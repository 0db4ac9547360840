import HTTPTypes
import Synchronization

/// A task under way: everything of it that only the loop's thread touches.
///
/// One transfer spans all hops and attempts of its task. It is not Sendable; the loop creates it and drops it.
final class Transfer {
    enum Stage {
        /// In its origin's queue.
        case waiting
        /// In the multi handle.
        case active
        /// Out of the multi handle; what follows is being decided.
        case retired
        /// Waiting for the next attempt.
        case delayed(until: Moment)
        /// Its turn came while it was suspended; it queues again when resumed.
        case parked
        /// Its result is given.
        case finished
    }

    static let liveCount = Atomic<Int>(0)

    let task: SessionTask
    var head: RequestHead
    var stage = Stage.waiting
    var easy: EasyHandle?
    /// The origin whose turn is used while the stage is active.
    var hops = 0
    var attempt = 0
    /// How often libcurl itself sent the body again on another connection.
    var replays = 0
    var isSuspended = false
    var suspendedAt = Moment.distantFuture
    var resourceDeadline: Moment
    var idleLimit: Duration
    var lastActivity: Moment

    var source: UploadSource?
    var file: DownloadFile?
    var bytes: [UInt8] = []
    var discarded = 0
    /// How long the heads of the responses to this attempt are so far.
    var headBytes = 0
    /// The most bytes that this response's body may have; nil for no limit, and before the head is whole.
    var bodyLimit: Int64?
    var parser = ResponseParser()
    var meter = ProgressMeter()
    var sent: Int64 = 0
    var received: Int64 = 0
    /// What a callback found wrong; beats libcurl's own code.
    var failure: TransferError?

    var sendThrottle: Throttle<Moment>?
    var receiveThrottle: Throttle<Moment>?
    /// When to unpause libcurl, while the rate limit holds it.
    var throttledUntil: Moment?

    init(_ task: SessionTask, head: RequestHead, configuration: SessionConfiguration, at now: Moment) {
        self.task = task
        self.head = head
        idleLimit = task.options.timeoutForRequest ?? configuration.timeoutForRequest
        resourceDeadline = now.advanced(by: configuration.timeoutForResource)
        lastActivity = now
        if let rate = task.options.rateLimit {
            sendThrottle = Throttle(rate: rate, at: now)
            receiveThrottle = Throttle(rate: rate, at: now)
        }
        Self.liveCount.add(1, ordering: .relaxed)
    }

    deinit { Self.liveCount.subtract(1, ordering: .relaxed) }

    /// Whether sending the request again does no harm.
    var mayRepeat: Bool {
        head.isIdempotent || task.options.isIdempotent || task.options.idempotencyKey != nil
    }

    var isActive: Bool { if case .active = stage { true } else { false } }

    /// Whether a body of the response seen so far goes to the task's file.
    var goesToFile: Bool {
        guard case .download = task.kind, let response = parser.response else { return false }
        return response.status.kind == .successful
    }

    /// Clears what the last attempt left and opens the body.
    func begin(at now: Moment) throws(UploadSource.Failure) {
        attempt += 1
        replays = 0
        lastActivity = now
        parser = ResponseParser()
        bytes = []
        discarded = 0
        headBytes = 0
        bodyLimit = nil
        failure = nil
        throttledUntil = nil
        sent = 0
        received = 0
        if head.hasBody {
            if let source {
                _ = source.seek(to: 0)
                try source.verify()
            } else {
                source = try UploadSource(task.body)
            }
        } else {
            source = nil
        }
        do { try file?.truncate() } catch { file = nil }
        meter.begin(attempt: attempt, expectedToSend: source?.length ?? 0, at: now)
    }

    /// The file a download goes to, made when first needed.
    func openFile(_ path: String) throws(DownloadFile.Failure) -> DownloadFile {
        if let file { return file }
        let file = try DownloadFile(path: path)
        self.file = file
        return file
    }

    func error(_ code: TransferError.Code, _ message: String, phase: TransferError.Phase, errno: Int32 = 0)
        -> TransferError
    {
        var error = TransferError(code, message, phase: phase, url: head.url.redacted)
        error.errno = errno
        error.attempt = attempt
        error.bytesSent = sent
        error.bytesReceived = received
        return error
    }

    /// What the transfer is doing, as far as can be told from outside libcurl.
    var phase: TransferError.Phase {
        guard isActive, let easy else { return .queue }
        if parser.response != nil { return .receive }
        return easy.phase(isSecure: head.url.origin.scheme == .https, isSending: sent < source?.length ?? 0)
    }
}
