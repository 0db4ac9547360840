import CLibcurl
import Glibc
import Synchronization

/// A command for a session's loop.
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
    /// The answer of user code about the task.
    ///
    /// It is indirect to keep the other cases small, since thousands of them may be queued.
    indirect case answer(SessionTask, Answer)
    /// The answer of user code about a challenge.
    indirect case decide(Inquiry.Decision)
    /// The answer of user code about a server's certificates.
    indirect case judge(TrustBook.Answer)
    /// Report all tasks that were started and have no result.
    case tasks(Waiter<[SessionTask]?>)
    /// The conditions of the network, now or after a change.
    case conditions(NetworkConditions)
    /// The task's body has bytes again.
    case sendMore(SessionTask)
    /// Accept no new tasks, complete or cancel the running ones, then end the loop.
    case invalidate(cancelling: Bool)
}

/// The channel from any thread to a session's loop.
///
/// The loop is only woken when it sleeps, and only locks to fetch commands. It announces that it will sleep and then
/// checks for commands; a sender adds a command and then checks for a sleeper. So one of them sees the other. The
/// descriptor lives as long as commands can be posted.
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
    /// The listeners of the session.
    let events: EventHub
    /// The tasks that were not started yet.
    let unstarted = UnstartedTasks()
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

    /// Posts a command and wakes the loop; false if the session no longer accepts it.
    func post(_ command: Command) -> Bool {
        defer { wake() }
        return add(command)
    }

    /// Adds a command without waking the loop; false if the session no longer accepts it.
    ///
    /// Use it while holding a lock that the loop would wait for as soon as it is awake, and call ``wake()`` after
    /// unlocking.
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

    /// Removes all commands.
    func take(into commands: inout [Command]) {
        commands.removeAll(keepingCapacity: true)
        guard hasCommands.load(ordering: .sequentiallyConsistent) else { return }
        state.withLock { state in
            swap(&state.commands, &commands)
            hasCommands.store(false, ordering: .sequentiallyConsistent)
        }
    }

    /// Calls `poll` unless there are commands.
    ///
    /// `poll` waits for the descriptor among others and returns whether it is readable.
    func sleep(_ poll: () -> Bool) {
        isSleeping.store(true, ordering: .sequentiallyConsistent)
        let isCalled = !hasCommands.load(ordering: .sequentiallyConsistent) && poll()
        isSleeping.store(false, ordering: .sequentiallyConsistent)
        // A sender that saw the loop asleep may signal the descriptor only now, which costs one empty turn later.
        if isCalled { clear() }
    }

    private func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, 8)
    }

    /// Closes the inbox and resumes its waiters; false if it still holds commands.
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

/// A continuation that is resumed exactly once.
///
/// It is safe to pass around: code that removes a waiter from its list, under the list's lock, resumes it after
/// unlocking.
@safe
struct Waiter<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, Never>

    /// Waits for the value; `register` stores the waiter, or returns a value that is already available.
    static func value(_ register: (Waiter) -> Value?) async -> Value {
        await unsafe withUnsafeContinuation { continuation in
            let waiter = unsafe Waiter(continuation: continuation)
            if let value = register(waiter) { waiter.resume(value) }
        }
    }

    func resume(_ value: Value) { unsafe continuation.resume(returning: value) }
}

extension Waiter where Value == Void {
    func resume() { resume(()) }
}

/// Lets one consumer sleep until there is news.
final class Wakeup: Sendable {
    private struct State {
        var isDue = false
        var waiter: Waiter<Void>?
    }

    private let state = Mutex(State())

    /// Ends the sleep, or the next one when nothing sleeps.
    func wake() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            state.isDue = state.waiter == nil
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns after a ``wake()`` since the last sleep, when the Swift task is cancelled, or when another sleep begins.
    func sleep() async {
        await withTaskCancellationHandler {
            await Waiter<Void>.value { waiter in
                let former = state.withLock { state -> Waiter<Void>? in
                    if state.isDue || Task.isCancelled {
                        state.isDue = false
                        return waiter
                    }
                    defer { state.waiter = waiter }
                    return state.waiter
                }
                former?.resume()
                return nil
            }
        } onCancel: {
            wake()
        }
    }
}
