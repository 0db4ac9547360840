import CLibcurl
import Glibc
import Synchronization

/// What a daemon's loop is told by others.
enum DaemonNotice: Sendable {
    /// A task's work is over.
    case ended(BackgroundTask.ID, TaskQueue.End)
    /// What a relayed request brought.
    case relayed(connection: UInt64, number: UInt64, DaemonAnswer)
    /// What a task had left is removed.
    case discarded(BackgroundTask.ID, number: UInt64)
    /// Whoever wants to know of an end was told.
    case toldEnd
    /// The daemon is to end.
    case stop
}

/// The way from any thread to a daemon's loop.
final class DaemonInbox: Sendable {
    private struct State {
        var notices: [DaemonNotice] = []
        /// How far works are, where that was not taken yet.
        var progress: [BackgroundTask.ID: WorkProgress] = [:]
        var result: Result<Void, TransferError>?
        var waiters: [Waiter<Result<Void, TransferError>>] = []
    }

    /// Becomes readable when something was posted.
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

    /// Tells how far a work is; what was told before and not taken is forgotten.
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

    /// Says how the loop ended.
    func end(_ result: Result<Void, TransferError>) {
        let waiters = state.withLock { state in
            state.result = result
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(result) }
    }

    /// How the loop ended, once it has.
    func ended() async -> Result<Void, TransferError> {
        await Waiter<Result<Void, TransferError>>.value { waiter in
            state.withLock { state in
                if state.result == nil { state.waiters.append(waiter) }
                return state.result
            }
        }
    }

    private func wake() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }
}

/// How far a work is.
struct WorkProgress: Sendable, Hashable {
    /// Bytes that need not be moved again.
    var bytes: Int64
    var total: Int64?
    var bytesPerSecond: Double = 0
}
