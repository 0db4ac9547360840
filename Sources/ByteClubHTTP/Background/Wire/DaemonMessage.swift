import HTTPTypes

/// A client's call to a daemon; each one is answered.
indirect enum DaemonCall: Sendable, Hashable {
    /// The first call, with the version of these messages.
    case hello(version: Int64)
    /// Reserves a session's identifier until the connection ends; the status of each of its tasks follows, then
    /// ``DaemonEvent/caughtUp``, then each change. The command replaces the recorded one, or removes it when nil.
    case attach(identifier: String, relaunch: BackgroundRelaunch? = nil)
    /// Records work. A task whose ID is recorded already stays as it is, so the call may be repeated.
    case submit(identifier: String, [Submission])
    case list
    case change([BackgroundTask.ID], BackgroundChange)
    /// Forgets the tasks whose ends the client has taken, unless they have ended again since.
    case acknowledge([TakenEnd])
    /// The same events as ``attach(identifier:relaunch:)``, of all tasks.
    case watch
    case schedule
    case setSchedule(RateSchedule)
    /// Makes a request over the daemon's connections.
    case relay(RelayedRequest)
    case stop
}

/// An end that a client has taken; the status's sequence distinguishes it from a later end of the task.
struct TakenEnd: Sendable, Hashable {
    var id: BackgroundTask.ID
    var sequence: UInt64
}

struct Submission: Sendable, Hashable {
    var id: BackgroundTask.ID
    var request: BackgroundRequest
}

/// A daemon's answer to a call.
indirect enum DaemonAnswer: Sendable, Hashable {
    case hello(version: Int64, process: Int32)
    case done
    case tasks([BackgroundStatus])
    /// Part of an answer that is longer than one frame; further answers follow, the last one ``tasks(_:)``.
    case firstTasks([BackgroundStatus])
    case schedule(RateSchedule)
    case relayed(RelayedResponse)
    /// The name of a ``TransferError`` code, and a line for people.
    case refused(code: String, message: String)
}

/// A message that answers no call, after ``DaemonCall/attach(identifier:relaunch:)`` or ``DaemonCall/watch``.
indirect enum DaemonEvent: Sendable, Hashable {
    case status(BackgroundStatus)
    /// A task was forgotten.
    case gone(BackgroundTask.ID)
    case caughtUp
}

/// The content of one frame, which follows its length in four bytes, the least significant first.
indirect enum DaemonFrame: Sendable, Hashable {
    case call(number: UInt64, DaemonCall)
    case answer(number: UInt64, DaemonAnswer)
    case event(DaemonEvent)

    /// The version of these messages.
    static let version: Int64 = 3
    /// The longest content of a frame, in bytes.
    static let limit = 16 << 20
}

/// A GET or HEAD without a body that a daemon makes for a waiting program and does not record.
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
