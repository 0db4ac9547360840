import CLibcurl
import Glibc
import Synchronization

/// A message to a daemon's loop from another thread.
enum DaemonNotice: Sendable {
    /// A task's work has ended.
    case ended(BackgroundTask.ID, TaskQueue.End)
    /// A relayed request has its answer.
    case relayed(connection: UInt64, number: UInt64, DaemonAnswer)
    /// The remains of a task are removed.
    case discarded(BackgroundTask.ID, number: UInt64)
    /// ``BackgroundDaemon/finished`` has returned.
    case finished
    /// A program of ``RelaunchPlan/Step/start(_:_:)`` runs, cannot be started, or has ended.
    case relaunch(RelaunchPlan.Event)
    /// The conditions of the network, now or after a change.
    case conditions(NetworkConditions)
    /// The daemon must end.
    case stop
}

/// The way from any thread to a daemon's loop.
final class DaemonInbox: Sendable {
    private struct State {
        var notices: [DaemonNotice] = []
        /// The latest progress of each work since the loop read it last.
        var progress: [BackgroundTask.ID: WorkProgress] = [:]
    }

    /// Becomes readable when something is posted.
    let descriptor: Int32
    private let state = Mutex(State())

    init() throws(TransferError) {
        descriptor = byteclub_eventfd()
        guard descriptor >= 0 else {
            throw TransferError(.badConfiguration, "the daemon cannot start: \(systemMessage(errno))")
        }
    }

    deinit { close(descriptor) }

    func post(_ notice: DaemonNotice) {
        let isFirst = state.withLock { state in
            state.notices.append(notice)
            return state.notices.count == 1
        }
        if isFirst { wake() }
    }

    /// Posts the progress of a work, which replaces progress that the loop has not read.
    func post(_ progress: WorkProgress, of id: BackgroundTask.ID) {
        let isFirst = state.withLock { $0.progress.updateValue(progress, forKey: id) == nil && $0.progress.count == 1 }
        if isFirst { wake() }
    }

    func takeNotices() -> [DaemonNotice] {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, 8)
        return state.withLock { state in
            defer { state.notices = [] }
            return state.notices
        }
    }

    func takeProgress() -> [BackgroundTask.ID: WorkProgress] {
        state.withLock { state in
            defer { state.progress = [:] }
            return state.progress
        }
    }

    private func wake() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }
}

/// The progress of a work.
struct WorkProgress: Sendable, Hashable {
    /// Bytes that need not be transferred again.
    var bytes: Int64
    var total: Int64?
    var bytesPerSecond: Double = 0
}
