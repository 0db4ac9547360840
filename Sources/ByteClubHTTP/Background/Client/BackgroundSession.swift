public import HTTPTypes

/// The settings of a ``BackgroundSession``.
public struct BackgroundConfiguration: Sendable, Hashable {
    /// The session's name, by which a program that is started again attaches to its tasks.
    public var identifier: String
    /// The service whose daemon does the work.
    public var service: BackgroundService
    /// The options of tasks that are given none.
    public var options = BackgroundOptions()
    /// The command that the daemon starts when results wait and no program has the session; nil, as at first, for none.
    ///
    /// It is recorded each time a session attaches, and the last one counts: a session without a command removes it.
    public var relaunch: BackgroundRelaunch?

    /// The usual settings.
    ///
    /// - Parameters:
    ///   - identifier: 1 to 200 bytes, without control characters.
    ///   - service: The service whose daemon does the work.
    /// - Returns: The settings.
    public static func background(_ identifier: String, service: BackgroundService) -> BackgroundConfiguration {
        BackgroundConfiguration(identifier: identifier, service: service)
    }
}

extension SessionConfiguration {
    /// The same as ``BackgroundConfiguration/background(_:service:)``, for those who look for it here.
    public static func background(_ identifier: String, service: BackgroundService) -> BackgroundConfiguration {
        .background(identifier, service: service)
    }
}

/// Uploads and downloads that continue when the program ends, crashes or is killed, and after a reboot.
///
/// A daemon does the work. A program that makes a session with the same identifier again gets the status of each task and
/// every result that it has not taken. A daemon that ends is started again, and outstanding calls are repeated. If
/// no daemon can be started for some seconds, all members throw ``TransferError/Code/daemonUnavailable`` from then on, and
/// the program may make a new session.
///
/// All members may be used from any thread. Cancelling the Swift task that waits for an answer ends the wait with
/// ``TransferError/Code/cancelled``; a daemon that is silent for two minutes ends it with ``TransferError/Code/timedOut``,
/// with its process ID in the message. In both cases the daemon may still carry out the call, and the member may be called
/// again: a task is recorded once however often its ``BackgroundTask/resume()`` is called. Events may be late without
/// limit.
public final class BackgroundSession: Sendable {
    /// The session's settings.
    public let configuration: BackgroundConfiguration

    private let follower = TaskFollower(isTaking: true)
    private let client: DaemonClient

    /// Attaches to a session's tasks, and starts the daemon if none runs.
    ///
    /// - Parameter configuration: See ``BackgroundConfiguration/background(_:service:)``.
    /// - Throws: ``TransferError/Code/identifierInUse`` when another session has the identifier, in this process or
    ///   another one; ``TransferError/Code/daemonUnavailable``; ``TransferError/Code/badConfiguration``.
    public convenience init(configuration: BackgroundConfiguration) async throws(TransferError) {
        try await self.init(configuration: configuration, DaemonConnector(configuration.service))
    }

    init(configuration: BackgroundConfiguration, _ connector: DaemonConnector) async throws(TransferError) {
        self.configuration = configuration
        let identifier = configuration.identifier
        try BackgroundRequest.check(identifier: identifier)
        try configuration.relaunch?.checkProgram()
        let role = DaemonCall.attach(identifier: identifier, relaunch: configuration.relaunch)
        client = DaemonClient(connector, role: role) { [follower] client, notice in
            follower.handle(notice)
            // The previous daemon may have ended without an answer, after too long a silence.
            if case .event(.caughtUp) = notice { follower.acknowledge(follower.feed { $0.takenEnds }, by: client) }
        }
        do {
            try await client.open()
            try await follower.caughtUp()
        } catch {
            guard error.code == .identifierInUse else { throw error }
            throw TransferError(
                .identifierInUse,
                "another session has the identifier '\(identifier)', in this program or another one; "
                    + "invalidate it or end its program first, or choose another identifier")
        }
    }

    /// Makes a task that writes a 2xx response's body to a file.
    ///
    /// - Parameters:
    ///   - request: The request; its fields are recorded, so secret ones belong in ``BackgroundOptions/credential``.
    ///   - path: The file's absolute path; its folder exists.
    ///   - options: The options; those of the configuration when nil.
    /// - Returns: A task that is not recorded before its ``BackgroundTask/resume()``.
    public func downloadTask(
        _ request: HTTPRequest, to path: String, options: BackgroundOptions? = nil
    ) -> BackgroundTask { task(.download(request, to: path), options) }

    /// Makes a task that sends a file.
    ///
    /// - Parameters:
    ///   - request: The request; see ``downloadTask(_:to:options:)``.
    ///   - path: The file's absolute path; the file must not change before it is sent.
    ///   - options: The options; those of the configuration when nil.
    /// - Returns: A task that is not recorded before its ``BackgroundTask/resume()``.
    public func uploadTask(
        _ request: HTTPRequest, fromFile path: String, options: BackgroundOptions? = nil
    ) -> BackgroundTask { task(.upload(request, file: path), options) }

    /// Makes a task for the daemon's ``BackgroundWork`` of a kind.
    ///
    /// - Parameters:
    ///   - kind: The name of the work in ``BackgroundDaemon/works``.
    ///   - payload: The work's input; it is recorded, so it must hold no secrets.
    ///   - options: The options; those of the configuration when nil.
    /// - Returns: A task that is not recorded before its ``BackgroundTask/resume()``.
    public func workTask(
        _ kind: String, payload: [UInt8], options: BackgroundOptions? = nil
    ) -> BackgroundTask { task(.custom(kind: kind, payload: payload), options) }

    private func task(_ work: BackgroundRequest.Work, _ options: BackgroundOptions?) -> BackgroundTask {
        task(.random(), BackgroundRequest(work, options: options ?? configuration.options))
    }

    private func task(_ id: BackgroundTask.ID, _ request: BackgroundRequest) -> BackgroundTask {
        BackgroundTask(follower.record(of: id), request, session: self)
    }

    /// The session's recorded tasks, oldest first, without those whose results were taken.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable``, ``TransferError/Code/timedOut``,
    ///   ``TransferError/Code/sessionInvalid``, ``TransferError/Code/cancelled``.
    public func tasks() async throws(TransferError) -> [BackgroundTask] {
        let identifier = configuration.identifier
        @Sendable func own(_ answer: DaemonAnswer) -> [BackgroundStatus] {
            guard case .tasks(let all) = answer else { return [] }
            return all.filter { $0.identifier == identifier }
        }
        let answer = try await client.call(.list) { [follower] in follower.merge(own($0)) }
        return follower.feed { feed in own(answer).filter { feed.latest[$0.id] != nil } }
            .map { task($0.id, $0.request) }
    }

    /// The tasks' changes and results, for one reader: a new reader ends the sequence of the previous one.
    ///
    /// It begins with the status of each task, including every result that was not taken, then
    /// ``BackgroundEvent/caughtUp``, then the changes. A slow reader gets the last of several changes of a task. The
    /// sequence ends when the session is invalidated, or the daemon is unavailable for good.
    ///
    /// A result counts as taken when the reader asks for the next event, or the session is invalidated; it is not
    /// repeated then. A program that is killed before gets it again from its next session. While there is no reader,
    /// ``BackgroundTask/value`` takes results as well.
    public var events: AsyncStream<BackgroundEvent> {
        let reader = EventReader(follower, client)
        return AsyncStream { await reader.next() }
    }

    /// Detaches from the tasks, which continue; returns when another session may use the identifier.
    ///
    /// The end that the reader of ``events`` got last counts as taken. Sequences end, and a wait for a
    /// ``BackgroundTask/value`` throws ``TransferError/Code/sessionInvalid``. A daemon that does not answer delays this by
    /// some seconds at most.
    public func invalidate() async { await invalidate(within: .seconds(5)) }

    /// See ``invalidate()``.
    ///
    /// - Parameter limit: How long the daemon may take to confirm the ends that were taken; otherwise the next session
    ///   gets them again.
    func invalidate(within limit: Duration) async {
        follower.feed { _ = $0.takeHandled() }
        let confirming = Task { await confirmTaken() }
        let timer = Task {
            try await Task.sleep(for: limit)
            confirming.cancel()
        }
        await confirming.value
        timer.cancel()
        await client.close()
    }

    /// Returns when the daemon has confirmed the ends that were taken.
    private func confirmTaken() async {
        let ends = follower.feed { $0.takenEnds }
        guard !ends.isEmpty else { return }
        // On failure the next session gets them again, as after a kill of this program.
        if (try? await client.call(.acknowledge(ends))) != nil { follower.feed { $0.confirm(ends) } }
    }

    // MARK: - Calls of tasks

    func resume(_ task: BackgroundTask) async throws(TransferError) {
        let status = task.status
        if status?.state == .done { return }
        if status != nil, follower.feed({ $0.latest[task.id] != nil }) {
            do { return try await change(task, .resume) } catch {
                guard error.code == .unknownTask else { throw error }
            }
        }
        let submission = Submission(id: task.id, request: task.request)
        try await client.call(.submit(identifier: configuration.identifier, [submission])) { [follower] answer in
            task.record.revive()
            follower.merge(answer)
        }
    }

    func change(_ task: BackgroundTask, _ change: BackgroundChange) async throws(TransferError) {
        try await client.call(.change([task.id], change)) { [follower] in follower.merge($0) }
    }

    /// The status of a task that has ended, once it has; takes the result while there is no reader of ``events``.
    func end(of task: BackgroundTask) async throws -> BackgroundStatus {
        for await status in task.updates where status.isFinished {
            if follower.feed({ $0.takeEnd(of: task.id) }) { await confirmTaken() }
            return status
        }
        try Task.checkCancellation()
        throw task.record.ended ?? TransferError(.sessionInvalid, "the session has ended")
    }
}

extension TaskFollower {
    fileprivate func merge(_ answer: DaemonAnswer) {
        if case .tasks(let statuses) = answer { merge(statuses) }
    }
}

/// An event of a ``BackgroundSession``.
public indirect enum BackgroundEvent: Sendable, Hashable {
    /// A task's status changed; at most ten times a second for each.
    case changed(BackgroundStatus)
    /// A task has ended. This comes once, unless the program ends before it has taken the result.
    case finished(BackgroundStatus)
    /// All events that the program had missed have come.
    case caughtUp
}
