import ByteClubCore
import Synchronization

/// An event from outside a session; it is handled between two steps, never during one.
enum SessionEvent: Sendable {
    /// The watcher reported changes of the disk.
    case disk(DiskChange)
    /// A wait for the server's changes has ended.
    case polled(PollResult)
    /// A large file's transfer has ended.
    case transferEnded(ItemID, TransferResult)
    /// A large file's transfer has made progress.
    case transferProgressed(ItemID, TransferProgress)
    /// A file was read for the audit; nil when there was none to read.
    case audited(AuditedFile?)
    /// The network's cost is known, or has changed.
    case network(isMetered: Bool)
}

/// The queue of a session's events: any thread may post; only the session drains it and waits.
final class SyncInbox: Sendable {
    private struct State {
        var events: [SessionEvent] = []
        /// All changes of the disk as one event: a step may last while millions of files are written.
        var disk: DiskChange?
        /// The latest progress of each large file's transfer.
        var progress: [ItemID: TransferProgress] = [:]
        var waiter: CheckedContinuation<Void, Never>?
        var isWoken = false

        var isEmpty: Bool { events.isEmpty && disk == nil && progress.isEmpty }
    }

    private let state = Mutex(State())

    /// Adds an event, and wakes the session if it waits.
    func post(_ event: SessionEvent) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            switch event {
            case .transferProgressed(let item, let progress): state.progress[item] = progress
            case .disk(let change): if state.disk?.add(change) == nil { state.disk = change }
            default: state.events.append(event)
            }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Removes and returns all events since the last call: the changes on disk as one, then the others in their order.
    func drain() -> [SessionEvent] {
        state.withLock { state in
            defer { (state.events, state.disk, state.progress) = ([], nil, [:]) }
            let progress = state.progress.sorted { $0.key < $1.key }
            return (state.disk.map { [.disk($0)] } ?? []) + state.events
                + progress.map { .transferProgressed($0.key, $0.value) }
        }
    }

    /// Waits for an event, or until a moment; nil is no limit.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func wait(until deadline: SyncInstant?, _ environment: SyncEnvironment) async throws {
        let timer = deadline.map { deadline in
            Task(executorPreference: environment.workers) { [self] in
                try await environment.clock.sleep(until: deadline)
                wake()
            }
        }
        defer { timer?.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.isWoken || !state.isEmpty { return true }
                    state.waiter = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            wake()
        }
        state.withLock { $0.isWoken = false }
        try Task.checkCancellation()
    }

    private func wake() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isWoken = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
