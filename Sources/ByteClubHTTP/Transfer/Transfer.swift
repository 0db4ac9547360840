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
    var attempt: Attempt
    /// How many redirects it followed.
    var hops = 0
    var isSuspended = false
    var suspendedAt = Moment.distantFuture
    var resourceDeadline: Moment
    let idleLimit: Duration

    var source: UploadSource?
    var file: DownloadFile?
    var meter = ProgressMeter()
    var sendThrottle: Throttle<Moment>?
    var receiveThrottle: Throttle<Moment>?

    init(_ task: SessionTask, head: RequestHead, configuration: SessionConfiguration, at now: Moment) {
        self.task = task
        self.head = head
        idleLimit = task.options.timeoutForRequest ?? configuration.timeoutForRequest
        resourceDeadline = now.advanced(by: configuration.timeoutForResource)
        attempt = Attempt(number: 0, at: now)
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
        guard case .download = task.kind, let response = attempt.response else { return false }
        return response.status.kind == .successful
    }

    func enter(_ next: Stage) {
        precondition(stage.canBecome(next), "a transfer cannot go from \(stage) to \(next)")
        stage = next
    }

    /// Starts a new attempt and opens the body.
    func begin(at now: Moment) throws(UploadSource.Failure) {
        attempt = Attempt(number: attempt.number + 1, at: now)
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
        meter.begin(attempt: attempt.number, expectedToSend: source?.length ?? 0, at: now)
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
        error.attempt = attempt.number
        error.bytesSent = attempt.sent
        error.bytesReceived = attempt.received
        return error
    }

    /// What the transfer is doing, as far as can be told from outside libcurl.
    var phase: TransferError.Phase {
        guard isActive, let easy = attempt.easy else { return .queue }
        if attempt.response != nil { return .receive }
        return easy.phase(isSecure: head.url.origin.scheme == .https, isSending: attempt.sent < source?.length ?? 0)
    }
}
