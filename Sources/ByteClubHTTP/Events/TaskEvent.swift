public import HTTPTypes

/// What happens to a task, in the order in which it happens.
public enum TaskEvent: Sendable {
    /// The task was made.
    case created
    /// ``SessionTask/resume()`` let it run.
    case resumed
    /// ``SessionTask/suspend()`` holds it; what was under way already may still be told.
    case suspended
    /// A request is about to be sent, for a first or further attempt or after a redirect.
    ///
    /// - Parameters:
    ///   - number: Which attempt, from 1; a redirect's hops share one.
    ///   - url: The address without its query.
    case attemptStarted(number: Int, url: String)
    /// The head of a response is there, be it the last one or not.
    case responseReceived(HTTPResponse)
    /// A redirect is followed.
    ///
    /// - Parameters:
    ///   - response: The redirecting response.
    ///   - url: Where it leads, without its query.
    case redirected(HTTPResponse, url: String)
    /// The request will be sent again.
    case retryScheduled(after: Duration, reason: RetryReason)
    /// Bytes moved. Only the newest counters since the event before are told.
    case progress(TaskProgress)
    /// The task has its result; nothing follows.
    case finished(Result<TaskResult, TransferError>)
}

/// Sees what happens to all tasks of a session.
///
/// It is called off the session's thread, one event after the other, those of one task in their order. It may take its
/// time: the session does not wait for it. Meanwhile events gather, none is lost, but of progress only the newest
/// counters are kept. A task's result may be known to others before the monitor hears of it.
public protocol EventMonitor: Sendable {
    /// Takes one event.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - task: To which task.
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
