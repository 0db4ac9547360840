import Synchronization

/// The tasks of a session that their owners have not resumed yet.
///
/// The list holds them weakly: a task that was dropped before its start has no end. Tasks of the async functions start
/// at once and are never in the list.
final class UnstartedTasks: Sendable {
    private struct Entry {
        weak var task: SessionTask?
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var isClosed = false
    }

    /// How many entries an empty list keeps memory for.
    private static let mostKept = 64

    private let state = Mutex(State())

    /// All tasks in no order.
    var all: [SessionTask] { state.withLock { $0.entries.values.compactMap(\.task) } }

    /// The number of tasks.
    var count: Int { state.withLock { $0.entries.count } }

    func add(_ task: SessionTask) {
        state.withLock { state in
            if !state.isClosed { state.entries[task.id] = Entry(task: task) }
        }
    }

    /// Removes a task that was started, has ended or is being released.
    func remove(_ id: UInt64) {
        state.withLock { state in
            state.entries[id] = nil
            // Not after each task, which would allocate for each.
            if state.entries.isEmpty, state.entries.capacity > Self.mostKept { state.entries = [:] }
        }
    }

    /// Removes and returns all tasks, and accepts no more.
    func close() -> [SessionTask] {
        // The strong references outlive the lock: the end of the last one of a task locks again.
        state.withLock { state in
            state.isClosed = true
            defer { state.entries = [:] }
            return state.entries.values.compactMap(\.task)
        }
    }
}
