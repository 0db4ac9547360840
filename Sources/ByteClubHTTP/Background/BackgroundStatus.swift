/// How a background task stands.
public struct BackgroundStatus: Sendable, Hashable, Identifiable {
    /// The states of a background task.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// For its turn, its time, the network, or the next attempt.
        case waiting
        /// Bytes move.
        case running
        /// Held by somebody until it is resumed.
        case paused
        /// The work is done.
        case done
        /// It was given up: see ``BackgroundStatus/failure``; it can be resumed, which begins its time anew.
        case failed
    }

    /// Which task.
    public var id: BackgroundTask.ID

    /// The identifier of the session it belongs to.
    public var identifier: String

    /// What it is to do.
    public var request: BackgroundRequest

    /// How urgent it is now.
    public var priority: SessionTask.Priority

    /// Where it stands.
    public var state: State

    /// Body bytes that are safe on the other side, or on this one's disk: what need not be moved again.
    public var bytes: Int64 = 0

    /// How many there will be in all; nil while that is unknown.
    public var total: Int64?

    /// The present rate, 0 while nothing moves.
    public var bytesPerSecond: Double = 0

    /// Which attempt this is, from 1; 0 before the first.
    public var attempt = 0

    /// When it was recorded, in milliseconds since 1970.
    public var created: Int64

    /// When its state changed last, in milliseconds since 1970.
    public var changed: Int64

    /// When the next attempt is due, in milliseconds since 1970; nil unless it waits for one.
    public var nextAttempt: Int64?

    /// What the last attempt failed with, or why the task was given up; nil when nothing went wrong.
    public var failure: BackgroundFailure?

    /// What it brought; there when it is done.
    public var result: BackgroundResult?

    /// Grows with each change of any task of the daemon, also over its restarts.
    public var sequence: UInt64 = 0

    /// When it was recorded, or resumed last, in milliseconds since 1970: what its time counts from.
    var begun: Int64

    /// How many attempts failed since the last one that moved anything.
    var failuresInRow = 0

    /// How many daemons died in a row soon after they began, or went on with, the present attempt.
    var interruptions = 0

    /// Whether it ended, either way.
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

/// What a background task brought back.
public struct BackgroundResult: Sendable, Hashable {
    /// The response's status; nil for work that is not one request.
    public var status: Int?
    /// The file with the body, for a download.
    public var file: String?
    /// The response's body for an upload, at most 64 KiB of it, or what ``BackgroundWork`` returned, at most 1 MiB.
    public var bytes: [UInt8]

    /// A result.
    public init(status: Int? = nil, file: String? = nil, bytes: [UInt8] = []) {
        self.status = status
        self.file = file
        self.bytes = bytes
    }
}

/// Why a background task did not do its work.
public struct BackgroundFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of a ``TransferError/Code``, or one of the ``BackgroundWork``'s own.
    public var code: String
    /// One line for people, without secrets.
    public var message: String
    /// The response's status, where one was the reason.
    public var status: Int?
    /// Whether trying again may help.
    public var isRetryable: Bool
    /// How many seconds the server wants to be left alone, where it said so.
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

/// What can be asked of a task that is recorded.
public enum BackgroundChange: Sendable, Hashable {
    /// Holds it; what was moved is kept.
    case pause
    /// Lets a held, or failed, task go on; one that waits for its next attempt makes it at once.
    case resume
    /// Gives it up as ``BackgroundStatus/State/failed`` with the code `cancelled`; what was moved is dropped.
    case cancel
    /// Makes it more or less urgent.
    case prioritize(SessionTask.Priority)
    /// Forgets a finished task, so that it is told no more.
    case forget
}
