import Synchronization

/// All listeners of a session, each with its own channel.
final class EventHub: Sendable {
    private let channels: [EventChannel]
    private let delegate: EventChannel?

    init(monitors: [any EventMonitor], delegate: (any SessionDelegate)?, name: String) {
        self.delegate = delegate.map { delegate in
            let caller = DelegateCaller(delegate, name: name)
            return EventChannel(executor: delegate.taskExecutor) { await caller.take($0) }
        }
        let others = monitors.map { monitor in
            EventChannel { item in
                switch item {
                case .event(let event, let task): await monitor.receive(event, of: task)
                case .redirect(_, _, let waiter): waiter.resume(.follow)
                case .challenge(_, _, let waiter): waiter.resume(.performDefault)
                case .pieces: break
                case .end: await monitor.sessionEnded(name)
                }
            }
        }
        channels = others + [self.delegate].compactMap { $0 }
    }

    /// Whether there are no listeners.
    var isEmpty: Bool { channels.isEmpty }

    var hasDelegate: Bool { delegate != nil }

    func post(_ event: TaskEvent, of task: SessionTask) {
        for channel in channels { channel.post(.event(event, task)) }
    }

    /// Notifies the delegate that bytes of a body wait for it.
    func postPieces(of task: SessionTask) { delegate?.post(.pieces(task)) }

    /// Asks the delegate about a redirect, after all earlier events were delivered.
    func decide(_ redirect: Redirect, of task: SessionTask) async -> RedirectDecision {
        guard let delegate else { return .follow }
        return await Waiter.value { delegate.post(.redirect(redirect, task, $0)) ? nil : .follow }
    }

    /// Asks the delegate about a challenge; nil if the task has ended meanwhile.
    func decide(_ challenge: AuthenticationChallenge, of task: SessionTask) async -> ChallengeDecision? {
        guard let delegate else { return .performDefault }
        return await Waiter<ChallengeDecision?>.value {
            delegate.post(.challenge(challenge, task, $0)) ? nil : .some(.performDefault)
        }
    }

    /// Reports the end of the session as the last event.
    func end() {
        for channel in channels { channel.post(.end) }
    }
}

/// Delivers events to one consumer in order, off the session's thread, without blocking the sender.
///
/// Events are never dropped, except that progress is replaced by newer progress as long as no other event of its task
/// follows. So a slow consumer holds at most one progress for each other event.
final class EventChannel: Sendable {
    enum Item: Sendable {
        case event(TaskEvent, SessionTask)
        /// Bytes of a task's body wait for the consumer.
        case pieces(SessionTask)
        /// A question for the consumer; it must answer.
        case redirect(Redirect, SessionTask, Waiter<RedirectDecision>)
        /// The same about a challenge; nil if the task has ended.
        case challenge(AuthenticationChallenge, SessionTask, Waiter<ChallengeDecision?>)
        /// The session has ended.
        case end
    }

    typealias Consumer = @Sendable (Item) async -> Void

    private struct State {
        var items: [Item] = []
        /// The index in `items` of a task's newest progress, until another event of the task follows.
        var counters: [UInt64: Int] = [:]
        var isDelivering = false
        var isEnded = false
        var consumer: Consumer?
    }

    private let state: Mutex<State>
    /// Where the consumer runs; nil for the default.
    private let executor: (any TaskExecutor)?

    init(executor: (any TaskExecutor)? = nil, _ consumer: @escaping Consumer) {
        state = Mutex(State(consumer: consumer))
        self.executor = executor
    }

    /// Adds an item at the end; false if the session has ended and no more events are delivered.
    @discardableResult
    func post(_ item: Item) -> Bool {
        state.withLock { state in
            if state.isEnded { return false }
            switch item {
            case .event(.progress, let task):
                if let index = state.counters[task.id] {
                    state.items[index] = item
                } else {
                    state.counters[task.id] = state.items.count
                    state.items.append(item)
                }
            case .event(_, let task), .redirect(_, let task, _), .challenge(_, let task, _):
                state.counters[task.id] = nil
                state.items.append(item)
            case .pieces: state.items.append(item)
            case .end:
                state.isEnded = true
                state.items.append(item)
            }
            if !state.isDelivering {
                state.isDelivering = true
                if let executor {
                    Task.detached(executorPreference: executor) { await self.deliver() }
                } else {
                    Task.detached { await self.deliver() }
                }
            }
            return true
        }
    }

    private func deliver() async {
        while let (items, consumer) = take() {
            for item in items { await consumer(item) }
        }
    }

    /// All queued items, or nil to end the delivery.
    private func take() -> ([Item], Consumer)? {
        state.withLock { state in
            guard !state.items.isEmpty, let consumer = state.consumer else {
                state.isDelivering = false
                return nil
            }
            let items = state.items
            state.items = []
            state.counters = [:]
            // The last item releases the consumer.
            if state.isEnded { state.consumer = nil }
            return (items, consumer)
        }
    }
}
