import Synchronization

/// One piece of work of a ``BackgroundSession``, which a daemon does whether or not this program runs.
public final class BackgroundTask: Sendable, Identifiable {
    /// A task's permanent name: 64 random bits, written as 16 hexadecimal digits.
    public struct ID: Sendable, Hashable, LosslessStringConvertible {
        let number: UInt64

        init(number: UInt64) { self.number = number }

        static func random() -> ID { ID(number: .random(in: .min ... .max)) }

        /// Reads 16 hexadecimal digits.
        public init?(_ description: String) {
            guard description.utf8.count == 16, description.utf8.first != 0x2B,
                let number = UInt64(description, radix: 16)
            else { return nil }
            self.number = number
        }

        /// The digits, in lower case.
        public var description: String { number.digits }
    }

    /// The task's name.
    public var id: ID { record.id }
    /// The work.
    public let request: BackgroundRequest
    let record: TaskRecord
    private let session: BackgroundSession

    init(_ record: TaskRecord, _ request: BackgroundRequest, session: BackgroundSession) {
        self.record = record
        self.request = request
        self.session = session
    }

    /// The latest status that the daemon has reported; nil for a task that was never resumed.
    public var status: BackgroundStatus? { record.latest }

    /// Records the task, or continues a paused or failed one; does nothing for one that is done.
    ///
    /// When this returns, the task is on disk and outlives this program, the daemon and a restart of the machine. A failed
    /// task whose result was taken is recorded again.
    ///
    /// - Throws: ``TransferError/Code/badRequest`` for work that cannot be recorded,
    ///   ``TransferError/Code/daemonUnavailable``, ``TransferError/Code/timedOut``,
    ///   ``TransferError/Code/sessionInvalid``, ``TransferError/Code/cancelled``.
    public func resume() async throws(TransferError) { try await session.resume(self) }

    /// Pauses the task until ``resume()``; transferred bytes are kept.
    ///
    /// When this returns, the change is on disk and the task has stopped, unless stopping takes longer than some seconds.
    ///
    /// - Throws: As ``resume()``; ``TransferError/Code/unknownTask`` for a task that is not recorded.
    public func pause() async throws(TransferError) { try await session.change(self, .pause) }

    /// Cancels the task; does nothing for one that has finished.
    ///
    /// It returns as ``pause()`` does.
    ///
    /// - Throws: As ``pause()``.
    public func cancel() async throws(TransferError) {
        if status?.isFinished != true { try await session.change(self, .cancel) }
    }

    /// Makes the task more or less urgent.
    ///
    /// - Parameter priority: The new priority.
    /// - Throws: As ``pause()``.
    public func setPriority(_ priority: SessionTask.Priority) async throws(TransferError) {
        try await session.change(self, .prioritize(priority))
    }

    /// The task's status at each change, until the task has finished or the session ends; for any number of readers.
    ///
    /// A slow reader skips changes but never misses the last one.
    public var updates: AsyncStream<BackgroundStatus> { record.updates(keeping: self) }

    /// The task's result, once it has finished.
    ///
    /// While there is no reader of ``BackgroundSession/events``, the result counts as taken when this returns or throws a
    /// ``BackgroundFailure``: the daemon forgets the task, and later sessions do not get it.
    ///
    /// - Throws: ``BackgroundFailure`` when the task failed. Cancelling the Swift task that waits only ends the wait
    ///   (`CancellationError`). ``TransferError`` when the session ended first: ``TransferError/Code/sessionInvalid`` or
    ///   ``TransferError/Code/daemonUnavailable``; ``TransferError/Code/unknownTask`` when the task was removed.
    public var value: BackgroundResult {
        get async throws {
            let end = try await session.end(of: self)
            guard end.state == .failed else { return end.result ?? BackgroundResult() }
            throw end.failure ?? BackgroundFailure(code: "other", message: "the task has failed")
        }
    }
}

/// The latest status of a task that a program holds, and the readers of its changes.
final class TaskRecord: Sendable {
    private struct State {
        var latest: BackgroundStatus?
        var ended: TransferError?
        var readers: [UInt64: AsyncStream<BackgroundStatus>.Continuation] = [:]
        var lastReader: UInt64 = 0
    }

    let id: BackgroundTask.ID
    private let state: Mutex<State>
    private let released: @Sendable (BackgroundTask.ID) -> Void

    /// A record, which calls `released` when its last holder drops it.
    init(
        _ id: BackgroundTask.ID, latest: BackgroundStatus?, released: @escaping @Sendable (BackgroundTask.ID) -> Void
    ) {
        self.id = id
        self.released = released
        state = Mutex(State(latest: latest))
    }

    deinit { released(id) }

    var latest: BackgroundStatus? { state.withLock { $0.latest } }

    /// Why no further status comes; nil while one may.
    var ended: TransferError? { state.withLock { $0.ended } }

    /// Hands a status to all readers; called by one thread at a time.
    func publish(_ status: BackgroundStatus) {
        let readers = state.withLock { state in
            state.latest = status
            defer { if status.isFinished { state.readers = [:] } }
            return state.readers.values
        }
        for reader in readers {
            reader.yield(status)
            if status.isFinished { reader.finish() }
        }
    }

    /// Ends all readers' sequences.
    func end(_ error: TransferError) {
        let readers = state.withLock { state in
            state.ended = error
            defer { state.readers = [:] }
            return state.readers.values
        }
        for reader in readers { reader.finish() }
    }

    /// Undoes ``end(_:)`` for new readers, since the task is recorded again.
    func revive() { state.withLock { $0.ended = nil } }

    /// The status at each change, until the task has finished.
    ///
    /// - Parameter owner: Kept alive for as long as the sequence is read.
    /// - Returns: A sequence for one reader, of which a slow one gets the last of several changes.
    func updates(keeping owner: BackgroundTask) -> AsyncStream<BackgroundStatus> {
        let (stream, reader) = AsyncStream.makeStream(of: BackgroundStatus.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isOver) = state.withLock { state in
            state.lastReader += 1
            // Under the lock, so that no newer status comes first.
            if let latest = state.latest { reader.yield(latest) }
            let isOver = state.latest?.isFinished == true || state.ended != nil
            if !isOver { state.readers[state.lastReader] = reader }
            return (state.lastReader, isOver)
        }
        if isOver {
            reader.finish()
        } else {
            reader.onTermination = { _ in
                owner.record.state.withLock { state in _ = state.readers.removeValue(forKey: number) }
            }
        }
        return stream
    }
}
