import Synchronization

/// A network whose cost a test switches.
public final class SwitchedNetwork: Sendable {
    private struct State {
        var isMetered: Bool
        var listeners: [Int: AsyncStream<Bool>.Continuation] = [:]
        var count = 0
    }

    private let state: Mutex<State>

    /// Creates one with its cost.
    public init(isMetered: Bool) { state = Mutex(State(isMetered: isMetered)) }

    /// Whether it is metered now.
    public var isMetered: Bool { state.withLock { $0.isMetered } }

    /// How many follow it now.
    public var listeners: Int { state.withLock { $0.listeners.count } }

    /// Begins a stream of whether it is metered: now, and after each change.
    public func states() -> AsyncStream<Bool> {
        AsyncStream { listener in
            let number = state.withLock { state in
                state.count += 1
                state.listeners[state.count] = listener
                listener.yield(state.isMetered)
                return state.count
            }
            listener.onTermination = { [self] _ in state.withLock { $0.listeners[number] = nil } }
        }
    }

    /// Makes it metered or unmetered.
    public func set(isMetered: Bool) {
        state.withLock { state in
            state.isMetered = isMetered
            for listener in state.listeners.values { listener.yield(isMetered) }
        }
    }
}
