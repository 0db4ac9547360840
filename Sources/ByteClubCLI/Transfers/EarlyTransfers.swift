import ByteClubCore
import Synchronization

/// Transfers of a batch that begin before their turn; their results are taken in the batch's order.
///
/// Only small ones do, and no further one while ``width`` are under way, or so many bytes as ``LinePace`` tells: on a slow
/// line each waits for all others.
struct EarlyTransfers<Value: Sendable> {
    /// A transfer under way.
    struct Transfer: Sendable {
        /// Its content's size in bytes.
        let size: Int64
        /// What no other transfer under way may have.
        let key: String
        let turn: TransferTurn
        fileprivate let task: Task<Value, any Error>

        /// Its result; it is cancelled with the task that waits for it.
        func value() async throws -> Value {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// The most bytes that a transfer may have to begin early.
    static var largest: Int64 { 8 << 20 }

    /// How many may be under way; none begins early when that is 1.
    private let width: Int
    private var underWay: [Int: Transfer] = [:]
    private var pace = LinePace()

    init(width: Int) { self.width = width }

    /// Whether another transfer may begin.
    var hasRoom: Bool {
        width > 1 && underWay.count < width && underWay.values.reduce(0) { $0 + $1.size } < pace.mostBytes
    }

    /// Learns that the next of the batch was over after so many seconds of waiting for it.
    mutating func learn(_ bytes: Int64, in seconds: Double) { pace.take(bytes, in: seconds) }

    /// Begins the transfer with a number in the batch.
    mutating func begin(
        _ number: Int, size: Int64, key: String, _ transfer: @escaping @Sendable (TransferTurn) async throws -> Value
    ) {
        let turn = TransferTurn()
        underWay[number] = Transfer(size: size, key: key, turn: turn, task: Task { try await transfer(turn) })
    }

    /// Whether one of those under way is as told.
    func contains(where predicate: (Transfer) -> Bool) -> Bool { underWay.values.contains(where: predicate) }

    /// Whether the transfer with a number has begun.
    func hasBegun(_ number: Int) -> Bool { underWay[number] != nil }

    /// The transfer whose turn it is; nil when it has not begun.
    mutating func take(_ number: Int) -> Transfer? { underWay.removeValue(forKey: number) }

    /// Cancels all that is under way, and gives the results of what has come to its end nevertheless, in order.
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

/// Keeps back the progress of a transfer until it is its turn.
final class TransferTurn: Sendable {
    /// Who is told, and how it begins there.
    ///
    /// It holds no transfer, which holds the turn.
    private struct Listener: Sendable {
        let reporter: ProgressReporter
        let begin: @Sendable (Int64) -> Void
    }

    private struct State {
        /// How many bytes had been moved before, once it has begun.
        var start: Int64?
        var last: TransferProgress?
        var listener: Listener?
    }

    private let state = Mutex(State())

    /// Says that bytes are about to travel, after so many that have travelled before.
    func begin(from completed: Int64 = 0) {
        state.withLock { state in
            state.start = completed
            state.listener?.begin(completed)
        }
    }

    /// Takes how far it is.
    func report(_ progress: TransferProgress) {
        state.withLock { state in
            state.last = progress
            state.listener?.reporter.update(progress)
        }
    }

    /// Tells a reporter what was kept back, and from now on at once: the photo's transfer, its place among all, and its
    /// size in bytes where that is known.
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
