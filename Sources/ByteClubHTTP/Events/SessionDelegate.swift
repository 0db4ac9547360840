public import HTTPTypes

/// Callbacks in the style of URLSession, in addition to the async functions.
///
/// The callbacks of a session run one at a time, off the session's thread; transfers continue meanwhile. They run where
/// the delegate's methods are isolated, if it is an actor or its class has a global actor such as `@MainActor`, and
/// otherwise on ``taskExecutor``. Their order for each task:
///
/// 1. for each attempt: `didSendBodyData` whenever bytes were sent, then `didReceive response`; for a download then
///    `didResumeAt` if its rest was requested, and `didWriteData` whenever bytes were written (a server that responds
///    early may mix these);
/// 2. between attempts: `willFollow` for a redirect, `didReceive challenge`, `willRetry`, or
///    `taskIsWaitingForConnectivity`;
/// 3. `didReceive data` with the whole body, if it is in memory and not empty, or repeatedly with
///    ``TaskOptions/deliversPieces``; or `didFinishDownloadingTo`;
/// 4. `didCompleteWith`, exactly once; nothing follows.
///
/// A response followed by a redirect or another attempt is not reported unless its body had started to arrive. After
/// the callbacks of all tasks, `sessionDidBecomeInvalid` is called once, and the delegate is released. All callbacks
/// have a default that does nothing.
public protocol SessionDelegate: Sendable {
    /// The executor of callbacks that no actor isolates; nil, the default, for that of the Swift runtime.
    ///
    /// It is read once, when the session is created, and retained until the session is released.
    var taskExecutor: (any TaskExecutor)? { get }

    /// Decides about a redirect; called only if the task's policy has no handler. The default follows it.
    ///
    /// - Parameters:
    ///   - task: The task that was redirected.
    ///   - redirect: The response, and the request that would follow.
    /// - Returns: The decision; without effect if the task was cancelled meanwhile.
    func task(_ task: SessionTask, willFollow redirect: Redirect) async -> RedirectDecision

    /// Decides about a challenge; called only if the task's policy has no handler. The default gives no answer.
    ///
    /// The decision applies to all tasks that wait for it; see ``RequestPolicy/challengeHandler``.
    ///
    /// - Parameters:
    ///   - task: The task that was challenged first, of those that wait.
    ///   - challenge: The server's or proxy's challenge.
    /// - Returns: The decision.
    func task(_ task: SessionTask, didReceive challenge: AuthenticationChallenge) async -> ChallengeDecision

    /// The request will be sent again, and all counters start from zero.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - delay: The delay before the next attempt.
    ///   - reason: The reason for the retry.
    func task(_ task: SessionTask, willRetryAfter delay: Duration, because reason: RetryReason) async

    /// There is no network, or none that the task may use; the request is sent when there is one.
    ///
    /// It is called once for each wait, and only with ``SessionConfiguration/waitsForConnectivity`` or
    /// ``SessionConfiguration/isDiscretionary``.
    ///
    /// - Parameter task: The task.
    func taskIsWaitingForConnectivity(_ task: SessionTask) async

    /// Bytes of the body were handed to the network.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - count: How many since the last callback.
    ///   - total: How many in this attempt.
    ///   - expected: The length of the body, or -1.
    func task(_ task: SessionTask, didSendBodyData count: Int64, total: Int64, expected: Int64) async

    /// The head of the response was received.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - response: The response, of any status.
    func task(_ task: SessionTask, didReceive response: HTTPResponse) async

    /// The whole body was received or, with ``TaskOptions/deliversPieces``, a piece of it.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - data: The body, or the piece after the previous one; never empty.
    func task(_ task: SessionTask, didReceive data: [UInt8]) async

    /// A download whose rest was requested continues: one with ``ResumeData``, or one whose connection was lost.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - offset: The length of the part that is kept; 0 if the server sends the whole file again, for example since
    ///     it has changed.
    ///   - expected: The length of the whole file, or -1.
    func task(_ task: SessionTask, didResumeAt offset: Int64, expected: Int64) async

    /// Bytes of a download were received.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - count: How many since the last callback, or since the start of the attempt; without a part kept from before.
    ///   - total: How many the file has, a part kept from before included.
    ///   - expected: The length of the whole file, or -1.
    func task(_ task: SessionTask, didWriteData count: Int64, total: Int64, expected: Int64) async

    /// The file of a download is complete and has its name. The caller owns it.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - path: The file.
    func task(_ task: SessionTask, didFinishDownloadingTo path: String) async

    /// Metrics were collected; called directly before the end of the task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - metrics: All attempts with their phases.
    func task(_ task: SessionTask, didFinishCollecting metrics: TaskMetrics) async

    /// The task has ended.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - error: The error; nil if there is a response, whatever its status.
    func task(_ task: SessionTask, didCompleteWith error: TransferError?) async

    /// The session has ended; nothing follows.
    ///
    /// - Parameter name: The session's name.
    func sessionDidBecomeInvalid(_ name: String) async
}

extension SessionDelegate {
    /// That of the Swift runtime.
    public var taskExecutor: (any TaskExecutor)? { nil }

    /// Follows the redirect.
    ///
    /// - Parameters:
    ///   - task: The task that was redirected.
    ///   - redirect: The response, and the request that would follow.
    /// - Returns: To follow.
    public func task(_ task: SessionTask, willFollow redirect: Redirect) async -> RedirectDecision { .follow }

    /// Gives no answer.
    ///
    /// - Parameters:
    ///   - task: The task that was challenged.
    ///   - challenge: The challenge.
    /// - Returns: To let the response be the result.
    public func task(_ task: SessionTask, didReceive challenge: AuthenticationChallenge) async -> ChallengeDecision {
        .performDefault
    }

    /// Does nothing.
    public func task(_ task: SessionTask, willRetryAfter delay: Duration, because reason: RetryReason) async {}

    /// Does nothing.
    public func taskIsWaitingForConnectivity(_ task: SessionTask) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didSendBodyData count: Int64, total: Int64, expected: Int64) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didReceive response: HTTPResponse) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didReceive data: [UInt8]) async {}

    /// Does nothing.
    public func task(_ task: SessionTask, didResumeAt offset: Int64, expected: Int64) async {}

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
