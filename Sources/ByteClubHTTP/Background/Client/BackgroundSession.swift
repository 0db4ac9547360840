public import HTTPTypes

/// What a ``BackgroundSession`` is.
public struct BackgroundConfiguration: Sendable, Hashable {
    /// What the session is called; a program that is started again attaches to its tasks with it.
    public var identifier: String
    /// Whose daemon does the work.
    public var service: BackgroundService
    /// What tasks do unless they are given options.
    public var options = BackgroundOptions()

    /// What a ``BackgroundSession`` is made with.
    ///
    /// - Parameters:
    ///   - identifier: 1 to 200 bytes, without control characters.
    ///   - service: Whose daemon does the work.
    /// - Returns: The usual settings.
    public static func background(_ identifier: String, service: BackgroundService) -> BackgroundConfiguration {
        BackgroundConfiguration(identifier: identifier, service: service)
    }
}

extension SessionConfiguration {
    /// The same as ``BackgroundConfiguration/background(_:service:)``, for who looks for it here.
    public static func background(_ identifier: String, service: BackgroundService) -> BackgroundConfiguration {
        .background(identifier, service: service)
    }
}

/// Uploads and downloads that go on when the program ends, crashes or is killed, and after a reboot.
///
/// A daemon does the work. A program that makes a session with the same identifier again gets how each task stands and
/// each result that it was not told yet. When the daemon ends it is started again, and what was asked of it is asked
/// again: no member of a session notices, unless no daemon can be started for some seconds. Then all members throw
/// ``TransferError/Code/daemonUnavailable`` from there on, and a new session may be made. All members may be used from
/// any thread; cancelling the Swift task that waits for an answer ends the wait with ``TransferError/Code/cancelled``,
/// and what was asked may be done all the same. So it is when a daemon says nothing for two minutes: the members that
/// wait for an answer throw ``TransferError/Code/timedOut``, whose message tells its process, and may be called again; a
/// task is recorded once however often its ``BackgroundTask/resume()`` is called. Events may stay out for any time.
public final class BackgroundSession: Sendable {
    /// The session's settings.
    public let configuration: BackgroundConfiguration

    private let core = SessionCore()
    private let client: DaemonClient

    /// Attaches to a session's tasks, starting the daemon where none runs.
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
        client = DaemonClient(connector, role: .attach(identifier: identifier)) { [core] client, notice in
            core.take(notice)
            // The daemon before may have ended without an answer after it was silent for too long.
            if case .event(.caughtUp) = notice { core.acknowledge(core.taken, by: client) }
        }
        do {
            try await client.open()
            try await core.caughtUp()
        } catch {
            guard error.code == .identifierInUse else { throw error }
            throw TransferError(
                .identifierInUse,
                "another session has the identifier '\(identifier)', in this program or another one; "
                    + "invalidate it or end its program first, or choose another identifier")
        }
    }

    /// Makes a task that writes a 2xx response's body to a file; an absolute path, whose folder exists.
    ///
    /// - Parameters:
    ///   - request: What to ask for; its fields are recorded, so secret ones belong in
    ///     ``BackgroundOptions/credential``.
    ///   - path: Where the file goes.
    ///   - options: How; those of the configuration when nil.
    /// - Returns: A task that is not recorded before its ``BackgroundTask/resume()``.
    public func downloadTask(
        _ request: HTTPRequest, to path: String, options: BackgroundOptions? = nil
    ) -> BackgroundTask { task(.download(request, to: path), options) }

    /// Makes a task that sends a file.
    ///
    /// - Parameters:
    ///   - request: What to ask; see ``downloadTask(_:to:options:)``.
    ///   - path: The file, an absolute path; it must stay as it is until it was sent.
    ///   - options: How; those of the configuration when nil.
    /// - Returns: A task that is not recorded before its ``BackgroundTask/resume()``.
    public func uploadTask(
        _ request: HTTPRequest, fromFile path: String, options: BackgroundOptions? = nil
    ) -> BackgroundTask { task(.upload(request, file: path), options) }

    /// Makes a task that the daemon's ``BackgroundWork`` of that kind does.
    ///
    /// - Parameters:
    ///   - kind: The name of the work in ``BackgroundDaemon/works``.
    ///   - payload: What it is to do; recorded, so it holds no secrets.
    ///   - options: How; those of the configuration when nil.
    /// - Returns: A task that is not recorded before its ``BackgroundTask/resume()``.
    public func workTask(
        _ kind: String, payload: [UInt8], options: BackgroundOptions? = nil
    ) -> BackgroundTask { task(.custom(kind: kind, payload: payload), options) }

    private func task(_ work: BackgroundRequest.Work, _ options: BackgroundOptions?) -> BackgroundTask {
        task(.random(), BackgroundRequest(work, options: options ?? configuration.options))
    }

    private func task(_ id: BackgroundTask.ID, _ request: BackgroundRequest) -> BackgroundTask {
        BackgroundTask(core.record(of: id), request, session: self)
    }

    /// The session's tasks that are recorded, oldest first; those whose end was told and taken are gone.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable``, ``TransferError/Code/timedOut``,
    ///   ``TransferError/Code/sessionInvalid``, ``TransferError/Code/cancelled``.
    public func tasks() async throws(TransferError) -> [BackgroundTask] {
        let identifier = configuration.identifier
        @Sendable func own(_ answer: DaemonAnswer) -> [BackgroundStatus] {
            guard case .tasks(let all) = answer else { return [] }
            return all.filter { $0.identifier == identifier }
        }
        let answer = try await client.call(.list) { [core] in core.merge(own($0)) }
        return core.current(own(answer)).map { task($0.id, $0.request) }
    }

    /// What happens to the tasks, for one reader: whoever begins to read ends the sequence of the reader before.
    ///
    /// First comes how each one stands, with every result that nobody has taken, then ``BackgroundEvent/caughtUp``, then
    /// what follows. Of several changes of a task a slow reader is told the last. The sequence ends when the session is
    /// invalidated, or the daemon is unavailable for good.
    ///
    /// A result counts as taken when the next event is asked for, or the session is invalidated; it is told no more
    /// then. A program that is killed before is told again when it makes its next session. While nobody reads events,
    /// ``BackgroundTask/value`` takes results as well.
    public var events: AsyncStream<BackgroundEvent> {
        let reader = EventReader(core, client)
        return AsyncStream { await reader.next() }
    }

    /// Lets go of the tasks, which go on; returns when another session may have the identifier.
    ///
    /// An end that the reader of ``events`` was told counts as taken. Sequences end, and who waits for a
    /// ``BackgroundTask/value`` gets ``TransferError/Code/sessionInvalid``. A daemon that does not answer is waited for
    /// during some seconds.
    public func invalidate() async { await invalidate(within: .seconds(5)) }

    /// See ``invalidate()``.
    ///
    /// - Parameter limit: How long the daemon may take to note which ends were taken; then those are told again.
    func invalidate(within limit: Duration) async {
        core.takeTold()
        let noting = Task { await noteTaken() }
        let timer = Task {
            try await Task.sleep(for: limit)
            noting.cancel()
        }
        await noting.value
        timer.cancel()
        await client.close()
    }

    /// Returns when the daemon has noted which ends were taken, so that they are told no more.
    private func noteTaken() async {
        let ends = core.taken
        guard !ends.isEmpty else { return }
        do throws(TransferError) {
            try await client.call(.acknowledge(ends))
            core.acknowledged(ends)
        } catch {
            // They are told again, as if this program had been killed now.
        }
    }

    // MARK: - What tasks ask

    func resume(_ task: BackgroundTask) async throws(TransferError) {
        let status = task.status
        if status?.state == .done { return }
        if status != nil, core.isRecorded(task.id) {
            do { return try await change(task, .resume) } catch {
                guard error.code == .unknownTask else { throw error }
            }
        }
        let submission = Submission(id: task.id, request: task.request)
        try await client.call(.submit(identifier: configuration.identifier, [submission])) { [core] answer in
            task.record.revive()
            core.merge(answer)
        }
    }

    func change(_ task: BackgroundTask, _ change: BackgroundChange) async throws(TransferError) {
        try await client.call(.change([task.id], change)) { [core] in core.merge($0) }
    }

    /// How a task ended, once it has; it is taken with that while nobody reads events.
    func end(of task: BackgroundTask) async throws -> BackgroundStatus {
        for await status in task.updates where status.isFinished {
            if core.takeEnd(of: task.id) { await noteTaken() }
            return status
        }
        try Task.checkCancellation()
        throw task.record.ended ?? TransferError(.sessionInvalid, "the session has ended")
    }
}

extension SessionCore {
    fileprivate func merge(_ answer: DaemonAnswer) {
        if case .tasks(let statuses) = answer { merge(statuses) }
    }
}

/// What a ``BackgroundSession`` tells.
public indirect enum BackgroundEvent: Sendable, Hashable {
    /// A task stands differently; at most ten times a second for each.
    case changed(BackgroundStatus)
    /// A task has ended. This is told once, unless the program ends before it took it.
    case finished(BackgroundStatus)
    /// All that was missed has been told.
    case caughtUp
}
