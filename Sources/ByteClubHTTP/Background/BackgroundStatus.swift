/// The status of a background task.
public struct BackgroundStatus: Sendable, Hashable, Identifiable {
    /// The states of a background task.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Waits for its turn, its time, the network, or the next attempt.
        case waiting
        /// Runs now.
        case running
        /// Paused until it is resumed.
        case paused
        /// Done.
        case done
        /// Failed, with ``BackgroundStatus/failure``; it can be resumed, which restarts its time limit.
        case failed
    }

    /// The task.
    public var id: BackgroundTask.ID

    /// The identifier of the session it belongs to.
    public var identifier: String

    /// The work.
    public var request: BackgroundRequest

    /// The current priority.
    public var priority: SessionTask.Priority

    /// The state.
    public var state: State

    /// The body bytes that need not be transferred again: safe on the server, or on this machine's disk.
    public var bytes: Int64 = 0

    /// The length of the whole body; nil while it is unknown.
    public var total: Int64?

    /// The current rate; 0 while no bytes are transferred.
    public var bytesPerSecond: Double = 0

    /// The number of the current attempt, from 1; 0 before the first.
    public var attempt = 0

    /// When the task was recorded, in milliseconds since 1970.
    public var created: Int64

    /// When the state changed last, in milliseconds since 1970.
    public var changed: Int64

    /// When the next attempt is due, in milliseconds since 1970; nil unless it waits for one.
    public var nextAttempt: Int64?

    /// The failure of the last attempt or of the task; nil after a success.
    public var failure: BackgroundFailure?

    /// Why a waiting task must not use the present network; nil if it may.
    public var obstacle: NetworkConditions.Obstacle?

    /// The result of a task that is done.
    public var result: BackgroundResult?

    /// Grows with each change of any of the daemon's tasks, also over restarts of the daemon.
    public var sequence: UInt64 = 0

    /// When the task's time limit began: when it was recorded or resumed last, in milliseconds since 1970.
    var begun: Int64

    /// How many attempts have failed since the last one that made progress.
    var failuresInRow = 0

    /// How many daemons in a row died soon after they began or continued the current attempt.
    var interruptions = 0

    /// Whether the task is done or has failed.
    public var isFinished: Bool { state == .done || state == .failed }

    /// A task that was just recorded.
    init(_ id: BackgroundTask.ID, _ identifier: String, _ request: BackgroundRequest, at now: Int64) {
        self.id = id
        self.identifier = identifier
        self.request = request
        priority = request.options.priority
        state = .waiting
        created = now
        changed = now
        begun = now
    }
}

/// The result of a background task.
public struct BackgroundResult: Sendable, Hashable {
    /// The response's status; nil for custom work.
    public var status: Int?
    /// The file with the body, for a download.
    public var file: String?
    /// The first 64 KiB of an upload's response body, or at most 1 MiB from ``BackgroundWork``.
    public var bytes: [UInt8]

    /// A result.
    public init(status: Int? = nil, file: String? = nil, bytes: [UInt8] = []) {
        self.status = status
        self.file = file
        self.bytes = bytes
    }
}

/// Why a background task or one of its attempts failed.
public struct BackgroundFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of a ``TransferError/Code``, or one of the ``BackgroundWork``'s own.
    public var code: String
    /// One line for people, without secrets.
    public var message: String
    /// The response's status if it is the reason.
    public var status: Int?
    /// Whether another attempt may succeed.
    public var isRetryable: Bool
    /// How many seconds the server asks clients to wait (`Retry-After`).
    public var retryAfter: Int64?

    /// A failure.
    public init(
        code: String, message: String, status: Int? = nil, isRetryable: Bool = false, retryAfter: Int64? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
    }

    /// The message.
    public var description: String { message }
}

/// A change of a recorded task.
public enum BackgroundChange: Sendable, Hashable {
    /// Pauses it; transferred bytes are kept.
    case pause
    /// Continues a paused or failed task; one that waits for its next attempt makes it at once.
    case resume
    /// Ends it as ``BackgroundStatus/State/failed`` with the code `cancelled`; transferred bytes are removed.
    case cancel
    /// Makes it more or less urgent.
    case prioritize(SessionTask.Priority)
    /// Removes a finished task.
    case forget
}
