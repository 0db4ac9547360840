/// Decides which background tasks run, and keeps the status of each; pure: each event returns steps.
///
/// Times are in milliseconds since 1970, given with each event.
struct TaskQueue: Sendable {
    indirect enum Event: Sendable {
        /// The folder's tasks at the start, oldest first; those that were running continue first, except uploads that must
        /// not be sent twice.
        case loaded([BackgroundStatus])
        /// New tasks, which are on disk already.
        case submitted([BackgroundStatus])
        case changed([BackgroundTask.ID], BackgroundChange)
        /// The progress of a running task.
        case progressed(BackgroundTask.ID, bytes: Int64, total: Int64?, bytesPerSecond: Double)
        /// A started task has stopped.
        case ended(BackgroundTask.ID, End)
        /// A client has taken these ends.
        case acknowledged([TakenEnd])
        /// The network has changed, so tasks need not wait for their next attempt unless a server answered the last one.
        case networkChanged
        /// The conditions of the network, which restricted tasks depend on; none of them starts before the first ones.
        case networkConditions(NetworkConditions)
        /// The schedule pauses all tasks, or no longer does; it does not interrupt uploads that must not be sent twice.
        case held(Bool)
        /// The schedule limits the rate, or no longer does.
        case limited(Bool)
        /// The time of ``TaskQueue/wakeUp`` has come.
        case woke
    }

    indirect enum End: Sendable {
        case done(BackgroundResult)
        case failed(BackgroundFailure)
        /// It stopped after ``Step/stop(_:)``.
        case stopped
    }

    indirect enum Step: Sendable, Hashable {
        /// Begin or continue the task; ``Event/ended(_:_:)`` must follow.
        case start(BackgroundTask.ID)
        /// Stop the task's work, and keep its transferred bytes.
        case stop(BackgroundTask.ID)
        /// Remove the remains of a task that is cancelled or about to be forgotten, and does not run.
        case discard(BackgroundTask.ID)
        /// Write the status to disk before it is sent; for a task that is stopping, the status that it will have.
        case save(BackgroundStatus)
        /// Remove the task from disk.
        case forget(BackgroundTask.ID)
        /// Send the status to clients.
        case tell(BackgroundStatus)
    }

    /// The least time between two reports, and two writes, of a task's progress, in milliseconds.
    static let tellInterval: Int64 = 100
    static let saveInterval: Int64 = 3000
    /// How much of ``BackgroundResult/bytes`` is kept.
    static let mostResultBytes = 1 << 20

    /// How many tasks may run at once.
    private let maximumTasks: Int
    /// How many tasks must run for no further one to begin while the rate is limited.
    private let maximumLimitedTasks: Int
    /// How long to keep a finished task if no client takes its end.
    private let retention: Int64
    private var tasks: [BackgroundTask.ID: QueuedTask] = [:]
    private var underWay: Set<BackgroundTask.ID> = []
    private var lanes = PriorityLanes<(id: BackgroundTask.ID, ticket: UInt64)>()
    private var isHeld = false
    private var isLimited = false
    /// The last conditions; nil before they are known, and while no task depends on them.
    private var conditions: NetworkConditions?
    /// How many tasks that wait or run depend on the conditions.
    private var restrictedCount = 0
    /// The tasks whose turn came while they must not use the network.
    private var barred: Set<BackgroundTask.ID> = []
    /// How many tasks wait or run.
    private var activeCount = 0
    /// The next place or ticket.
    private var number: UInt64 = 0
    private var sequence: UInt64 = 0
    /// Whether a sequence of this daemon is on disk; the next daemon's sequences begin above it.
    private var isSequenceSaved = true
    /// Some may be outdated, but none is late.
    private var alarms = Alarms()
    private var lastTime: Int64 = .min
    private var steps: [Step] = []

    /// A queue without tasks; values below 1 count as 1.
    init(maximumTasks: Int, maximumLimitedTasks: Int = .max, retention: Int64) {
        self.maximumTasks = max(maximumTasks, 1)
        self.maximumLimitedTasks = min(self.maximumTasks, max(maximumLimitedTasks, 1))
        self.retention = min(max(retention, 0), 1 << 40) * 1000
    }

    /// Handles an event, and returns the steps to carry out, in this order; the clock may have jumped.
    mutating func handle(_ event: Event, at now: Int64) -> [Step] {
        let now = min(max(now, 0), 1 << 50)
        if now < lastTime { setClockBack(to: now) }
        lastTime = now
        take(event, at: now)
        while let alarm = alarms.popFirst(until: now) { ring(alarm, at: now) }
        let most = isLimited ? maximumLimitedTasks : maximumTasks
        while !isHeld, underWay.count < most, let (id, ticket) = lanes.popFirst() {
            guard let task = tasks[id], task.ticket == ticket else { continue }
            if task.rules.isRestrictive, isBarred(task, at: now) { continue }
            start(id, at: now)
        }
        if restrictedCount == 0 { conditions = nil }
        for id in underWay { tellProgress(id, at: now) }
        defer { steps = [] }
        return steps
    }

    /// When to send the next ``Event/woke``, in milliseconds since 1970; nil for never.
    var wakeUp: Int64? {
        let progress = underWay.compactMap { tasks[$0] }.compactMap { task in
            task.isUntold ? task.told + Self.tellInterval : task.stall
        }
        return (progress + [alarms.next].compactMap { $0 }).min()
    }

    /// A task's status.
    subscript(id: BackgroundTask.ID) -> BackgroundStatus? { tasks[id]?.status }

    /// Whether a task still runs that a client has paused or cancelled.
    func isStopping(_ id: BackgroundTask.ID) -> Bool {
        switch tasks[id]?.activity {
        case .stopping(.pauses), .stopping(.isCancelled): true
        default: false
        }
    }

    /// All tasks, oldest first.
    var all: [BackgroundStatus] { tasks.values.sorted { $0.place < $1.place }.map(\.status) }

    /// Whether ``Event/networkConditions(_:)`` must be sent.
    var needsConditions: Bool { restrictedCount > 0 }

    /// Whether tasks depend on conditions that the queue does not know.
    var lacksConditions: Bool { restrictedCount > 0 && conditions == nil }

    /// Whether no task runs, and none will start by itself.
    var isIdle: Bool { activeCount == 0 }
}

// MARK: - Events

extension TaskQueue {
    private mutating func take(_ event: Event, at now: Int64) {
        switch event {
        case .loaded(let statuses): load(statuses, at: now)
        case .submitted(let statuses):
            for status in statuses where tasks[status.id] == nil {
                insert(status, at: now)
                queue(status.id, at: now)
                publish(status.id, at: now, isSaved: true)
            }
        case .changed(let ids, let change):
            for id in ids { self.change(id, change, at: now) }
        case .progressed(let id, let bytes, let total, let bytesPerSecond):
            progress(id, bytes, total, bytesPerSecond, at: now)
        case .ended(let id, let end): self.end(id, end, at: now)
        case .acknowledged(let ends):
            // A task that was resumed and has ended again has a later end, which the client has not seen.
            for end in ends where tasks[end.id].map({ $0.status.sequence <= end.sequence }) == true { forget(end.id) }
        case .networkChanged:
            for id in waitingForRetry(after: now) where tasks[id]?.mayBeHurried == true {
                hurry(id, at: now)
            }
        case .networkConditions(let conditions): apply(conditions, at: now)
        case .held(let isHeld):
            self.isHeld = isHeld
            guard isHeld else { return }
            for id in placed(underWay) where tasks[id]?.status.request.isRepeatable == true {
                stop(id, then: .waits, at: now)
            }
        case .limited(let isLimited): self.isLimited = isLimited
        case .woke: break
        }
    }

    private mutating func load(_ statuses: [BackgroundStatus], at now: Int64) {
        // New sequences must be above all that the last daemon has sent, also those that it did not save.
        sequence = max(sequence, (statuses.map(\.sequence).max() ?? 0) &+ 1 << 20)
        isSequenceSaved = false
        let wasRunning = Set(statuses.filter { $0.state == .running }.map(\.id))
        for status in statuses where tasks[status.id] == nil {
            var status = status
            if status.state == .running { status.state = .paused }
            insert(status, at: now)
        }
        for status in statuses where wasRunning.contains(status.id) {
            let isRepeatable = status.request.isRepeatable
            update(status.id) { task in
                if isRepeatable { task.goOn(at: now) } else { task.fail(.interrupted, at: now) }
            }
            queue(status.id, at: now)
            publish(status.id, at: now)
        }
        for status in statuses where !wasRunning.contains(status.id) { queue(status.id, at: now) }
    }

    private mutating func change(_ id: BackgroundTask.ID, _ change: BackgroundChange, at now: Int64) {
        guard let task = tasks[id] else { return }
        let state = task.status.state
        switch change {
        case .pause where state == .running: stop(id, then: .pauses, at: now)
        case .pause where state == .waiting:
            update(id) { $0.enter(.paused, at: now) }
            publish(id, at: now)
        case .resume where state == .running:
            guard case .stopping = task.activity else { return }
            update(id) { task in
                task.activity = .stopping(.waits)
                task.status.begun = now
            }
            save(id, at: now)
            setAlarm(id, at: now)
        case .resume where state == .waiting: hurry(id, at: now)
        case .resume where state != .done:
            update(id) { task in
                task.renew(at: now)
                task.enter(.waiting, at: now)
            }
            queue(id, at: now)
            publish(id, at: now)
        case .cancel where state == .running: stop(id, then: .isCancelled, at: now)
        case .cancel where !task.status.isFinished: cancel(id, at: now)
        case .prioritize(let priority) where !task.status.isFinished && task.status.priority != priority:
            update(id) { $0.status.priority = priority }
            if task.ticket != nil { queue(id, at: now) }
            publish(id, at: now)
        case .forget: forget(id)
        default: break
        }
    }

    private mutating func progress(
        _ id: BackgroundTask.ID, _ bytes: Int64, _ total: Int64?, _ bytesPerSecond: Double, at now: Int64
    ) {
        guard underWay.contains(id) else { return }
        update(id) { task in
            if bytes != task.status.bytes { task.noteMove(at: now) }
            task.status.bytes = max(bytes, 0)
            task.status.total = total.map { max($0, 0) }
            task.status.bytesPerSecond = bytesPerSecond.isFinite ? max(bytesPerSecond, 0) : 0
            task.isUntold = true
        }
    }

    private mutating func end(_ id: BackgroundTask.ID, _ end: End, at now: Int64) {
        guard underWay.remove(id) != nil, let task = tasks[id] else { return }
        var end = end
        if case .failed(let failure) = end { end = .failed(failure.shortened) }
        var then: QueuedTask.Then?
        if case .stopping(let next) = task.activity { then = next }
        switch (end, then) {
        case (.done(var result), _):
            result.bytes = Array(result.bytes.prefix(Self.mostResultBytes))
            update(id) { task in
                task.enter(.done, at: now)
                task.status.failure = nil
                task.status.result = result
            }
        case (_, .isCancelled): return cancel(id, at: now)
        case (.failed(let failure), .timesOut): update(id) { $0.timeOut(after: failure, at: now) }
        case (.stopped, .timesOut): update(id) { $0.timeOut(after: $0.status.failure, at: now) }
        case (.failed(let failure), _) where !failure.isRetryable: update(id) { $0.fail(failure, at: now) }
        case (.failed(let failure), .pauses):
            update(id) { task in
                task.enter(.paused, at: now)
                task.status.failure = failure
            }
        case (.failed(let failure), _): update(id) { $0.retry(after: failure, at: now) }
        case (.stopped, .pauses): update(id) { $0.enter(.paused, at: now) }
        case (.stopped, _): update(id) { $0.enter(.waiting, at: now) }
        }
        queue(id, at: now, first: true)
        publish(id, at: now)
    }
}

// MARK: - Steps

extension TaskQueue {
    private mutating func insert(_ status: BackgroundStatus, at now: Int64) {
        number += 1
        tasks[status.id] = QueuedTask(status, place: number)
        if status.state == .waiting || status.state == .running {
            activeCount += 1
            restrictedCount += NetworkRules(status.request.options).isRestrictive ? 1 : 0
        }
        update(status.id) { _ = $0.keepTimes(within: now) }
    }

    private mutating func update(_ id: BackgroundTask.ID, _ change: (inout QueuedTask) -> Void) {
        guard var task = tasks[id] else { return }
        let wasActive = task.isActive
        change(&task)
        let growth = (task.isActive ? 1 : 0) - (wasActive ? 1 : 0)
        activeCount += growth
        if task.rules.isRestrictive { restrictedCount += growth }
        if task.status.state != .waiting {
            task.ticket = nil
            barred.remove(id)
        }
        tasks[id] = task
    }

    /// Adds a waiting task that is due to its lane, and sets the task's alarm.
    private mutating func queue(_ id: BackgroundTask.ID, at now: Int64, first: Bool = false) {
        if let task = tasks[id], task.status.state == .waiting, task.due <= now {
            number += 1
            tasks[id]?.ticket = number
            lanes.add((id, number), priority: task.status.priority, first: first)
        }
        setAlarm(id, at: now)
    }

    private mutating func start(_ id: BackgroundTask.ID, at now: Int64) {
        update(id) { $0.start(at: now) }
        underWay.insert(id)
        setAlarm(id, at: now)
        publish(id, at: now)
        steps.append(.start(id))
    }

    private mutating func stop(_ id: BackgroundTask.ID, then next: QueuedTask.Then, at now: Int64) {
        guard let task = tasks[id], task.status.state == .running else { return }
        switch task.activity {
        case .stopping(.isCancelled): return
        case .stopping where next == .waits: return
        default: break
        }
        update(id) { $0.activity = .stopping(next) }
        // Before it stops, since the daemon may end sooner.
        if isStopping(id) { save(id, at: now) }
        if task.activity == .going { steps.append(.stop(id)) }
    }

    private mutating func cancel(_ id: BackgroundTask.ID, at now: Int64) {
        update(id) { $0.cancel(at: now) }
        queue(id, at: now)
        publish(id, at: now, discarding: true)
    }

    private mutating func forget(_ id: BackgroundTask.ID) {
        guard let status = tasks[id]?.status, status.isFinished else { return }
        if status.state == .failed { steps.append(.discard(id)) }
        steps.append(.forget(id))
        tasks[id] = nil
    }

    /// Makes the next attempt of a waiting task due now.
    private mutating func hurry(_ id: BackgroundTask.ID, at now: Int64) {
        guard let next = tasks[id]?.status.nextAttempt, next > now else { return }
        update(id) { $0.status.nextAttempt = now }
        queue(id, at: now)
        publish(id, at: now, isSaved: true)
    }

    /// Sends a task's status to clients, and saves it first unless the disk has all that matters.
    private mutating func publish(
        _ id: BackgroundTask.ID, at now: Int64, isSaved: Bool = false, discarding: Bool = false
    ) {
        guard var task = tasks[id] else { return }
        sequence = max(sequence &+ 1, UInt64(now) << 10)
        task.status.sequence = sequence
        task.told = now
        task.isUntold = false
        tasks[id] = task
        if !isSaved || !isSequenceSaved {
            isSequenceSaved = true
            save(id, at: now)
        }
        if discarding { steps.append(.discard(id)) }
        steps.append(.tell(task.status))
    }

    private mutating func save(_ id: BackgroundTask.ID, at now: Int64) {
        guard let task = tasks[id] else { return }
        tasks[id]?.saved = now
        steps.append(.save(task.statusToSave(at: now)))
    }

    private mutating func tellProgress(_ id: BackgroundTask.ID, at now: Int64) {
        if let stall = tasks[id]?.stall, stall <= now {
            update(id) { task in
                task.status.bytesPerSecond = 0
                task.isUntold = true
            }
        }
        guard let task = tasks[id], task.isUntold, now - task.told >= Self.tellInterval else { return }
        publish(id, at: now, isSaved: now - task.saved < Self.saveInterval)
    }
}

// MARK: - Conditions

extension TaskQueue {
    /// Whether a task whose turn has come must wait for other conditions; it keeps its ticket meanwhile.
    private mutating func isBarred(_ task: QueuedTask, at now: Int64) -> Bool {
        let id = task.status.id
        let obstacle = conditions.flatMap { task.rules.obstacle(in: $0) }
        guard conditions == nil || obstacle != nil else { return false }
        barred.insert(id)
        if obstacle != task.status.obstacle {
            update(id) { $0.status.obstacle = obstacle }
            publish(id, at: now, isSaved: true)
        }
        return true
    }

    private mutating func apply(_ conditions: NetworkConditions, at now: Int64) {
        guard restrictedCount > 0 else { return }
        self.conditions = conditions
        for id in placed(barred) {
            guard let task = tasks[id] else { continue }
            let obstacle = task.rules.obstacle(in: conditions)
            if obstacle != task.status.obstacle {
                update(id) { $0.status.obstacle = obstacle }
                publish(id, at: now, isSaved: true)
            }
            guard obstacle == nil else { continue }
            barred.remove(id)
            // Without a ticket it is not due any more, since the clock was set back.
            if task.ticket != nil { queue(id, at: now) }
        }
        for id in placed(underWay) {
            guard let task = tasks[id], task.status.request.isRepeatable,
                task.rules.obstacle(in: conditions, isUnderWay: true) != nil
            else { continue }
            stop(id, then: .waits, at: now)
        }
    }
}

// MARK: - Times

extension TaskQueue {
    /// Sets an alarm for a task's next time, unless it has an earlier one.
    private mutating func setAlarm(_ id: BackgroundTask.ID, at now: Int64) {
        guard let task = tasks[id], let time = task.nextTime(retention: retention, at: now), time < task.alarm ?? .max
        else { return }
        tasks[id]?.alarm = time
        alarms.add(id, place: task.place, at: time)
    }

    /// Handles an alarm that is due.
    private mutating func ring(_ alarm: Alarms.Alarm, at now: Int64) {
        let id = alarm.id
        guard tasks[id]?.alarm == alarm.time else { return }
        tasks[id]?.alarm = nil
        guard let task = tasks[id], let time = task.nextTime(retention: retention, at: now), time <= now else {
            return setAlarm(id, at: now)
        }
        switch task.status.state {
        case .done, .failed: forget(id)
        case .running: stop(id, then: .timesOut, at: now)
        case .waiting where task.deadline(at: now) > now: queue(id, at: now)
        case .waiting:
            update(id) { $0.timeOut(after: $0.status.failure, at: now) }
            queue(id, at: now)
            publish(id, at: now)
        case .paused: break
        }
    }

    private mutating func setClockBack(to now: Int64) {
        alarms = Alarms()
        for id in placed(Set(tasks.keys)) {
            var isShown = false
            update(id) { task in
                isShown = task.keepTimes(within: now)
                task.told = min(task.told, now)
                task.saved = min(task.saved, now)
                task.moved = min(task.moved, now)
                task.alarm = nil
                // On the new clock the task is not due.
                if task.due > now { task.ticket = nil }
            }
            setAlarm(id, at: now)
            if isShown { publish(id, at: now, isSaved: true) }
        }
    }

    private func waitingForRetry(after now: Int64) -> [BackgroundTask.ID] {
        placed(Set(tasks.values.filter { ($0.status.nextAttempt ?? now) > now }.map(\.status.id)))
    }

    /// The tasks in the order of their places.
    private func placed(_ ids: Set<BackgroundTask.ID>) -> [BackgroundTask.ID] {
        ids.compactMap { tasks[$0] }.sorted { $0.place < $1.place }.map(\.status.id)
    }
}

extension BackgroundFailure {
    /// The failure with texts that fit into a record.
    fileprivate var shortened: BackgroundFailure {
        var failure = self
        failure.code = String(decoding: code.utf8.prefix(100), as: UTF8.self)
        failure.message = String(decoding: message.utf8.prefix(2000), as: UTF8.self)
        return failure
    }

    /// The failure of an interrupted upload that must not be sent twice.
    static let interrupted = BackgroundFailure(
        .bodyFailed, "it was interrupted and may have been received; resume it to send it again")
}
