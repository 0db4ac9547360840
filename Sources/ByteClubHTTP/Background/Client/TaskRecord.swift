import Synchronization

/// What a program that holds a task knows of it, and who follows it.
final class TaskRecord: Sendable {
    private struct State {
        var latest: BackgroundStatus?
        var ended: TransferError?
        var readers: [UInt64: AsyncStream<BackgroundStatus>.Continuation] = [:]
        var lastReader: UInt64 = 0
    }

    let id: BackgroundTask.ID
    private let state: Mutex<State>
    private let released: @Sendable (BackgroundTask.ID) -> Void

    /// A record.
    ///
    /// - Parameters:
    ///   - id: Which task.
    ///   - latest: How it stands.
    ///   - released: Called when nobody holds the record any more.
    init(
        _ id: BackgroundTask.ID, latest: BackgroundStatus?, released: @escaping @Sendable (BackgroundTask.ID) -> Void
    ) {
        self.id = id
        self.released = released
        state = Mutex(State(latest: latest))
    }

    deinit { released(id) }

    var latest: BackgroundStatus? { state.withLock { $0.latest } }

    /// Why nothing is told any more; nil while something is.
    var ended: TransferError? { state.withLock { $0.ended } }

    /// Tells all readers; by one thread at a time.
    func publish(_ status: BackgroundStatus) {
        let readers = state.withLock { state in
            state.latest = status
            defer { if status.isFinished { state.readers = [:] } }
            return state.readers.values
        }
        for reader in readers {
            reader.yield(status)
            if status.isFinished { reader.finish() }
        }
    }

    /// Ends what readers are told: nothing follows.
    func end(_ error: TransferError) {
        let readers = state.withLock { state in
            state.ended = error
            defer { state.readers = [:] }
            return state.readers.values
        }
        for reader in readers { reader.finish() }
    }

    /// It is recorded again.
    func revive() { state.withLock { $0.ended = nil } }

    /// How the task stands, each time that it changes, until it has finished; of several changes the last.
    ///
    /// - Parameter owner: Lives for as long as somebody reads.
    /// - Returns: A sequence for one reader.
    func updates(keeping owner: BackgroundTask) -> AsyncStream<BackgroundStatus> {
        let (stream, reader) = AsyncStream.makeStream(of: BackgroundStatus.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isOver) = state.withLock { state in
            state.lastReader += 1
            // Within the lock, so that nothing newer comes before it.
            if let latest = state.latest { reader.yield(latest) }
            let isOver = state.latest?.isFinished == true || state.ended != nil
            if !isOver { state.readers[state.lastReader] = reader }
            return (state.lastReader, isOver)
        }
        if isOver {
            reader.finish()
        } else {
            reader.onTermination = { _ in
                owner.record.state.withLock { state in _ = state.readers.removeValue(forKey: number) }
            }
        }
        return stream
    }
}
