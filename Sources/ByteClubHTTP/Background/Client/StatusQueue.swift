/// How tasks stand, and whose news a reader was not told yet: of each task only the newest, so that a slow reader holds
/// nothing up.
struct StatusQueue: Sendable {
    enum News: Sendable, Hashable {
        case status(BackgroundStatus)
        /// All that ``StatusQueue/tellAll()`` put in the queue was told.
        case told
    }

    private enum Item: Sendable {
        case task(BackgroundTask.ID)
        case mark
    }

    private(set) var latest: [BackgroundTask.ID: BackgroundStatus] = [:]
    /// The tasks' order as they were told first.
    private var places: [BackgroundTask.ID: UInt64] = [:]
    private var lastPlace: UInt64 = 0
    private var items = FIFO<Item>()
    private var waiting: Set<BackgroundTask.ID> = []
    /// Ends that wait to be told of tasks that are there no more.
    private var lastEnds: [BackgroundTask.ID: BackgroundStatus] = [:]
    private var isRead = false
    /// Which tasks a new connection has told so far; nil when it has told all.
    private var replayed: Set<BackgroundTask.ID>?

    /// A connection begins, and tells how all stands.
    mutating func beginReplay() { replayed = [] }

    /// That was all.
    ///
    /// - Returns: The tasks that are not there any more.
    mutating func endReplay() -> [BackgroundTask.ID] {
        guard let replayed else { return [] }
        self.replayed = nil
        let gone = latest.keys.filter { !replayed.contains($0) }
        for id in gone { remove(id) }
        return gone
    }

    /// Takes how a task stands; false when that is known, or older than what is known.
    mutating func take(_ status: BackgroundStatus) -> Bool {
        let isReplay = replayed?.insert(status.id).inserted == true
        if let known = latest[status.id] {
            // A daemon that lost its notes may begin anew with its numbers.
            guard status != known, isReplay || status.sequence >= known.sequence else { return false }
        } else {
            lastPlace += 1
            places[status.id] = lastPlace
        }
        latest[status.id] = status
        lastEnds[status.id] = nil
        if isRead, waiting.insert(status.id).inserted { items.append(.task(status.id)) }
        return true
    }

    mutating func remove(_ id: BackgroundTask.ID) {
        latest[id] = nil
        places[id] = nil
        waiting.remove(id)
    }

    /// The task is there no more; its end is told all the same when the reader was not told it yet.
    mutating func removeAfterEnd(_ id: BackgroundTask.ID) {
        let end = waiting.contains(id) ? latest[id] : nil
        remove(id)
        guard let end, end.isFinished else { return }
        lastEnds[id] = end
        waiting.insert(id)
    }

    /// Begins to queue: first how each task stands, oldest first, then ``News/told``.
    mutating func tellAll() {
        isRead = true
        items = FIFO()
        lastEnds = [:]
        waiting = Set(latest.keys)
        for (id, _) in places.sorted(by: { $0.value < $1.value }) { items.append(.task(id)) }
        items.append(.mark)
    }

    /// Nobody reads any more.
    mutating func stop() {
        isRead = false
        items = FIFO()
        lastEnds = [:]
        waiting = []
    }

    /// What to tell next; nil for nothing.
    mutating func next() -> News? {
        while let item = items.popFirst() {
            switch item {
            case .mark: return .told
            case .task(let id):
                if waiting.remove(id) != nil, let status = latest[id] ?? lastEnds.removeValue(forKey: id) {
                    return .status(status)
                }
            }
        }
        return nil
    }
}
