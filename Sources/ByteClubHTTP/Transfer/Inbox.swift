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
/// The loop is only woken when it sleeps, and locks only to take what is there: it says that it is going to sleep and
/// then looks for commands, who posts adds a command and then looks for a sleeper, so one of them sees the other. The
/// descriptor lives as long as anybody can post.
final class Inbox: Sendable {
    private struct State {
        var commands: [Command] = []
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
    private let hasCommands = Atomic(false)
    private let isSleeping = Atomic(false)

    init(_ configuration: SessionConfiguration, events: EventHub) throws(TransferError) {
        self.configuration = configuration
        self.events = events
        descriptor = byteclub_eventfd()
        guard descriptor >= 0 else {
            throw TransferError(.other, "the session cannot start: \(systemMessage(Glibc.errno))")
        }
    }

    deinit { close(descriptor) }

    /// Hands a command to the loop and wakes it; false if the session does not take it any more.
    func post(_ command: Command) -> Bool {
        defer { wake() }
        return add(command)
    }

    /// Adds a command without waking the loop; false if the session does not take it any more.
    ///
    /// It is for who holds a lock that the loop would wait for as soon as it is awake; ``wake()`` must follow once that
    /// is free.
    func add(_ command: Command) -> Bool {
        state.withLock { state in
            if state.isClosed { return false }
            switch command {
            case .start where state.isInvalidating: return false
            case .invalidate: state.isInvalidating = true
            default: break
            }
            state.commands.append(command)
            hasCommands.store(true, ordering: .sequentiallyConsistent)
            return true
        }
    }

    /// Wakes the loop if it sleeps.
    func wake() {
        guard isSleeping.exchange(false, ordering: .sequentiallyConsistent) else { return }
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }

    /// Takes all commands.
    func take(into commands: inout [Command]) {
        commands.removeAll(keepingCapacity: true)
        guard hasCommands.load(ordering: .sequentiallyConsistent) else { return }
        state.withLock { state in
            swap(&state.commands, &commands)
            hasCommands.store(false, ordering: .sequentiallyConsistent)
        }
    }

    /// Calls `poll`, which waits for the descriptor among others and says whether it is readable, unless there are
    /// commands.
    func sleep(_ poll: () -> Bool) {
        isSleeping.store(true, ordering: .sequentiallyConsistent)
        let isCalled = !hasCommands.load(ordering: .sequentiallyConsistent) && poll()
        isSleeping.store(false, ordering: .sequentiallyConsistent)
        // Who saw the loop asleep may make the descriptor readable only now: that costs one look at nothing, later.
        if isCalled { clear() }
    }

    private func clear() {
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
}
