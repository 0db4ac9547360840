import ByteClubCore
import Synchronization

/// Transfers of a batch that begin early; their results are used in the batch's order.
///
/// Only small ones do, at most ``width`` at once and as many bytes as ``LinePace`` allows: on a slow line each waits
/// for the others.
struct EarlyTransfers<Value: Sendable> {
    /// A transfer under way.
    struct Transfer: Sendable {
        /// Its content's size in bytes.
        let size: Int64
        /// A key that no other running transfer may have.
        let key: String
        let turn: TransferTurn
        fileprivate let task: Task<Value, any Error>

        /// Its result; a cancellation of the waiting task cancels it.
        func value() async throws -> Value {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// The most bytes of a transfer that may start early.
    static var largest: Int64 { 8 << 20 }

    /// The most running transfers; none starts early when it is 1.
    private let width: Int
    private var underWay: [Int: Transfer] = [:]
    /// The durations of the current transfers.
    var pace = LinePace()

    init(width: Int) { self.width = width }

    /// Whether another transfer may begin.
    var hasRoom: Bool {
        width > 1 && underWay.count < width && underWay.values.reduce(0) { $0 + $1.size } < pace.mostBytes
    }

    /// Starts the transfer with a number in the batch.
    mutating func begin(
        _ number: Int, size: Int64, key: String, _ transfer: @escaping @Sendable (TransferTurn) async throws -> Value
    ) {
        let turn = TransferTurn()
        underWay[number] = Transfer(size: size, key: key, turn: turn, task: Task { try await transfer(turn) })
    }

    /// Whether a running transfer fulfils a condition.
    func contains(where predicate: (Transfer) -> Bool) -> Bool { underWay.values.contains(where: predicate) }

    /// Whether the transfer with a number has started.
    func hasBegun(_ number: Int) -> Bool { underWay[number] != nil }

    /// Removes and returns the current transfer; nil when it has not started early.
    mutating func take(_ number: Int) -> Transfer? { underWay.removeValue(forKey: number) }

    /// Cancels all running transfers, and returns the results of those that have finished nevertheless, in order.
    mutating func cancel() async -> [Value] {
        let transfers = underWay.sorted { $0.key < $1.key }.map(\.value)
        underWay = [:]
        for transfer in transfers { transfer.task.cancel() }
        var values: [Value] = []
        for transfer in transfers {
            if let value = try? await transfer.task.value { values.append(value) }
        }
        return values
    }
}

/// Holds back the progress of a transfer until it is the current one.
final class TransferTurn: Sendable {
    /// The reporter of a transfer's progress.
    ///
    /// It holds no reference to the transfer, which holds it.
    private struct Listener: Sendable {
        let reporter: ProgressReporter
        let begin: @Sendable (Int64) -> Void
    }

    private struct State {
        /// Bytes of earlier attempts, after the start.
        var start: Int64?
        var last: TransferProgress?
        var listener: Listener?
    }

    private let state = Mutex(State())

    /// Reports that bytes are about to travel, after so many of earlier attempts.
    func begin(from completed: Int64 = 0) {
        state.withLock { state in
            state.start = completed
            state.listener?.begin(completed)
        }
    }

    /// Reports the progress.
    func report(_ progress: TransferProgress) {
        state.withLock { state in
            state.last = progress
            state.listener?.reporter.update(progress)
        }
    }

    /// Sends the held-back progress to a reporter, and then all further one: the photo's transfer, its place among all,
    /// and its size in bytes when known.
    func come(to reporter: ProgressReporter, _ path: RemotePath, _ place: (number: Int, of: Int)?, total: Int64?) {
        let listener = Listener(reporter: reporter) {
            reporter.start(path.name, path: path.string, place: place, total: total, from: $0)
        }
        state.withLock { state in
            state.listener = listener
            if let start = state.start { listener.begin(start) }
            if let last = state.last { reporter.update(last) }
        }
    }
}
