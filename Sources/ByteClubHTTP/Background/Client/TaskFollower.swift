import Synchronization

/// The state of a daemon's tasks as one program has received it: filled by a ``DaemonClient``'s thread, read from any.
///
/// It serves a ``BackgroundSession`` and ``BackgroundControl/updates()``.
final class TaskFollower: Sendable {
    fileprivate struct WeakRecord {
        weak var record: TaskRecord?
    }

    fileprivate struct State {
        var feed: StatusFeed
        var records: [BackgroundTask.ID: WeakRecord] = [:]
        var isCaughtUp = false
        var ended: TransferError?
        var opening: Waiter<Void>?
        var lastReader: UInt64 = 0
        /// Wakes the current reader.
        var news: Wakeup?
    }

    fileprivate let state: Mutex<State>

    /// A follower without tasks.
    ///
    /// - Parameter isTaking: Whether its readers take results; see ``StatusFeed``.
    init(isTaking: Bool) { state = Mutex(State(feed: StatusFeed(isTaking: isTaking))) }

    // MARK: - What the daemon reports

    /// Handles a notice of the daemon; called by one thread at a time.
    func handle(_ notice: DaemonClient.Notice) {
        switch notice {
        case .began: state.withLock { $0.feed.beginReplay() }
        case .event(.status(let status)): merge([status])
        case .event(.gone(let id)): remove([id])
        case .event(.caughtUp):
            let (gone, opening, news) = state.withLock { state in
                state.isCaughtUp = true
                return (state.feed.endReplay(), state.opening.take(), state.news)
            }
            remove(gone)
            opening?.resume()
            news?.wake()
        case .ended(let error): end(error)
        }
    }

    /// Merges statuses from an event or an answer.
    func merge(_ statuses: [BackgroundStatus]) {
        let (changes, news) = state.withLock { state in
            let changed = statuses.filter { state.feed.add($0) }
            return (changed.map { ($0, state.records[$0.id]?.record) }, state.news)
        }
        for (status, record) in changes { record?.publish(status) }
        if !changes.isEmpty { news?.wake() }
    }

    /// Removes tasks that the daemon has forgotten, and fails the waits for their ends.
    private func remove(_ ids: [BackgroundTask.ID]) {
        let records = state.withLock { state in
            for id in ids { state.feed.remove(id) }
            return ids.compactMap { state.records[$0]?.record }
        }
        for record in records where record.latest?.isFinished != true {
            record.end(TransferError(.unknownTask, "task \(record.id) was removed before it had finished"))
        }
    }

    private func end(_ error: TransferError) {
        let (opening, records, news) = state.withLock { state in
            state.ended = error
            return (state.opening.take(), state.records.values.compactMap(\.record), state.news)
        }
        for record in records { record.end(error) }
        opening?.resume()
        news?.wake()
    }

    /// Returns once the daemon has reported all tasks; for one caller.
    func caughtUp() async throws(TransferError) {
        await Waiter<Void>.value { waiter in
            state.withLock { state in
                if state.isCaughtUp || state.ended != nil { return () }
                state.opening = waiter
                return nil
            }
        }
        if let error = state.withLock({ $0.ended }) { throw error }
    }

    // MARK: - Tasks

    /// The record of a task, which all holders of the task share.
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

    // MARK: - Results

    /// Reads or changes what the daemon has reported and what was taken of it.
    func feed<Value: Sendable>(_ body: (inout StatusFeed) -> Value) -> Value { state.withLock { body(&$0.feed) } }

    /// Sends the daemon the ends that were taken, without waiting for its answer.
    func acknowledge(_ ends: [TakenEnd], by client: DaemonClient) {
        guard !ends.isEmpty else { return }
        client.post(.acknowledge(ends)) { outcome in
            if case .success = outcome { self.feed { $0.confirm(ends) } }
        }
    }
}

/// One pass over a follower's events; dropping the reader ends the pass.
final class EventReader: Sendable {
    private let follower: TaskFollower
    private let client: DaemonClient
    private let number: UInt64
    private let news = Wakeup()

    init(_ follower: TaskFollower, _ client: DaemonClient) {
        self.follower = follower
        self.client = client
        number = follower.state.withLock { state in
            state.lastReader += 1
            return state.lastReader
        }
    }

    deinit {
        follower.state.withLock { state in
            if state.feed.isCurrent(number) { state.news = nil }
            state.feed.stop(number)
        }
    }

    /// Begins before the first ``next()``, so that no end is missed from here on.
    func begin() { follower.feed { $0.begin(number) } }

    /// The next event; nil when the follower has ended, a newer reader has begun, or the Swift task is cancelled.
    func next() async -> BackgroundEvent? {
        while !Task.isCancelled {
            let (event, isOver, taken) = read()
            if let taken { follower.acknowledge([taken], by: client) }
            if event != nil || isOver { return event }
            await news.sleep()
        }
        return nil
    }

    /// Displaces older readers.
    ///
    /// - Returns: The next event, whether nothing follows when there is none, and the end that was taken by asking.
    private func read() -> (event: BackgroundEvent?, isOver: Bool, taken: TakenEnd?) {
        let (result, former) = follower.state.withLock { state -> ((BackgroundEvent?, Bool, TakenEnd?), Wakeup?) in
            state.feed.begin(number)
            guard state.feed.isCurrent(number) else { return ((nil, true, nil), nil) }
            let former = state.news === news ? nil : state.news
            state.news = news
            let taken = state.feed.takeHandled()
            // After the end of a session, a further result could not be acknowledged.
            let mayGoOn = state.ended == nil || !state.feed.isTaking
            return ((mayGoOn ? state.feed.next() : nil, state.ended != nil, taken), former)
        }
        former?.wake()
        return result
    }
}
