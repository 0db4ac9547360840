/// Controls a service's daemon and all of its tasks, whichever session they belong to.
///
/// It attaches to no session, so each session still gets its own results. All members may be used from any thread;
/// cancelling the Swift task that waits for an answer ends the wait with ``TransferError/Code/cancelled``. If the daemon
/// ends before it answers, it is started again and the call is repeated. A call to a daemon that is silent for two minutes
/// (longer for a call about hundreds of tasks) throws ``TransferError/Code/timedOut``, with the daemon's process ID in the
/// message; the daemon may still carry it out later.
public final class BackgroundControl: Sendable {
    private let connector: DaemonConnector
    private let client: DaemonClient

    /// Connects.
    ///
    /// - Parameters:
    ///   - service: The daemon's service.
    ///   - isStarting: Whether to start a daemon if none runs.
    /// - Throws: ``TransferError/Code/daemonUnavailable``.
    public convenience init(_ service: BackgroundService, isStarting: Bool = true) async throws(TransferError) {
        try await self.init(DaemonConnector(service, isStarting: isStarting))
    }

    /// Connects to the running daemon and starts none, not even through systemd.
    ///
    /// - Parameter service: The daemon's service.
    /// - Returns: Nil when none runs.
    /// - Throws: ``TransferError/Code/daemonUnavailable`` when a daemon runs that does not answer, or is another version.
    public static func running(_ service: BackgroundService) async throws(TransferError) -> BackgroundControl? {
        guard DaemonLock.isHeld(service.lockPath) else { return nil }
        do throws(TransferError) { return try await BackgroundControl(service, isStarting: false) } catch {
            // It may have just ended by itself.
            if DaemonLock.isHeld(service.lockPath) { throw error }
            return nil
        }
    }

    /// Connects for a caller that only reads: a daemon is started only if tasks are recorded.
    ///
    /// - Parameter service: The daemon's service.
    /// - Returns: Nil when none runs and nothing is recorded.
    /// - Throws: ``TransferError/Code/daemonUnavailable``.
    public static func looking(at service: BackgroundService) async throws(TransferError) -> BackgroundControl? {
        service.hasTasks ? try await BackgroundControl(service) : try await running(service)
    }

    init(_ connector: DaemonConnector) async throws(TransferError) {
        self.connector = connector
        client = DaemonClient(connector)
        try await client.open()
    }

    /// Records work, all of it or none; it is on disk when this returns.
    ///
    /// - Parameters:
    ///   - requests: The work, at most 16 MiB together.
    ///   - identifier: The session that the tasks belong to; see ``BackgroundConfiguration/background(_:service:)``.
    /// - Returns: The tasks, in the requests' order.
    /// - Throws: ``TransferError/Code/badRequest`` for work that cannot be recorded,
    ///   ``TransferError/Code/badConfiguration`` for an invalid identifier, ``TransferError/Code/daemonUnavailable`` or
    ///   ``TransferError/Code/timedOut``. After the last two the work may be recorded, as ``tasks()`` shows.
    public func submit(
        _ requests: [BackgroundRequest], identifier: String
    ) async throws(TransferError) -> [BackgroundStatus] {
        try BackgroundRequest.check(identifier: identifier)
        guard !requests.isEmpty else { return [] }
        let submissions = requests.map { Submission(id: .random(), request: $0) }
        let statuses = try await statuses(.submit(identifier: identifier, submissions))
        let byID = Dictionary(statuses.map { ($0.id, $0) }) { first, _ in first }
        return submissions.compactMap { byID[$0.id] }
    }

    /// All tasks, oldest first.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable``, ``TransferError/Code/timedOut``.
    public func tasks() async throws(TransferError) -> [BackgroundStatus] { try await statuses(.list) }

    /// Changes tasks, all or none: an unknown one throws ``TransferError/Code/unknownTask``.
    ///
    /// When this returns, the change is on disk, and paused or cancelled tasks have stopped, unless stopping takes longer
    /// than some seconds.
    ///
    /// - Parameters:
    ///   - ids: The tasks.
    ///   - change: The change.
    /// - Returns: The tasks' statuses after the change, without forgotten tasks.
    /// - Throws: ``TransferError/Code/unknownTask``, ``TransferError/Code/badRequest`` for a change that the task's state
    ///   does not allow, ``TransferError/Code/daemonUnavailable``, ``TransferError/Code/timedOut``.
    @discardableResult
    public func change(
        _ ids: [BackgroundTask.ID], _ change: BackgroundChange
    ) async throws(TransferError) -> [BackgroundStatus] { try await statuses(.change(ids, change)) }

    /// The status of each task, then each change, until the reader stops.
    ///
    /// A slow reader gets the last of several changes of a task. The sequence continues over restarts of the daemon and
    /// ends when the daemon is unavailable for good; ``close()`` does not end it.
    ///
    /// - Returns: A sequence for one reader.
    /// - Throws: ``TransferError/Code/daemonUnavailable``.
    public func updates() async throws(TransferError) -> AsyncStream<BackgroundStatus> {
        let follower = TaskFollower(isTaking: false)
        let client = DaemonClient(connector, role: .watch) { _, notice in follower.handle(notice) }
        let reader = EventReader(follower, client)
        reader.begin()
        try await client.open()
        return AsyncStream {
            while let event = await reader.next() {
                switch event {
                case .changed(let status), .finished(let status): return status
                case .caughtUp: continue
                }
            }
            return nil
        }
    }

    /// The daemon's rate limits.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable``, ``TransferError/Code/timedOut``.
    public func schedule() async throws(TransferError) -> RateSchedule {
        guard case .schedule(let schedule) = try await client.call(.schedule) else { throw Self.strange }
        return schedule
    }

    /// Changes the daemon's rate limits, at once and durably.
    ///
    /// - Parameter schedule: The new limits.
    /// - Throws: ``TransferError/Code/badConfiguration`` for invalid spans,
    ///   ``TransferError/Code/daemonUnavailable``, ``TransferError/Code/timedOut``.
    public func setSchedule(_ schedule: RateSchedule) async throws(TransferError) {
        try await client.call(.setSchedule(schedule))
    }

    /// Ends the daemon and returns when it has ended; does nothing when none runs.
    ///
    /// Transfers continue when it is started again, which attached sessions do at once.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable`` when it cannot be reached, ``TransferError/Code/timedOut``.
    public func stop() async throws(TransferError) {
        guard connector.isRunning else { return }
        do throws(TransferError) {
            try await DaemonClient(connector.withoutStarting).call(.stop)
        } catch {
            // It may have just ended by itself.
            if connector.isRunning { throw error }
        }
    }

    /// Closes the connection; other members throw ``TransferError/Code/sessionInvalid`` afterwards.
    public func close() async { await client.close() }

    private func statuses(_ call: DaemonCall) async throws(TransferError) -> [BackgroundStatus] {
        guard case .tasks(let statuses) = try await client.call(call) else { throw Self.strange }
        return statuses
    }

    private static var strange: TransferError {
        TransferError(.protocolViolation, "the daemon's answer does not match the call")
    }
}
