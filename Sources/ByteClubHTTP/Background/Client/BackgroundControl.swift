/// Speaks with a service's daemon about all of its tasks, whosever session they belong to.
///
/// It attaches to none of the sessions: their own programs are told results all the same. All members may be used from
/// any thread; cancelling the Swift task that waits for an answer ends the wait with
/// ``TransferError/Code/cancelled``. A daemon that ends meanwhile is started again and asked once more. One that says
/// nothing for two minutes (more where it is asked about hundreds of tasks) is waited for no longer: members throw
/// ``TransferError/Code/timedOut``, whose message tells its process; when it goes on it may do as asked all the same.
public final class BackgroundControl: Sendable {
    private let connector: DaemonConnector
    private let client: DaemonClient

    /// Connects.
    ///
    /// - Parameters:
    ///   - service: Whose daemon.
    ///   - isStarting: Whether to start one where none runs.
    /// - Throws: ``TransferError/Code/daemonUnavailable``.
    public convenience init(_ service: BackgroundService, isStarting: Bool = true) async throws(TransferError) {
        try await self.init(DaemonConnector(service, isStarting: isStarting))
    }

    /// The daemon that runs; none is started, not by systemd either.
    ///
    /// - Parameter service: Whose daemon.
    /// - Returns: Nil when none runs.
    /// - Throws: ``TransferError/Code/daemonUnavailable`` when one runs that does not answer, or is another version.
    public static func running(_ service: BackgroundService) async throws(TransferError) -> BackgroundControl? {
        guard DaemonLock.isHeld(service.lockPath) else { return nil }
        do throws(TransferError) { return try await BackgroundControl(service, isStarting: false) } catch {
            // It may have ended by itself meanwhile.
            if DaemonLock.isHeld(service.lockPath) { throw error }
            return nil
        }
    }

    /// The daemon for somebody who only looks: started where none runs, if it can tell of anything.
    ///
    /// - Parameter service: Whose daemon.
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

    /// Has work recorded, all or none; when it returns it is on disk.
    ///
    /// - Parameters:
    ///   - requests: What to do; together at most 16 MiB.
    ///   - identifier: The session they belong to; see ``BackgroundConfiguration/background(_:service:)``.
    /// - Returns: The tasks, in the requests' order.
    /// - Throws: ``TransferError/Code/badRequest`` for what cannot be recorded, ``TransferError/Code/badConfiguration``
    ///   for an identifier that none can have, ``TransferError/Code/daemonUnavailable``. After that and
    ///   ``TransferError/Code/timedOut`` the work may be recorded, which ``tasks()`` tells.
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

    /// Changes tasks, all or none: when one is unknown, ``TransferError/Code/unknownTask`` is thrown.
    ///
    /// When it returns, the change is on disk, and what was held or cancelled stands still, unless that takes longer than
    /// some seconds.
    ///
    /// - Parameters:
    ///   - ids: Which.
    ///   - change: What to do with them.
    /// - Returns: How they stand then; nothing of those that were forgotten.
    /// - Throws: ``TransferError/Code/unknownTask``, ``TransferError/Code/badRequest`` for what is no change of a task
    ///   as it stands, ``TransferError/Code/daemonUnavailable``, ``TransferError/Code/timedOut``.
    @discardableResult
    public func change(
        _ ids: [BackgroundTask.ID], _ change: BackgroundChange
    ) async throws(TransferError) -> [BackgroundStatus] { try await statuses(.change(ids, change)) }

    /// How all tasks stand, then each change, until the reader stops.
    ///
    /// Of several changes of a task a slow reader is told the last. The sequence goes on over restarts of the daemon, and
    /// ends when that is unavailable for good; ``close()`` does not end it.
    ///
    /// - Returns: A sequence for one reader.
    /// - Throws: ``TransferError/Code/daemonUnavailable``.
    public func updates() async throws(TransferError) -> AsyncStream<BackgroundStatus> {
        let reader = try await StatusReader(connector)
        return AsyncStream { await reader.next() }
    }

    /// How fast the daemon may be.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable``, ``TransferError/Code/timedOut``.
    public func schedule() async throws(TransferError) -> RateSchedule {
        guard case .schedule(let schedule) = try await client.call(.schedule) else { throw Self.strange }
        return schedule
    }

    /// Changes how fast the daemon may be, at once and durably.
    ///
    /// - Parameter schedule: The new limits.
    /// - Throws: ``TransferError/Code/badConfiguration`` for spans that are none,
    ///   ``TransferError/Code/daemonUnavailable``, ``TransferError/Code/timedOut``.
    public func setSchedule(_ schedule: RateSchedule) async throws(TransferError) {
        try await client.call(.setSchedule(schedule))
    }

    /// Asks the daemon to end, and returns when it has; does nothing when none runs.
    ///
    /// Transfers go on when it is started again, which sessions that are attached to it do at once.
    ///
    /// - Throws: ``TransferError/Code/daemonUnavailable`` when it cannot be reached, ``TransferError/Code/timedOut``.
    public func stop() async throws(TransferError) {
        guard connector.isRunning else { return }
        do throws(TransferError) {
            try await DaemonClient(connector.withoutStarting).call(.stop)
        } catch {
            // It may have ended by itself meanwhile.
            if connector.isRunning { throw error }
        }
    }

    /// Lets go of the daemon; other members throw ``TransferError/Code/sessionInvalid`` then.
    public func close() async { await client.close() }

    private func statuses(_ call: DaemonCall) async throws(TransferError) -> [BackgroundStatus] {
        guard case .tasks(let statuses) = try await client.call(call) else { throw Self.strange }
        return statuses
    }

    private static var strange: TransferError {
        TransferError(.protocolViolation, "the daemon gave another answer than was asked for")
    }
}
