import Glibc
import Synchronization

/// Knows what is waited for, and ends the program when that takes far too long.
final class Watch: Sendable {
    private struct Wait {
        let what: String
        let deadline: ContinuousClock.Instant
    }

    private let waits = Mutex<[UInt64: Wait]>([:])
    private let last = Atomic<UInt64>(0)

    /// What a task may take at most: the time for its resource, and what a loaded machine adds.
    static let patience = Duration.seconds(150)

    /// Waits for something that must end.
    func expect<Value: Sendable>(_ what: String, _ body: () async -> Value) async -> Value {
        let id = last.wrappingAdd(1, ordering: .relaxed).newValue
        waits.withLock { $0[id] = Wait(what: what, deadline: .now + Self.patience) }
        defer { waits.withLock { _ = $0.removeValue(forKey: id) } }
        return await body()
    }

    /// What waits longer than it may.
    var overdue: [String] {
        let now = ContinuousClock.now
        return waits.withLock { $0.values.filter { $0.deadline < now }.map(\.what) }
    }
}
