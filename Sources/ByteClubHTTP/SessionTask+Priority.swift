import Synchronization

extension SessionTask {
    /// How urgent a task is among those that wait for the same host.
    public enum Priority: Int, Sendable, Hashable, CaseIterable {
        /// Before all others.
        case high
        /// The usual.
        case normal
        /// When nothing else waits.
        case low
    }

    /// How urgent the task is; setting it moves a task that waits behind those of the new priority.
    ///
    /// Within a priority tasks keep their order. Nobody starves: while several priorities wait for a host, of eight
    /// turns one goes to a normal task and one to a low one. It does not matter any more once a task is under way.
    public var priority: Priority {
        get { shared.withLock { $0.priority } }
        set {
            shared.withLock { shared in
                guard shared.priority != newValue else { return }
                shared.priority = newValue
                // Under the lock, so that the start of a task cannot be overtaken.
                if shared.isStarted { _ = inbox.add(.prioritize(self)) }
            }
            inbox.wake()
        }
    }
}
