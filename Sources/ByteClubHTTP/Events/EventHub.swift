/// Everybody who listens to a session, each with a channel of its own.
final class EventHub: Sendable {
    private let channels: [EventChannel]
    private let delegate: EventChannel?

    init(monitors: [any EventMonitor], delegate: (any SessionDelegate)?, name: String) {
        self.delegate = delegate.map { delegate in
            let caller = DelegateCaller(delegate, name: name)
            return EventChannel { await caller.take($0) }
        }
        let others = monitors.map { monitor in
            EventChannel { item in
                switch item {
                case .event(let event, let task): await monitor.receive(event, of: task)
                case .redirect(_, _, let waiter): waiter.resume(.follow)
                case .end: await monitor.sessionEnded(name)
                }
            }
        }
        channels = others + [self.delegate].compactMap { $0 }
    }

    /// Whether nobody listens.
    var isEmpty: Bool { channels.isEmpty }

    var hasDelegate: Bool { delegate != nil }

    func post(_ event: TaskEvent, of task: SessionTask) {
        for channel in channels { channel.post(.event(event, task)) }
    }

    /// Asks the delegate, behind everything that it is to hear before.
    func decide(_ redirect: Redirect, of task: SessionTask) async -> RedirectDecision {
        guard let delegate else { return .follow }
        return await Waiter.value { delegate.post(.redirect(redirect, task, $0)) ? nil : .follow }
    }

    /// Tells that the session has ended; nothing is told after that.
    func end() {
        for channel in channels { channel.post(.end) }
    }
}
