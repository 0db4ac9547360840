import Synchronization

/// One pass over how all tasks of a daemon stand; whoever drops it reads no more.
final class StatusReader: Sendable {
    private struct State {
        var queue = StatusQueue()
        var isEnded = false
    }

    /// Apart from the reader, since the client must not keep that.
    private final class Core: Sendable {
        let state = Mutex(State())
        let news = Wakeup()

        func take(_ notice: DaemonClient.Notice) {
            state.withLock { state in
                switch notice {
                case .began: state.queue.beginReplay()
                case .event(.status(let status)): _ = state.queue.take(status)
                case .event(.gone(let id)): state.queue.removeAfterEnd(id)
                case .event(.caughtUp): _ = state.queue.endReplay()
                case .ended: state.isEnded = true
                }
            }
            news.wake()
        }
    }

    private let core = Core()
    private let client: DaemonClient

    init(_ connector: DaemonConnector) async throws(TransferError) {
        core.state.withLock { $0.queue.tellAll() }
        client = DaemonClient(connector, role: .watch) { [core] _, notice in core.take(notice) }
        try await client.open()
    }

    /// How the next task stands; nil when the daemon is unavailable for good, or the Swift task is cancelled.
    func next() async -> BackgroundStatus? {
        while !Task.isCancelled {
            let (news, isEnded) = core.state.withLock { ($0.queue.next(), $0.isEnded) }
            switch news {
            case .status(let status): return status
            case .told: break
            case nil where isEnded: return nil
            case nil: await core.news.sleep()
            }
        }
        return nil
    }
}
