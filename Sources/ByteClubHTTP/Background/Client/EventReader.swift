/// One pass over a session's events; whoever drops it reads no more.
final class EventReader: Sendable {
    private let core: SessionCore
    private let client: DaemonClient
    private let number: UInt64
    private let news = Wakeup()

    init(_ core: SessionCore, _ client: DaemonClient) {
        self.core = core
        self.client = client
        number = core.nextReader()
    }

    deinit { core.stop(number) }

    /// The next event; nil when the session has ended, another reader began, or the Swift task is cancelled.
    func next() async -> BackgroundEvent? {
        while !Task.isCancelled {
            let (reading, taken) = core.read(number, news: news)
            if let taken { core.acknowledge([taken], by: client) }
            switch reading {
            case .event(let event): return event
            case .end: return nil
            case .nothing: await news.sleep()
            }
        }
        return nil
    }
}
