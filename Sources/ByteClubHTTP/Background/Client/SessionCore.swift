import Synchronization

/// What a background session knows of its tasks, shared by those who tell it and those who follow it.
final class SessionCore: Sendable {
    private struct WeakRecord {
        weak var record: TaskRecord?
    }

    private struct State {
        var feed = EventFeed()
        var records: [BackgroundTask.ID: WeakRecord] = [:]
        var isCaughtUp = false
        var ended: TransferError?
        var openings: [Waiter<Void>] = []
        var lastReader: UInt64 = 0
        /// Wakes the present reader of events.
        var news: Wakeup?
    }

    private let state = Mutex(State())

    /// Takes what the daemon tells; by one thread at a time.
    func take(_ notice: DaemonClient.Notice) {
        switch notice {
        case .began: state.withLock { $0.feed.beginReplay() }
        case .event(.status(let status)): merge([status])
        case .event(.gone(let id)): remove([id])
        case .event(.caughtUp):
            let gone = state.withLock { $0.feed.endReplay() }
            remove(gone)
            let openings = state.withLock { state in
                state.isCaughtUp = true
                defer { state.openings = [] }
                return state.openings
            }
            for opening in openings { opening.resume() }
        case .ended(let error): end(error)
        }
    }

    /// Takes how tasks stand, from an event or an answer.
    func merge(_ statuses: [BackgroundStatus]) {
        for status in statuses {
            let (isNews, record, news) = state.withLock { state in
                (state.feed.take(status), state.records[status.id]?.record, state.news)
            }
            guard isNews else { continue }
            record?.publish(status)
            news?.wake()
        }
    }

    /// These are not recorded any more; whoever waits for the end of one waits in vain.
    private func remove(_ ids: [BackgroundTask.ID]) {
        for id in ids {
            let record = state.withLock { state in
                state.feed.remove(id)
                return state.records[id]?.record
            }
            if let record, record.latest?.isFinished != true {
                record.end(TransferError(.unknownTask, "task \(id) was removed before it had finished"))
            }
        }
    }

    private func end(_ error: TransferError) {
        let (openings, records, news) = state.withLock { state -> ([Waiter<Void>], [TaskRecord], Wakeup?) in
            state.ended = error
            defer { state.openings = [] }
            return (state.openings, state.records.values.compactMap(\.record), state.news)
        }
        for record in records { record.end(error) }
        for opening in openings { opening.resume() }
        news?.wake()
    }

    /// Returns when all that was missed is here.
    func caughtUp() async throws(TransferError) {
        await Waiter<Void>.value { waiter in
            state.withLock { state in
                if state.isCaughtUp || state.ended != nil { return () }
                state.openings.append(waiter)
                return nil
            }
        }
        if let error = ended { throw error }
    }

    var ended: TransferError? { state.withLock { $0.ended } }

    // MARK: - Tasks

    /// The record of a task, the same for all who hold it.
    func record(of id: BackgroundTask.ID) -> TaskRecord {
        let (record, error) = state.withLock { state -> (TaskRecord, TransferError?) in
            if let record = state.records[id]?.record { return (record, nil) }
            let record = TaskRecord(id, latest: state.feed.latest[id]) { [weak self] in self?.release($0) }
            state.records[id] = WeakRecord(record: record)
            return (record, state.ended)
        }
        if let error { record.end(error) }
        return record
    }

    private func release(_ id: BackgroundTask.ID) {
        state.withLock { state in
            if state.records[id]?.record == nil { state.records[id] = nil }
        }
    }

    /// Whether the daemon has the task, as far as was told.
    func isRecorded(_ id: BackgroundTask.ID) -> Bool { state.withLock { $0.feed.latest[id] != nil } }

    /// Those of the tasks whose ends were not taken.
    func current(_ statuses: [BackgroundStatus]) -> [BackgroundStatus] {
        state.withLock { state in statuses.filter { state.feed.latest[$0.id] != nil } }
    }

    // MARK: - Ends

    /// See ``EventFeed/takeEnd(of:)``.
    func takeEnd(of id: BackgroundTask.ID) -> Bool { state.withLock { $0.feed.takeEnd(of: id) } }

    /// Counts what was told last as taken.
    func takeTold() { state.withLock { _ = $0.feed.takeTold() } }

    /// The ends that the daemon has not noted yet that they were taken.
    var taken: [TakenEnd] { state.withLock { $0.feed.takenEnds } }

    func acknowledged(_ ends: [TakenEnd]) { state.withLock { $0.feed.acknowledged(ends) } }

    /// Tells the daemon that ends were taken, and does not wait until it has noted that.
    func acknowledge(_ ends: [TakenEnd], by client: DaemonClient) {
        guard !ends.isEmpty else { return }
        client.post(.acknowledge(ends)) { outcome in
            if case .success = outcome { self.acknowledged(ends) }
        }
    }

    // MARK: - Events

    func nextReader() -> UInt64 {
        state.withLock { state in
            state.lastReader += 1
            return state.lastReader
        }
    }

    enum Reading: Sendable {
        case event(BackgroundEvent)
        case nothing
        case end
    }

    /// Reads for somebody.
    ///
    /// - Parameters:
    ///   - reader: Who reads; a newer one than before ends the reading of that one.
    ///   - news: How it is woken when there was nothing.
    /// - Returns: What it is told next, and the end that was taken with asking for it.
    func read(_ reader: UInt64, news: Wakeup) -> (Reading, taken: TakenEnd?) {
        let (result, former) = state.withLock { state -> ((Reading, taken: TakenEnd?), Wakeup?) in
            state.feed.begin(reader)
            guard state.feed.isPresent(reader) else { return ((.end, nil), nil) }
            let former = state.news === news ? nil : state.news
            state.news = news
            let taken = state.feed.takeTold()
            guard state.ended == nil else { return ((.end, taken), former) }
            return ((state.feed.next().map { .event($0) } ?? .nothing, taken), former)
        }
        former?.wake()
        return result
    }

    func stop(_ reader: UInt64) {
        state.withLock { state in
            if state.feed.isPresent(reader) { state.news = nil }
            state.feed.stop(reader)
        }
    }
}
