import Dispatch
import GRDB
import Synchronization

/// The one writer: changes that wait at the same time share a transaction and its sync.
final class GroupCommit: Sendable {
    /// The most changes in one transaction.
    static let maximumChanges = 256
    /// The most bytes of content in one transaction, unless a single change has more.
    static let maximumBytes = 16 << 20

    private struct Change: Sendable {
        let bytes: Int
        /// Runs the change, and returns how to answer its caller once the transaction has ended.
        let run: @Sendable (WriteTransaction) -> Report
        /// Answers the caller of a change that never ran.
        let refuse: @Sendable (any Error) -> Void
    }

    /// Ends a caller's wait; nil when the transaction is durable.
    private typealias Report = @Sendable ((any Error)?) -> Void

    private struct State {
        var waiting: [Change] = []
        var isDraining = false
        var isClosed = false
        var statistics = StoreStatistics()
    }

    private let pool: DatabasePool
    private let files: FileBlobStore
    private let settings: HistorySettings
    private let checkpointer: Checkpointer?
    private let signal: ChangeSignal
    private let queue = DispatchQueue(label: "byteclub.storage.writer", qos: .userInitiated)
    private let state = Mutex(State())

    /// Writes through a pool, and announces durable changes to `signal`.
    ///
    /// Without a checkpointer, SQLite empties its log within commits.
    init(
        pool: DatabasePool, files: FileBlobStore, settings: HistorySettings, checkpointer: Checkpointer?,
        signal: ChangeSignal
    ) {
        (self.pool, self.files, self.settings) = (pool, files, settings)
        (self.checkpointer, self.signal) = (checkpointer, signal)
    }

    /// The transactions that have become durable, and what they replaced.
    var statistics: StoreStatistics { state.withLock { $0.statistics } }

    /// Runs a change in the next transaction, and returns when that is durable.
    ///
    /// - Throws: What the change throws, ``StorageError`` for what the database does, `closed` after ``close()``.
    func perform<T: Sendable>(
        bytes: Int = 0, _ body: @escaping @Sendable (WriteTransaction) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let change = Change(
                bytes: bytes,
                run: { transaction in
                    let result = Result { try transaction.change { try body(transaction) } }
                    return { error in
                        switch (result, error) {
                        case (.failure(let error), _): continuation.resume(throwing: StorageError.translating(error))
                        case (.success, let error?): continuation.resume(throwing: error)
                        case (.success(let value), nil): continuation.resume(returning: value)
                        }
                    }
                },
                refuse: { continuation.resume(throwing: $0) })
            if !enqueue(change) { continuation.resume(throwing: StorageError(.closed, "the storage is closed")) }
        }
    }

    /// Refuses further changes and waits for those under way.
    func close() throws {
        state.withLock { $0.isClosed = true }
        queue.sync {}
        try checkpointer?.close()
    }

    private func enqueue(_ change: Change) -> Bool {
        let (isAccepted, wakes) = state.withLock { state in
            if state.isClosed { return (false, false) }
            state.waiting.append(change)
            defer { state.isDraining = true }
            return (true, !state.isDraining)
        }
        if wakes { queue.async { self.drain() } }
        return isAccepted
    }

    private func drain() {
        while let batch = nextBatch() { commit(batch) }
    }

    private func nextBatch() -> [Change]? {
        state.withLock { state in
            var count = 0
            var bytes = 0
            for change in state.waiting.prefix(Self.maximumChanges) {
                bytes += change.bytes
                if count > 0, bytes > Self.maximumBytes { break }
                count += 1
            }
            if count == 0 {
                state.isDraining = false
                return nil
            }
            let batch = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(count)
            return batch
        }
    }

    private func commit(_ batch: [Change]) {
        var reports: [Report] = []
        let start = ContinuousClock.now
        do {
            try pool.writeWithoutTransaction { database in
                try database.beginTransaction(.immediate)
                do {
                    try runAll(batch, in: database, reports: &reports)
                } catch {
                    if database.isInsideTransaction { try database.rollback() }
                    throw error
                }
            }
            let seconds = start.duration(to: .now) / .seconds(1)
            state.withLock { state in
                state.statistics.commits.time.record(seconds)
                state.statistics.commits.changes += Int64(batch.count)
            }
            for report in reports { report(nil) }
            keepLogShort(after: batch)
        } catch {
            let error = StorageError.translating(error)
            for report in reports { report(error) }
            // Changes that had not begun get the same answer.
            for change in batch.dropFirst(reports.count) { change.refuse(error) }
        }
    }

    /// Keeps the log short, after the answers, so that no caller waits for it.
    ///
    /// Pages that cannot be copied now are copied the next time.
    private func keepLogShort(after batch: [Change]) {
        let bytes = batch.reduce(0) { $0 + $1.bytes }
        guard let checkpointer, checkpointer.committed(changes: batch.count, bytes: bytes) else { return }
        _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.passive) }
    }

    private func runAll(_ batch: [Change], in database: Database, reports: inout [Report]) throws {
        let transaction = try WriteTransaction(database: database, files: files, settings: settings)
        do {
            for change in batch {
                reports.append(change.run(transaction))
                if let failure = transaction.failure { throw failure }
            }
            try transaction.prepareCommit()
        } catch {
            transaction.undo()
            throw error
        }
        // When this fails the log may hold the commit all the same, and bring it back after a crash: so the files stay,
        // and what nothing refers to is collected some day.
        try database.commit()
        let changes = transaction.accepted
        state.withLock { $0.statistics.replacedBytes += changes.usage.replaced }
        signal.notify(changes.entries, below: changes.subtrees, upTo: changes.lastRevision)
    }
}
