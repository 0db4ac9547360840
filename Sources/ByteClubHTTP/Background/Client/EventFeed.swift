/// What the reader of a session's events is told, and when a result counts as taken; pure.
struct EventFeed: Sendable {
    private var queue = StatusQueue()
    /// The end that the reader was told, and may still be busy with.
    private var told: BackgroundStatus?
    /// The sequences of ends that were taken, until the daemon has noted that.
    private var taken: [BackgroundTask.ID: UInt64] = [:]
    private var reader: UInt64?

    var latest: [BackgroundTask.ID: BackgroundStatus] { queue.latest }

    /// The ends that were taken and that the daemon has not noted.
    var takenEnds: [TakenEnd] { taken.map { TakenEnd(id: $0.key, sequence: $0.value) } }

    /// Whether somebody reads.
    var isRead: Bool { reader != nil }

    mutating func beginReplay() { queue.beginReplay() }

    mutating func endReplay() -> [BackgroundTask.ID] { queue.endReplay() }

    /// Takes how a task stands; false when that is no news.
    mutating func take(_ status: BackgroundStatus) -> Bool {
        if let sequence = taken[status.id] {
            if status.isFinished, status.sequence <= sequence { return false }
            // It was resumed by somebody before the daemon heard that its end was taken.
            taken[status.id] = nil
        }
        return queue.take(status)
    }

    mutating func remove(_ id: BackgroundTask.ID) {
        queue.remove(id)
        taken[id] = nil
    }

    /// Somebody got the task's end otherwise; when nobody reads events, it is taken with that.
    ///
    /// - Returns: Whether the daemon is to be told.
    mutating func takeEnd(of id: BackgroundTask.ID) -> Bool {
        guard reader == nil, let status = latest[id], status.isFinished else { return false }
        note(status)
        return true
    }

    /// What was told last counts as taken.
    ///
    /// - Returns: The end that the daemon is to be told was taken.
    mutating func takeTold() -> TakenEnd? {
        guard let status = told else { return nil }
        told = nil
        // It may have been resumed since.
        guard let now = latest[status.id], now.isFinished, now.sequence == status.sequence else { return nil }
        note(status)
        return TakenEnd(id: status.id, sequence: status.sequence)
    }

    private mutating func note(_ status: BackgroundStatus) {
        queue.remove(status.id)
        taken[status.id] = status.sequence
    }

    /// The daemon has noted these.
    mutating func acknowledged(_ ends: [TakenEnd]) {
        for end in ends where taken[end.id] == end.sequence { taken[end.id] = nil }
    }

    /// A reader begins, and another one ends with that; it is told first how all stands.
    mutating func begin(_ number: UInt64) {
        guard reader.map({ $0 < number }) ?? true else { return }
        reader = number
        queue.tellAll()
    }

    mutating func stop(_ number: UInt64) {
        guard reader == number else { return }
        reader = nil
        queue.stop()
    }

    /// Whether the reader is the present one.
    func isPresent(_ number: UInt64) -> Bool { reader == number }

    /// What to tell next; nil for nothing.
    ///
    /// Call ``takeTold()`` before.
    mutating func next() -> BackgroundEvent? {
        switch queue.next() {
        case nil: return nil
        case .told: return .caughtUp
        case .status(let status):
            guard status.isFinished else { return .changed(status) }
            told = status
            return .finished(status)
        }
    }
}
