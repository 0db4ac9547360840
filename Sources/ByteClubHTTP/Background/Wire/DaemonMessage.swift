import HTTPTypes

/// What a client asks a daemon; each call has one answer.
indirect enum DaemonCall: Sendable, Hashable {
    /// First of all: the version of these messages.
    case hello(version: Int64)
    /// Takes a session's identifier until the connection ends; its events follow, then ``DaemonEvent/caughtUp``.
    case attach(identifier: String)
    /// Records work. One whose ID is known already is answered as it stands: the call may be repeated.
    case submit(identifier: String, [Submission])
    case list
    case change([BackgroundTask.ID], BackgroundChange)
    /// These ends were taken; their tasks are forgotten, unless they ended again since.
    case acknowledge([TakenEnd])
    /// All tasks as events, then ``DaemonEvent/caughtUp``, then each change.
    case watch
    case schedule
    case setSchedule(RateSchedule)
    /// Makes a request over the daemon's connections, for a program that would have to make one first.
    case relay(RelayedRequest)
    case stop
}

/// An end that somebody was told: the status's sequence tells it from another end of the task.
struct TakenEnd: Sendable, Hashable {
    var id: BackgroundTask.ID
    var sequence: UInt64
}

struct Submission: Sendable, Hashable {
    var id: BackgroundTask.ID
    var request: BackgroundRequest
}

/// What a daemon answers.
indirect enum DaemonAnswer: Sendable, Hashable {
    case hello(version: Int64, process: Int32)
    case done
    case tasks([BackgroundStatus])
    /// The first of more tasks than one frame holds; the rest follows as further answers, the last being ``tasks(_:)``.
    case firstTasks([BackgroundStatus])
    case schedule(RateSchedule)
    case relayed(RelayedResponse)
    /// A code of ``TransferError`` by its name, and a line for people.
    case refused(code: String, message: String)
}

/// What a daemon tells unasked, after ``DaemonCall/attach(identifier:)`` or ``DaemonCall/watch``.
indirect enum DaemonEvent: Sendable, Hashable {
    case status(BackgroundStatus)
    /// A task was forgotten.
    case gone(BackgroundTask.ID)
    case caughtUp
}

/// One frame's content, after its length in four bytes, least first.
indirect enum DaemonFrame: Sendable, Hashable {
    case call(number: UInt64, DaemonCall)
    case answer(number: UInt64, DaemonAnswer)
    case event(DaemonEvent)

    /// The version of these messages.
    static let version: Int64 = 2
    /// The longest frame.
    static let limit = 16 << 20
}

/// A GET or HEAD without a body that a daemon makes for a program that waits; nothing of it is recorded.
struct RelayedRequest: Sendable, Hashable {
    var request: HTTPRequest
    /// In milliseconds.
    var timeoutForRequest: Int64
    var maximumResponseBytes: Int64
    var certificateAuthorityFile: String?
    var pinnedKeys: Set<PublicKeyPin>
}

struct RelayedResponse: Sendable, Hashable {
    var response: HTTPResponse
    var bytes: [UInt8]
}
