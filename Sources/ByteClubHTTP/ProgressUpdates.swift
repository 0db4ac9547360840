import Synchronization

/// The counters of a task as they change, latest wins.
///
/// A slow reader skips values but never misses the last one, after which the sequence ends. Any number of readers may
/// follow one task. A reader whose Swift task is cancelled gets the end at once.
public struct ProgressUpdates: AsyncSequence, Sendable {
    /// What the sequence consists of.
    public typealias Element = TaskProgress
    /// Following a task cannot fail.
    public typealias Failure = Never

    let task: SessionTask

    /// Reads the values of one sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let task: SessionTask
        private var seen: UInt64 = 0

        init(task: SessionTask) { self.task = task }

        /// The newest counters not seen yet, or nil after the last.
        ///
        /// - Parameter actor: Where the caller runs.
        /// - Returns: The counters.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> TaskProgress? {
            guard let (version, progress) = await task.nextProgress(after: seen) else { return nil }
            seen = version
            return progress
        }

        /// The newest counters not seen yet, or nil after the last.
        ///
        /// - Returns: The counters.
        public mutating func next() async -> TaskProgress? { await next(isolation: nil) }
    }

    /// Begins to follow.
    ///
    /// - Returns: A reader of its own.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: task) }
}

/// The one place where a task's newest counters are, and who waits for newer ones.
struct ProgressSlot {
    private(set) var latest = TaskProgress()
    private(set) var version: UInt64 = 0
    private(set) var isFinished = false
    private var listeners: [(id: UInt64, waiter: Waiter<Void>)] = []
    private var lastListener: UInt64 = 0

    mutating func publish(_ progress: TaskProgress) -> [Waiter<Void>] {
        latest = progress
        version += 1
        return takeListeners()
    }

    mutating func finish(_ progress: TaskProgress?) -> [Waiter<Void>] {
        if let progress, progress != latest {
            latest = progress
            version += 1
        }
        isFinished = true
        return takeListeners()
    }

    mutating func nextListenerID() -> UInt64 {
        lastListener += 1
        return lastListener
    }

    mutating func listen(_ id: UInt64, _ waiter: Waiter<Void>) {
        listeners.append((id, waiter))
    }

    mutating func forget(_ id: UInt64) -> Waiter<Void>? {
        guard let index = listeners.firstIndex(where: { $0.id == id }) else { return nil }
        return listeners.remove(at: index).waiter
    }

    private mutating func takeListeners() -> [Waiter<Void>] {
        if listeners.isEmpty { return [] }
        defer { listeners = [] }
        return listeners.map { $0.waiter }
    }
}

extension SessionTask {
    /// The counters as they change, ending with the task.
    public var progressUpdates: ProgressUpdates { ProgressUpdates(task: self) }

    func nextProgress(after seen: UInt64) async -> (version: UInt64, progress: TaskProgress)? {
        while !Task.isCancelled {
            let (now, id) = shared.withLock { shared in
                (
                    shared.updates.version > seen || shared.updates.isFinished ? shared.updates : nil,
                    shared.updates.nextListenerID()
                )
            }
            if let now { return now.version > seen ? (now.version, now.latest) : nil }
            await withTaskCancellationHandler {
                await Waiter<Void>.value { waiter in
                    shared.withLock { shared in
                        if shared.updates.version > seen || shared.updates.isFinished || Task.isCancelled { return () }
                        shared.updates.listen(id, waiter)
                        return nil
                    }
                }
            } onCancel: {
                shared.withLock { $0.updates.forget(id) }?.resume()
            }
        }
        return nil
    }
}
