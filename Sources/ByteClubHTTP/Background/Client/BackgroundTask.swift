/// One piece of work of a ``BackgroundSession``, which a daemon does whether or not this program lives.
public final class BackgroundTask: Sendable, Identifiable {
    /// What a task is called for all of its life: 64 random bits, shown as 16 hexadecimal digits.
    public struct ID: Sendable, Hashable, LosslessStringConvertible {
        let number: UInt64

        init(number: UInt64) { self.number = number }

        /// A new one.
        static func random() -> ID { ID(number: .random(in: .min ... .max)) }

        /// Reads 16 hexadecimal digits.
        public init?(_ description: String) {
            guard description.utf8.count == 16, description.utf8.first != 0x2B,
                let number = UInt64(description, radix: 16)
            else { return nil }
            self.number = number
        }

        /// The digits, in lower case.
        public var description: String {
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }
    }

    /// The task's name.
    public var id: ID { record.id }
    /// What it is to do.
    public let request: BackgroundRequest
    let record: TaskRecord
    private let session: BackgroundSession

    init(_ record: TaskRecord, _ request: BackgroundRequest, session: BackgroundSession) {
        self.record = record
        self.request = request
        self.session = session
    }

    /// How it stands, as last told; nil for a task that was never resumed.
    public var status: BackgroundStatus? { record.latest }

    /// Has the task recorded, or lets a paused or failed one go on; does nothing for one that is done.
    ///
    /// When it returns, the task is on disk: whatever happens to this program, the daemon or the machine, it goes on. A
    /// failed task whose end was taken already is recorded anew.
    ///
    /// - Throws: ``TransferError/Code/badRequest`` for what cannot be recorded, ``TransferError/Code/daemonUnavailable``,
    ///   ``TransferError/Code/timedOut``, ``TransferError/Code/sessionInvalid``, ``TransferError/Code/cancelled``.
    public func resume() async throws(TransferError) { try await session.resume(self) }

    /// Holds the task until ``resume()``; what was moved is kept.
    ///
    /// When it returns, that is on disk, and the task stands still, unless stopping takes longer than some seconds.
    ///
    /// - Throws: As ``resume()``; ``TransferError/Code/unknownTask`` for a task that is not recorded.
    public func pause() async throws(TransferError) { try await session.change(self, .pause) }

    /// Gives the task up; does nothing for one that has finished.
    ///
    /// It returns as ``pause()`` does.
    ///
    /// - Throws: As ``pause()``.
    public func cancel() async throws(TransferError) {
        if status?.isFinished != true { try await session.change(self, .cancel) }
    }

    /// Makes the task more or less urgent.
    ///
    /// - Parameter priority: How urgent it is from now on.
    /// - Throws: As ``pause()``.
    public func setPriority(_ priority: SessionTask.Priority) async throws(TransferError) {
        try await session.change(self, .prioritize(priority))
    }

    /// How it stands, each time that it changes, until it has finished; more than one reader is allowed.
    ///
    /// A slow reader skips changes but never misses the last one. It also ends with the session.
    public var updates: AsyncStream<BackgroundStatus> { record.updates(keeping: self) }

    /// What it brought, once it has finished.
    ///
    /// While nobody reads ``BackgroundSession/events``, the result counts as taken when this returns or throws a
    /// ``BackgroundFailure``: the daemon forgets the task, and no later session is told of it.
    ///
    /// - Throws: ``BackgroundFailure`` when it was given up. Cancelling the Swift task that waits ends the wait alone
    ///   (`CancellationError`). ``TransferError`` when its session ended before: ``TransferError/Code/sessionInvalid``,
    ///   ``TransferError/Code/daemonUnavailable``; ``TransferError/Code/unknownTask`` when somebody removed it.
    public var value: BackgroundResult {
        get async throws {
            let end = try await session.end(of: self)
            guard end.state == .failed else { return end.result ?? BackgroundResult() }
            throw end.failure ?? BackgroundFailure(code: "other", message: "the task has failed")
        }
    }
}
