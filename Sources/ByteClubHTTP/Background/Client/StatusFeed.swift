/// The latest status of each task of a daemon, and the news that one reader has still to get; pure.
///
/// Of each task only the newest status waits, so a slow reader delays no other. The reader of a session also takes results:
/// an end counts as taken once the reader asks for the next event, and the daemon forgets the task when it hears of that.
struct StatusFeed: Sendable {
    private(set) var latest: [BackgroundTask.ID: BackgroundStatus] = [:]
    /// The order in which tasks were first seen.
    private var places: [BackgroundTask.ID: UInt64] = [:]
    private var lastPlace: UInt64 = 0
    /// The tasks with news, and nil where ``BackgroundEvent/caughtUp`` is due; may name tasks without news.
    private var queue = FIFO<BackgroundTask.ID?>()
    private var waiting: Set<BackgroundTask.ID> = []
    /// Ends that the reader has still to get although their tasks are removed.
    private var lastEnds: [BackgroundTask.ID: BackgroundStatus] = [:]
    /// The tasks that a new connection has reported so far; nil once it has reported all.
    private var replayed: Set<BackgroundTask.ID>?
    private var reader: UInt64?
    /// Whether the reader takes results.
    let isTaking: Bool
    /// The end that the reader got last and may still be handling.
    private var handled: BackgroundStatus?
    /// The sequences of the ends that were taken, until the daemon has confirmed them.
    private var taken: [BackgroundTask.ID: UInt64] = [:]

    init(isTaking: Bool) { self.isTaking = isTaking }

    // MARK: - What the daemon reports

    /// A new connection begins, which reports all tasks first.
    mutating func beginReplay() { replayed = [] }

    /// Notes that the new connection has reported all tasks, and returns those that no longer exist.
    mutating func endReplay() -> [BackgroundTask.ID] {
        guard let replayed else { return [] }
        self.replayed = nil
        let gone = latest.keys.filter { !replayed.contains($0) }
        for id in gone { remove(id) }
        return gone
    }

    /// Adds a status; false when it is known, taken, or older than the known one.
    mutating func add(_ status: BackgroundStatus) -> Bool {
        if let sequence = taken[status.id] {
            if status.isFinished, status.sequence <= sequence { return false }
            // The task was resumed before the daemon heard that its end was taken.
            taken[status.id] = nil
        }
        let isReplay = replayed?.insert(status.id).inserted == true
        if let known = latest[status.id] {
            // The sequence of a daemon that lost its files may start over.
            guard status != known, isReplay || status.sequence >= known.sequence else { return false }
        } else {
            lastPlace += 1
            places[status.id] = lastPlace
        }
        latest[status.id] = status
        lastEnds[status.id] = nil
        if reader != nil, waiting.insert(status.id).inserted { queue.append(status.id) }
        return true
    }

    /// Removes a task; the reader still gets an end that is waiting.
    mutating func remove(_ id: BackgroundTask.ID) {
        let end = waiting.contains(id) ? latest[id] ?? lastEnds[id] : nil
        drop(id)
        guard let end, end.isFinished else { return }
        lastEnds[id] = end
        waiting.insert(id)
    }

    private mutating func drop(_ id: BackgroundTask.ID) {
        (latest[id], places[id], taken[id], lastEnds[id]) = (nil, nil, nil, nil)
        waiting.remove(id)
    }

    // MARK: - Results

    /// The ends that were taken and that the daemon has not confirmed.
    var takenEnds: [TakenEnd] { taken.map { TakenEnd(id: $0.key, sequence: $0.value) } }

    /// Takes a task's end for a caller that awaited it, unless a reader will; true if the daemon must hear of it.
    mutating func takeEnd(of id: BackgroundTask.ID) -> Bool {
        guard reader == nil, let status = latest[id], status.isFinished else { return false }
        take(status)
        return true
    }

    /// Takes the end that the reader got last, for the daemon; nil when there is none, or the task was resumed since.
    mutating func takeHandled() -> TakenEnd? {
        defer { handled = nil }
        guard let status = handled, let now = latest[status.id], now.isFinished, now.sequence == status.sequence
        else { return nil }
        take(status)
        return TakenEnd(id: status.id, sequence: status.sequence)
    }

    private mutating func take(_ status: BackgroundStatus) {
        drop(status.id)
        taken[status.id] = status.sequence
    }

    /// The daemon has forgotten the tasks with these ends.
    mutating func confirm(_ ends: [TakenEnd]) {
        for end in ends where taken[end.id] == end.sequence { taken[end.id] = nil }
    }

    // MARK: - The reader

    /// Makes a reader the current one, which gets the status of every task first; an older reader stays out.
    mutating func begin(_ number: UInt64) {
        guard reader.map({ $0 < number }) ?? true else { return }
        reader = number
        lastEnds = [:]
        waiting = Set(latest.keys)
        queue = FIFO()
        for (id, _) in places.sorted(by: { $0.value < $1.value }) { queue.append(id) }
        queue.append(nil)
    }

    mutating func stop(_ number: UInt64) {
        guard reader == number else { return }
        reader = nil
        (queue, lastEnds, waiting) = (FIFO(), [:], [])
    }

    func isCurrent(_ number: UInt64) -> Bool { reader == number }

    /// The next news; call ``takeHandled()`` first.
    mutating func next() -> BackgroundEvent? {
        while let entry = queue.popFirst() {
            guard let id = entry else { return .caughtUp }
            guard waiting.remove(id) != nil, let status = latest[id] ?? lastEnds.removeValue(forKey: id) else {
                continue
            }
            guard status.isFinished else { return .changed(status) }
            if isTaking { handled = status }
            return .finished(status)
        }
        return nil
    }
}
