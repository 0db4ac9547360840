import CLibcurl
import Glibc
import Synchronization

/// What a session's loop is asked to do.
enum Command: Sendable {
    case start(SessionTask)
    case cancel(SessionTask)
    case suspend(SessionTask)
    case resume(SessionTask)
    /// The reader of a streamed body has room again.
    case unpause(SessionTask)
    /// The task's priority changed.
    case prioritize(SessionTask)
    /// The session's rate limit changed.
    case limit(Int?)
    /// What user code answered that was asked about the task; apart, since thousands of the others may wait.
    indirect case answer(SessionTask, Answer)
    /// The task's body has bytes again.
    case sendMore(SessionTask)
    /// Take nothing new, end what runs (or cancel it), then end the loop.
    case invalidate(cancelling: Bool)
}

/// The one way from any thread to a session's loop.
///
/// The loop is only woken when it sleeps. The descriptor lives as long as anybody can post.
final class Inbox: Sendable {
    private struct State {
        var commands: [Command] = []
        var isSleeping = false
        var isInvalidating = false
        var isClosed = false
        var waiters: [Waiter<Void>] = []
    }

    /// Becomes readable when the loop has to wake up.
    let descriptor: Int32
    let configuration: SessionConfiguration
    /// Who hears of the session's tasks.
    let events: EventHub
    private let state = Mutex(State())

    init(_ configuration: SessionConfiguration, events: EventHub) throws(TransferError) {
        self.configuration = configuration
        self.events = events
        descriptor = byteclub_eventfd()
        guard descriptor >= 0 else {
            throw TransferError(.other, "the session cannot start: \(systemMessage(Glibc.errno))")
        }
    }

    deinit { close(descriptor) }

    /// Hands a command to the loop; false if the session does not take it any more.
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            if state.isClosed { return false }
            switch command {
            case .start where state.isInvalidating: return false
            case .invalidate: state.isInvalidating = true
            default: break
            }
            state.commands.append(command)
            if state.isSleeping {
                // Under the lock: who sees that the loop no longer sleeps may rely on the descriptor being readable.
                state.isSleeping = false
                wake()
            }
            return true
        }
    }

    /// Takes all commands.
    ///
    /// If there are none the loop is marked as sleeping when `sleepy`; it must then poll.
    func take(into commands: inout [Command], sleepy: Bool) {
        commands.removeAll(keepingCapacity: true)
        state.withLock { state in
            swap(&state.commands, &commands)
            state.isSleeping = sleepy && commands.isEmpty
        }
    }

    /// Clears the descriptor after the loop slept.
    func woke() {
        let wasAwaited = state.withLock { state in
            defer { state.isSleeping = false }
            return !state.isSleeping
        }
        guard wasAwaited else { return }
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, 8)
    }

    /// Ends the inbox and tells who waits for that; false if commands are still in it.
    func end() -> Bool {
        let waiters = state.withLock { state -> [Waiter<Void>]? in
            guard state.commands.isEmpty else { return nil }
            state.isClosed = true
            state.isInvalidating = true
            defer { state.waiters = [] }
            return state.waiters
        }
        guard let waiters else { return false }
        events.end()
        for waiter in waiters { waiter.resume() }
        return true
    }

    /// Returns when the loop has ended.
    func ended() async {
        await Waiter<Void>.value { waiter in
            state.withLock { state in
                if state.isClosed { return () }
                state.waiters.append(waiter)
                return nil
            }
        }
    }

    private func wake() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }
}
