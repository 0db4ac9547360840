public import HTTPTypes
import Synchronization

/// One request of a ``Session``, from its creation to its result.
///
/// A task starts suspended: nothing happens before ``resume()``. All members may be used from any thread.
public final class SessionTask: Sendable {
    /// The state of a task.
    public enum State: String, Sendable, Hashable {
        /// Not started, or suspended: no traffic, and no timer runs.
        case suspended
        /// Queued or running.
        case running
        /// Cancelled, the result is about to follow.
        case canceling
        /// Completed with a result.
        case completed
    }

    enum Kind: Sendable {
        case data
        case upload
        case download(path: String)
        case stream(ResponseStream)
    }

    struct Shared {
        var state = State.suspended
        var suspensions = 1
        var isStarted = false
        var result: Result<TaskResult, TransferError>?
        var waiters: [Waiter<Result<TaskResult, TransferError>>] = []
        var updates = ProgressSlot()
        var priority: Priority
        var keepsResumeData = false
    }

    /// A number that is unique in the process.
    public let id: UInt64

    /// The original request.
    public let request: HTTPRequest

    let kind: Kind
    let body: Body
    let options: TaskOptions
    let inbox: Inbox
    let resumeData: ResumeData?
    let shared: Mutex<Shared>
    /// Whether the session lists the task until it is started, since its owner decides when.
    private let isListed: Bool

    private static let lastID = Atomic<UInt64>(0)

    init(
        _ kind: Kind, _ request: HTTPRequest, body: Body, options: TaskOptions, inbox: Inbox,
        resumeData: ResumeData? = nil, isListed: Bool = false
    ) {
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
        self.kind = kind
        self.request = request
        self.body = body
        self.options = options
        self.inbox = inbox
        shared = Mutex(Shared(priority: options.priority))
        self.resumeData = resumeData
        self.isListed = isListed
        tell(.created)
        if isListed { inbox.unstarted.add(self) }
    }

    deinit {
        if isListed, shared.withLock({ !$0.isStarted && $0.result == nil }) { inbox.unstarted.remove(id) }
    }

    /// The request to send, with the session's fields.
    ///
    /// - Throws: ``TransferError/Code/badRequest``.
    func head() throws(TransferError) -> RequestHead {
        try RequestHead(request, body: body, options: options, additional: inbox.configuration.additionalHeaders)
    }

    /// Posts an event to the session's listeners.
    func tell(_ event: @autoclosure () -> TaskEvent) {
        if !inbox.events.isEmpty { inbox.events.post(event(), of: self) }
    }

    var isDownload: Bool { if case .download = kind { true } else { false } }

    /// The current state.
    public var state: State { shared.withLock { $0.state } }

    /// The counters as last reported; at most 100 ms old while bytes move.
    public var progress: TaskProgress { shared.withLock { $0.updates.latest } }

    /// Starts the task, or undoes one ``suspend()``; does nothing once the task is being cancelled or has completed.
    public func resume() {
        var isStart = false
        let isRefused = shared.withLock { shared -> Bool in
            guard shared.state == .suspended else { return false }
            shared.suspensions -= 1
            guard shared.suspensions == 0 else { return false }
            shared.state = .running
            // Posted under the lock, so that no event of the loop precedes it.
            tell(.resumed)
            // Added under the lock, so that no cancel can overtake it.
            if shared.isStarted { return !inbox.add(.resume(self)) }
            shared.isStarted = true
            isStart = true
            return !inbox.add(.start(self))
        }
        inbox.wake()
        // Only now: until its command is in the inbox, a task is found in the list alone.
        if isStart, isListed { inbox.unstarted.remove(id) }
        if isRefused { complete(.failure(TransferError(.sessionInvalid, "the session accepts no more requests"))) }
    }

    /// Suspends the task: it has no traffic and its timers stop until ``resume()`` was called as often as
    /// ``suspend()``.
    ///
    /// A running task keeps its slot, so with one task per host no other one overtakes it. After a long pause the
    /// server may close the connection, which counts as a lost connection.
    public func suspend() {
        shared.withLock { shared in
            switch shared.state {
            case .suspended: shared.suspensions += 1
            case .running:
                shared.suspensions = 1
                shared.state = .suspended
                tell(.suspended)
                _ = inbox.add(.suspend(self))
            case .canceling, .completed: break
            }
        }
        inbox.wake()
    }

    /// Ends the task with ``TransferError/Code/cancelled``, in whatever it is doing; does nothing once it is completed.
    public func cancel() {
        let isUnstarted = shared.withLock { shared -> Bool in
            guard shared.state == .suspended || shared.state == .running else { return false }
            shared.state = .canceling
            return !(shared.isStarted && inbox.add(.cancel(self)))
        }
        inbox.wake()
        guard isUnstarted else { return }
        if isListed { inbox.unstarted.remove(id) }
        complete(.failure(TransferError(.cancelled, "cancelled")))
    }

    /// The result, once the task has completed; every caller gets the same one.
    ///
    /// Cancelling the Swift task that waits does not cancel this task; the functions of ``Session`` do that.
    public var value: TaskResult {
        get async throws(TransferError) { try await outcome.get() }
    }

    /// The same without throwing.
    var outcome: Result<TaskResult, TransferError> {
        get async {
            await Waiter<Result<TaskResult, TransferError>>.value { waiter in
                shared.withLock { shared in
                    if shared.result == nil { shared.waiters.append(waiter) }
                    return shared.result
                }
            }
        }
    }

    /// Sets the result, unless there is one, and resumes all waiters without holding the lock.
    func complete(_ result: Result<TaskResult, TransferError>, progress: TaskProgress? = nil) {
        let (waiters, readers) = shared.withLock {
            shared -> ([Waiter<Result<TaskResult, TransferError>>], [Wakeup]) in
            guard shared.result == nil else { return ([], []) }
            shared.result = result
            shared.state = .completed
            if let progress, progress != shared.updates.latest { tell(.progress(progress)) }
            tell(.finished(result))
            defer { shared.waiters = [] }
            return (shared.waiters, shared.updates.finish(progress))
        }
        if case .stream(let stream) = kind { stream.finish(result) }
        for reader in readers { reader.wake() }
        for waiter in waiters { waiter.resume(result) }
    }

    /// Publishes new progress.
    func publish(_ progress: TaskProgress) {
        tell(.progress(progress))
        for reader in shared.withLock({ $0.updates.publish(progress) }) { reader.wake() }
    }
}

extension SessionTask {
    /// The priority among tasks that wait for the same host.
    public enum Priority: Int, Sendable, Hashable, CaseIterable {
        /// Ahead of all others.
        case high
        /// The default.
        case normal
        /// When nothing else waits.
        case low
    }

    /// The task's priority; setting it moves a waiting task to the end of that priority's queue.
    ///
    /// Tasks of equal priority keep their order. No priority starves: while several wait for a host, one of eight turns
    /// is reserved for normal and one for low tasks. The priority has no effect once the task runs.
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
