public import HTTPTypes

/// The events of a task, in their order.
public enum TaskEvent: Sendable {
    /// The task was created.
    case created
    /// ``SessionTask/resume()`` was called.
    case resumed
    /// ``SessionTask/suspend()`` was called; events already under way may still follow.
    case suspended
    /// A request is about to be sent, for a first or further attempt or after a redirect.
    ///
    /// - Parameters:
    ///   - number: The attempt, from 1; all hops of a redirect share one.
    ///   - url: The address without its query.
    case attemptStarted(number: Int, url: String)
    /// The head of a response was received, whether or not it is the final one.
    case responseReceived(HTTPResponse)
    /// A download whose rest was requested continues; it follows the head of the response.
    ///
    /// - Parameters:
    ///   - at: The length of the part that is kept; 0 if the server sends the whole file again, for example since it
    ///     has changed.
    ///   - expected: The length of the whole file, or -1.
    case downloadResumed(at: Int64, expected: Int64)
    /// A redirect is followed.
    ///
    /// - Parameters:
    ///   - response: The redirecting response.
    ///   - url: The target without its query.
    case redirected(HTTPResponse, url: String)
    /// There is no network, or none that the task may use; the request is sent when there is one.
    ///
    /// It is reported once for each wait; see ``SessionConfiguration/waitsForConnectivity`` and
    /// ``SessionConfiguration/allowsMetered``.
    case waitingForConnectivity
    /// The request will be sent again.
    case retryScheduled(after: Duration, reason: RetryReason)
    /// Bytes moved. Only the newest counters since the previous event are reported.
    case progress(TaskProgress)
    /// The task has its result; nothing follows.
    case finished(Result<TaskResult, TransferError>)
}

/// Observes all tasks of a session.
///
/// It is called off the session's thread, one event at a time, in order for each task. The session does not wait for a
/// slow monitor: events are queued, and progress is reduced to the newest counters. Others may see a task's result
/// before the monitor does.
public protocol EventMonitor: Sendable {
    /// Receives one event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - task: The task.
    func receive(_ event: TaskEvent, of task: SessionTask) async

    /// The session has ended; nothing follows.
    ///
    /// - Parameter name: The session's name.
    func sessionEnded(_ name: String) async
}

extension EventMonitor {
    /// Does nothing.
    ///
    /// - Parameter name: The session's name.
    public func sessionEnded(_ name: String) async {}
}
