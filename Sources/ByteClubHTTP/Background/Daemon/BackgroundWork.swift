public import HTTPTypes

/// A program's own kind of background work, such as an upload in several requests.
public protocol BackgroundWork: Sendable {
    /// Does the work, or continues it from the checkpoint.
    ///
    /// The Swift task is cancelled when the task is paused or cancelled, or the daemon ends; by then the progress should be
    /// in the checkpoint. This may be called again after it has returned, if the daemon is killed before it records the
    /// result.
    ///
    /// - Parameters:
    ///   - payload: The payload of the request.
    ///   - context: The connection to the daemon.
    /// - Returns: The task's result.
    /// - Throws: ``BackgroundFailure``, ``TransferError``; any other error is shown without its message.
    func run(_ payload: [UInt8], _ context: WorkContext) async throws -> BackgroundResult

    /// Removes the remains of unfinished work when its task is cancelled, or forgotten after a failure.
    ///
    /// Another task with the same payload may be running, so anything that belongs to one task should be named by its ID.
    ///
    /// - Parameters:
    ///   - id: The task, as in ``WorkContext/id``.
    ///   - payload: The payload of the request.
    ///   - checkpoint: The last saved checkpoint.
    func discard(_ id: BackgroundTask.ID, _ payload: [UInt8], checkpoint: [UInt8]?) async
}

/// The connection of a ``BackgroundWork`` to its daemon.
public struct WorkContext: Sendable {
    /// The task.
    public let id: BackgroundTask.ID
    /// The task's options.
    public let options: BackgroundOptions
    /// The last checkpoint of ``save(checkpoint:)``; nil at the first start.
    public let checkpoint: [UInt8]?

    let saveCheckpoint: @Sendable ([UInt8]) throws(TransferError) -> Void
    let reportProgress: @Sendable (_ bytes: Int64, _ total: Int64?, _ inFlight: Int64) -> Void
    let openSession: @Sendable (SessionConfiguration, String) throws(TransferError) -> Session
    let secretFields: @Sendable () async throws -> HTTPFields

    /// Saves a checkpoint, at most 1 MiB, from which the work can continue; blocks until it is on disk.
    public func save(checkpoint: [UInt8]) throws(TransferError) { try saveCheckpoint(checkpoint) }

    /// Reports the work's progress.
    ///
    /// - Parameters:
    ///   - bytes: How many bytes need not be transferred again.
    ///   - total: How many bytes there are in all; nil while that is unknown.
    ///   - inFlight: How many bytes beyond `bytes` were transferred and may have to be repeated; only the rate includes them.
    public func report(bytes: Int64, total: Int64?, inFlight: Int64 = 0) { reportProgress(bytes, total, inFlight) }

    /// Opens a session that obeys the daemon's ``RateSchedule``.
    public func session(
        _ configuration: SessionConfiguration, name: String
    ) throws(TransferError) -> Session { try openSession(configuration, name) }

    /// The secret fields of the task's ``BackgroundOptions/credential``, read at each call.
    public func fields() async throws -> HTTPFields { try await secretFields() }
}
