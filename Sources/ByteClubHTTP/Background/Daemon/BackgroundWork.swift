public import HTTPTypes

/// Work of a kind of its own, such as an upload in several requests, that a daemon does and continues.
public protocol BackgroundWork: Sendable {
    /// Does the work, or goes on with it where the checkpoint says.
    ///
    /// The Swift task is cancelled when the work is paused or cancelled, or the daemon ends; what was done until then
    /// should be in the checkpoint. It may be called again after it was done, when the daemon was killed before it could
    /// note that.
    ///
    /// - Parameters:
    ///   - payload: What was recorded.
    ///   - context: The way back to the daemon.
    /// - Returns: What is told of it.
    /// - Throws: ``BackgroundFailure``, ``TransferError``; of any other error people see no more than that it failed.
    func run(_ payload: [UInt8], _ context: WorkContext) async throws -> BackgroundResult

    /// Gives up what an unfinished work has left, when it is cancelled, or forgotten after it failed.
    ///
    /// Another task may have the same payload and be under way: what is the task's own should be named by its ID.
    ///
    /// - Parameters:
    ///   - id: The task, as ``WorkContext/id`` was.
    ///   - payload: What was recorded.
    ///   - checkpoint: What it last saved.
    func discard(_ id: BackgroundTask.ID, _ payload: [UInt8], checkpoint: [UInt8]?) async
}

/// What a daemon gives a ``BackgroundWork``.
public struct WorkContext: Sendable {
    /// The task.
    public let id: BackgroundTask.ID
    /// The task's options.
    public let options: BackgroundOptions
    /// What ``save(checkpoint:)`` was last given; nil at the first start.
    public let checkpoint: [UInt8]?

    let saveCheckpoint: @Sendable ([UInt8]) throws(TransferError) -> Void
    let reportProgress: @Sendable (_ bytes: Int64, _ total: Int64?, _ inFlight: Int64) -> Void
    let openSession: @Sendable (SessionConfiguration, String) throws(TransferError) -> Session
    let secretFields: @Sendable () async throws -> HTTPFields

    /// Keeps at most 1 MiB that the work can go on from.
    ///
    /// When it returns it is on disk; it blocks until then.
    public func save(checkpoint: [UInt8]) throws(TransferError) { try saveCheckpoint(checkpoint) }

    /// Tells how far the work is.
    ///
    /// - Parameters:
    ///   - bytes: What need not be moved again, in bytes.
    ///   - total: How many there will be in all; nil while that is unknown.
    ///   - inFlight: What was moved beyond `bytes` and may have to be moved again, which the rate counts.
    public func report(bytes: Int64, total: Int64?, inFlight: Int64 = 0) { reportProgress(bytes, total, inFlight) }

    /// A session that keeps to the daemon's ``RateSchedule``.
    public func session(
        _ configuration: SessionConfiguration, name: String
    ) throws(TransferError) -> Session { try openSession(configuration, name) }

    /// The secret fields that the task's ``BackgroundOptions/credential`` names, read anew.
    public func fields() async throws -> HTTPFields { try await secretFields() }
}
