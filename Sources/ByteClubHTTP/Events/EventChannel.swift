import Synchronization

/// Brings events to one consumer, one after the other and off the session's thread, without ever holding up who posts.
///
/// What happened to a task is never dropped. Counters that no other event of their task followed yet are replaced by
/// newer ones in their place, so a slow consumer holds at most one of them for each other event.
final class EventChannel: Sendable {
    enum Item: Sendable {
        case event(TaskEvent, SessionTask)
        /// A question for the consumer; it must answer.
        case redirect(Redirect, SessionTask, Waiter<RedirectDecision>)
        /// The session has ended.
        case end
    }

    typealias Consumer = @Sendable (Item) async -> Void

    private struct State {
        var items: [Item] = []
        /// Where in `items` the newest counters of a task are, until another event of the task follows.
        var counters: [UInt64: Int] = [:]
        var isDelivering = false
        var isEnded = false
        var consumer: Consumer?
    }

    private let state: Mutex<State>

    init(_ consumer: @escaping Consumer) { state = Mutex(State(consumer: consumer)) }

    /// Adds an item behind all others; false if the session has ended, when nothing is told any more.
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
            case .event(_, let task), .redirect(_, let task, _):
                state.counters[task.id] = nil
                state.items.append(item)
            case .end:
                state.isEnded = true
                state.items.append(item)
            }
            if !state.isDelivering {
                state.isDelivering = true
                Task.detached { await self.deliver() }
            }
            return true
        }
    }

    private func deliver() async {
        while let (items, consumer) = take() {
            for item in items { await consumer(item) }
        }
    }

    /// All that is there, or nil for the end of the delivery.
    private func take() -> ([Item], Consumer)? {
        state.withLock { state in
            guard !state.items.isEmpty, let consumer = state.consumer else {
                state.isDelivering = false
                return nil
            }
            let items = state.items
            state.items = []
            state.counters = [:]
            // After the last item nothing is told any more, and who listened is let go.
            if state.isEnded { state.consumer = nil }
            return (items, consumer)
        }
    }
}
