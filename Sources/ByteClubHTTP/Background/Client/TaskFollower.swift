import Synchronization

/// The state of a daemon's tasks as one program has received it: filled by a ``DaemonClient``'s thread, read from any.
///
/// It serves a ``BackgroundSession`` and ``BackgroundControl/updates()``.
final class TaskFollower: Sendable {
    private struct WeakRecord {
        weak var record: TaskRecord?
    }

    private struct State {
        var feed: StatusFeed
        var records: [BackgroundTask.ID: WeakRecord] = [:]
        var isCaughtUp = false
        var ended: TransferError?
        var opening: Waiter<Void>?
        var lastReader: UInt64 = 0
        /// Wakes the current reader.
        var news: Wakeup?
    }

    private let state: Mutex<State>

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

    /// Whether the daemon has the task, as far as it has reported.
    func isRecorded(_ id: BackgroundTask.ID) -> Bool { state.withLock { $0.feed.latest[id] != nil } }

    /// The given tasks without those whose ends were taken.
    func current(_ statuses: [BackgroundStatus]) -> [BackgroundStatus] {
        state.withLock { state in statuses.filter { state.feed.latest[$0.id] != nil } }
    }

    // MARK: - Results

    /// See ``StatusFeed/takeEnd(of:)``.
    func takeEnd(of id: BackgroundTask.ID) -> Bool { state.withLock { $0.feed.takeEnd(of: id) } }

    /// See ``StatusFeed/takeHandled()``.
    func takeHandled() { state.withLock { _ = $0.feed.takeHandled() } }

    /// See ``StatusFeed/takenEnds``.
    var takenEnds: [TakenEnd] { state.withLock { $0.feed.takenEnds } }

    func confirm(_ ends: [TakenEnd]) { state.withLock { $0.feed.confirm(ends) } }

    /// Sends the daemon the ends that were taken, without waiting for its answer.
    func acknowledge(_ ends: [TakenEnd], by client: DaemonClient) {
        guard !ends.isEmpty else { return }
        client.post(.acknowledge(ends)) { outcome in
            if case .success = outcome { self.confirm(ends) }
        }
    }

    // MARK: - Readers

    fileprivate func nextReader() -> UInt64 {
        state.withLock { state in
            state.lastReader += 1
            return state.lastReader
        }
    }

    fileprivate enum Reading: Sendable {
        case event(BackgroundEvent)
        case nothing
        case end
    }

    fileprivate func begin(_ reader: UInt64) { state.withLock { $0.feed.begin(reader) } }

    /// The next event of a reader.
    ///
    /// - Parameters:
    ///   - reader: The reader, which displaces older ones.
    ///   - news: Wakes it when there was nothing.
    /// - Returns: The event, and the end that the reader has taken by asking for it.
    fileprivate func read(_ reader: UInt64, news: Wakeup) -> (Reading, taken: TakenEnd?) {
        let (result, former) = state.withLock { state -> ((Reading, taken: TakenEnd?), Wakeup?) in
            state.feed.begin(reader)
            guard state.feed.isCurrent(reader) else { return ((.end, nil), nil) }
            let former = state.news === news ? nil : state.news
            state.news = news
            let taken = state.feed.takeHandled()
            // After the end of a session, a further result could not be acknowledged.
            let mayGoOn = state.ended == nil || !state.feed.isTaking
            let event = mayGoOn ? state.feed.next() : nil
            return ((event.map { .event($0) } ?? (state.ended == nil ? .nothing : .end), taken), former)
        }
        former?.wake()
        return result
    }

    fileprivate func stop(_ reader: UInt64) {
        state.withLock { state in
            if state.feed.isCurrent(reader) { state.news = nil }
            state.feed.stop(reader)
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
        number = follower.nextReader()
    }

    deinit { follower.stop(number) }

    /// Begins before the first ``next()``, so that no end is missed from here on.
    func begin() { follower.begin(number) }

    /// The next event; nil when the follower has ended, a newer reader has begun, or the Swift task is cancelled.
    func next() async -> BackgroundEvent? {
        while !Task.isCancelled {
            let (reading, taken) = follower.read(number, news: news)
            if let taken { follower.acknowledge([taken], by: client) }
            switch reading {
            case .event(let event): return event
            case .end: return nil
            case .nothing: await news.sleep()
            }
        }
        return nil
    }
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
