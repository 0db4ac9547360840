import Synchronization

/// The progress of a task.
///
/// Counters never decrease within one attempt; a higher ``attempt`` means that the request started over.
public struct TaskProgress: Sendable, Hashable {
    /// Body bytes handed to the network.
    public var bytesSent: Int64 = 0

    /// The length of the request's body, or -1 when it is not known yet.
    public var bytesExpectedToSend: Int64 = -1

    /// Body bytes received, as transferred: before any decompression.
    ///
    /// In a resumed download, earlier bytes are included once the server has agreed.
    public var bytesReceived: Int64 = 0

    /// The length of the response's body, or -1 when it is unknown.
    public var bytesExpectedToReceive: Int64 = -1

    /// The rate of the larger direction, smoothed over about a second.
    public var bytesPerSecond: Double = 0

    /// The number of the attempt, from 1; 0 before the first.
    public var attempt = 0

    /// The estimated time left in the larger direction; nil while its length or the rate is unknown.
    public var timeLeft: Duration? {
        let (sending, receiving) = (bytesExpectedToSend - bytesSent, bytesExpectedToReceive - bytesReceived)
        let left = bytesExpectedToReceive > 0 ? max(receiving, 0) : max(sending, 0)
        guard max(bytesExpectedToSend, bytesExpectedToReceive) > 0 else { return nil }
        if left == 0 { return .zero }
        guard bytesPerSecond >= 1 else { return nil }
        return .seconds(Double(left) / bytesPerSecond)
    }

    /// Creates counters at zero.
    public init() {}
}

/// The progress of a task as a sequence that skips to the latest value.
///
/// A slow reader skips values but always gets the last one, after which the sequence ends. Any number of readers may
/// follow one task. Cancelling a reader's Swift task ends its sequence at once.
public struct ProgressUpdates: AsyncSequence, Sendable {
    /// The element type.
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
        /// - Parameter actor: The caller's isolation.
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

    /// Starts reading.
    ///
    /// - Returns: An independent reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: task) }
}

/// A task's newest progress, and the readers that wait for newer values.
struct ProgressSlot {
    private(set) var latest = TaskProgress()
    private(set) var version: UInt64 = 0
    private(set) var isFinished = false
    /// The readers that the next value wakes.
    private var readers: [Wakeup] = []

    mutating func publish(_ progress: TaskProgress) -> [Wakeup] {
        latest = progress
        version += 1
        defer { readers = [] }
        return readers
    }

    mutating func finish(_ progress: TaskProgress?) -> [Wakeup] {
        isFinished = true
        if let progress, progress != latest { return publish(progress) }
        defer { readers = [] }
        return readers
    }

    mutating func listen(_ reader: Wakeup) { readers.append(reader) }

    mutating func forget(_ reader: Wakeup) { readers.removeAll { $0 === reader } }
}

extension SessionTask {
    /// The progress as it changes, ending with the task.
    public var progressUpdates: ProgressUpdates { ProgressUpdates(task: self) }

    func nextProgress(after seen: UInt64) async -> (version: UInt64, progress: TaskProgress)? {
        let news = Wakeup()
        while !Task.isCancelled {
            let now = shared.withLock { shared -> ProgressSlot? in
                if shared.updates.version > seen || shared.updates.isFinished { return shared.updates }
                shared.updates.listen(news)
                return nil
            }
            if let now { return now.version > seen ? (now.version, now.latest) : nil }
            await news.sleep()
        }
        shared.withLock { $0.updates.forget(news) }
        return nil
    }
}
