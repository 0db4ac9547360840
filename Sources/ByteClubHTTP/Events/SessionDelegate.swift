public import HTTPTypes

/// Callbacks in the manner of URLSession, next to async and await.
///
/// All callbacks of a session come one after the other, off the session's thread; the next waits until one returns,
/// while the transfers go on. For each task they come in this order:
///
/// 1. for every attempt: `didSendBodyData` as often as bytes were sent, then `didReceive response`; of a download, then
///    `didWriteData` as often as bytes were written (a server that answers before it has the whole body may mix these);
/// 2. between two of them, `willFollow` for a redirect, or `willRetry`;
/// 3. `didReceive data` with the whole body, where it is held in memory and is not empty, or `didFinishDownloadingTo`;
/// 4. `didCompleteWith`, exactly once; nothing follows.
///
/// A response that is followed by a redirect or by another attempt is not told unless its body had begun to come.
/// After the callbacks of all tasks `sessionDidBecomeInvalid` comes once, and the delegate is let go. All have a default
/// that does nothing.
public protocol SessionDelegate: Sendable {
    /// Asks about a redirect; only where the task's policy has no handler of its own. The default follows.
    ///
    /// - Parameters:
    ///   - task: The task that was redirected.
    ///   - redirect: The response, and the request that would follow.
    /// - Returns: What to do; without an effect if the task was cancelled meanwhile.
    func task(_ task: SessionTask, willFollow redirect: Redirect) async -> RedirectDecision

    /// The request will be sent again, and all counters begin anew.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - delay: How long the session waits before.
    ///   - reason: Why.
    func task(_ task: SessionTask, willRetryAfter delay: Duration, because reason: RetryReason) async

    /// Bytes of the body were handed to the network.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - count: How many since the last callback.
    ///   - total: How many in this attempt.
    ///   - expected: The length of the body, or -1.
    func task(_ task: SessionTask, didSendBodyData count: Int64, total: Int64, expected: Int64) async

    /// The head of the response is there.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - response: The response, of any status.
    func task(_ task: SessionTask, didReceive response: HTTPResponse) async

    /// The body is there, all of it.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - data: The body.
    func task(_ task: SessionTask, didReceive data: [UInt8]) async

    /// Bytes of a download were received.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - count: How many since the last callback.
    ///   - total: How many in this attempt.
    ///   - expected: The length of the body, or -1.
    func task(_ task: SessionTask, didWriteData count: Int64, total: Int64, expected: Int64) async

    /// The file of a download is whole and under its name. It is the caller's: nothing removes it.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - path: The file.
    func task(_ task: SessionTask, didFinishDownloadingTo path: String) async

    /// Where the time went is known; right before the end of the task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - metrics: Each attempt with its parts.
    func task(_ task: SessionTask, didFinishCollecting metrics: TaskMetrics) async

    /// The task is over.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - error: Why there is no result; nil when there is one, whatever the status.
    func task(_ task: SessionTask, didCompleteWith error: TransferError?) async

    /// The session has ended; nothing follows.
    ///
    /// - Parameter name: The session's name.
    func sessionDidBecomeInvalid(_ name: String) async
}

extension SessionDelegate {
    /// Follows.
    ///
    /// - Parameters:
    ///   - task: The task that was redirected.
    ///   - redirect: The response, and the request that would follow.
    /// - Returns: To follow.
    public func task(_ task: SessionTask, willFollow redirect: Redirect) async -> RedirectDecision { .follow }

    /// Does nothing.
    public func task(_ task: SessionTask, willRetryAfter delay: Duration, because reason: RetryReason) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didSendBodyData count: Int64, total: Int64, expected: Int64) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didReceive response: HTTPResponse) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didReceive data: [UInt8]) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didWriteData count: Int64, total: Int64, expected: Int64) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didFinishDownloadingTo path: String) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didFinishCollecting metrics: TaskMetrics) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didCompleteWith error: TransferError?) async {}

    /// Does nothing.
    public func sessionDidBecomeInvalid(_ name: String) async {}
}
