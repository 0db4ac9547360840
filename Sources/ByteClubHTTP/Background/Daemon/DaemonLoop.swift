import CLibcurl
import Glibc
import Logging

/// The thread that owns a daemon's tasks, its folder and its clients.
///
/// It sleeps until a descriptor is ready or a timer is due. It does only short work itself; the tasks' work and relayed
/// requests are Swift tasks, which report through the inbox.
final class DaemonLoop {
    let daemon: BackgroundDaemon
    let inbox: DaemonInbox
    let folder: TaskFolder
    let runner: WorkRunner
    let relay = Relay()
    let place: DaemonPlace
    var queue: TaskQueue
    var schedule: RateSchedule
    /// When the rate may change, in milliseconds since 1970; nil for never.
    var scheduleChange: Int64?
    /// Whether the schedule pauses all tasks.
    var isHeld = false
    var isLimited = false
    var connections: [UInt64: DaemonConnection] = [:]
    /// The connections of attached sessions, by identifier.
    var sessions: [String: UInt64] = [:]
    /// The properties of each task that are needed when the queue has forgotten it.
    var owners: [BackgroundTask.ID: (identifier: String, work: BackgroundRequest.Work)] = [:]
    var works: [BackgroundTask.ID: Task<Void, Never>] = [:]
    /// The running removals of tasks' remains.
    var discards: [BackgroundTask.ID: (number: UInt64, task: Task<Void, Never>)] = [:]
    /// Removes the remains of the last daemon's downloads, before this daemon's downloads begin.
    var cleaning: Task<Void, Never>?
    var lastDiscard: UInt64 = 0
    /// The tasks whose end was reported.
    var ended: Set<BackgroundTask.ID> = []
    /// How many calls of ``BackgroundDaemon/finished`` are running.
    var finishing = 0
    /// Statuses that could not be written.
    var unsaved: [BackgroundTask.ID: BackgroundStatus] = [:]
    var relaunches = RelaunchPlan()
    var isStopping = false
    var timers = DaemonTimers()

    private let alarm: Int32
    private var alarmTime: Int64?
    private var network: NetworkWatch?
    /// Watches the conditions of the network while tasks depend on them.
    private var conditions: ConditionsWatch?
    /// What they were when the watch reported last.
    private var present: NetworkConditions?
    private var lastConnection: UInt64 = 0
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    static let mostConnections = 256
    /// How long the network may take to settle after a change.
    private static let settling: Duration = .seconds(1)
    private static let progressInterval: Duration = .milliseconds(50)
    /// After so long without work, unused sessions and memory are released.
    private static let quiet: Duration = .seconds(2)
    /// After so long without work, the relay's connections are closed.
    private static let rest: Duration = .seconds(120)
    /// How long running work may take to end.
    private static let endTime: Duration = .seconds(10)

    /// Locks the folder and loads its tasks; blocks.
    ///
    /// - Returns: Nil when another daemon has the lock.
    init?(_ daemon: BackgroundDaemon, _ inbox: DaemonInbox, _ sessions: SessionPool) throws(TransferError) {
        guard daemon.service.folder.hasPrefix("/") else {
            throw TransferError(.badConfiguration, "the folder '\(daemon.service.folder)' is not an absolute path")
        }
        let folder = try TaskFolder(daemon.service.folder)
        guard let place = try DaemonPlace(daemon.service) else {
            daemon.logger?.info("another daemon runs for \(daemon.service.folder)")
            return nil
        }
        alarm = byteclub_clock_alarm()
        guard alarm >= 0 else {
            throw TransferError(.badConfiguration, "the daemon cannot start: \(systemMessage(errno))")
        }
        self.daemon = daemon
        self.inbox = inbox
        self.folder = folder
        self.place = place
        runner = WorkRunner(daemon: daemon, folder: folder, sessions: sessions)
        queue = TaskQueue(
            maximumTasks: daemon.maximumTasks, maximumLimitedTasks: daemon.maximumLimitedTasks,
            retention: daemon.retention)
        schedule = folder.schedule()
        applySchedule()
        try load()
        DaemonStart.tellReady(daemon.service)
    }

    deinit { close(alarm) }

    /// Runs until the daemon must end.
    func run() {
        unsafe byteclub_name_thread("daemon")
        daemon.logger?.info("the daemon works for \(daemon.service.folder)")
        repeat {
            prepareToSleep()
            sleep()
        } while !isOver
        finish()
        daemon.logger?.info("the daemon ended")
    }

    // MARK: Sleeping

    private func prepareToSleep() {
        let now = Moment.fine
        // The queue may have been without such tasks for a moment, in which the watch lived on.
        if !isStopping, queue.lacksConditions, let present { apply(.networkConditions(present)) }
        timers.set(.idle, isIdle ? daemon.idleTimeout : nil, from: now)
        timers.set(.relaunch, nil, from: now)
        if !isStopping { timers.set(.relaunch, relaunches.wakeUp.map { now.duration(to: $0) }, from: now) }
        if queue.needsConditions, !isStopping { watchConditions() } else { (conditions, present) = (nil, nil) }
        if !queue.isIdle, !isStopping { network = network ?? NetworkWatch() } else { network = nil }
        var time = queue.wakeUp
        // Without tasks the rate does not matter.
        if let change = scheduleChange, !queue.isIdle { time = min(time ?? .max, change) }
        if isStopping { time = nil }
        guard time != alarmTime else { return }
        alarmTime = time
        // A time in the past rings at once; 0 would stop the alarm.
        _ = byteclub_set_clock_alarm(alarm, time.map { max($0, 1) } ?? 0)
    }

    private func watchConditions() {
        guard conditions == nil else { return }
        var source = daemon.conditionsSource ?? .system
        source.logger = daemon.logger
        conditions = ConditionsWatch(source) { [inbox] in inbox.post(.conditions($0)) }
    }

    private func sleep() {
        var entries = [
            pollfd(fd: inbox.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: alarm, events: Int16(POLLIN), revents: 0),
            pollfd(fd: network?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isAccepting ? place.listener : -1, events: Int16(POLLIN), revents: 0),
        ]
        let clients = connections.values.sorted { $0.number < $1.number }
        for client in clients {
            let events = (client.isReading && !isStopping ? POLLIN : 0) | (client.isSending ? POLLOUT : 0)
            entries.append(pollfd(fd: client.descriptor, events: Int16(events), revents: 0))
        }
        let deadlines = connections.values.flatMap { [$0.deadline].compactMap { $0 } + $0.changes.map(\.deadline) }
        let next = min(timers.next, deadlines.min() ?? .distantFuture)
        let wait = next == .distantFuture ? -1 : Int32(Moment.fine.duration(to: next).wholeMilliseconds)
        guard unsafe poll(&entries, nfds_t(entries.count), wait) >= 0 else { return }
        let news = entries.map { Int32($0.revents) }
        let now = Moment.fine
        if news[0] != 0 { takeNotices() }
        if news[1] != 0 { ring() }
        if news[2] != 0 { heardNetwork(at: now) }
        if news[3] != 0 { accept(at: now) }
        for (client, news) in zip(clients, news.dropFirst(4)) {
            if news != 0 || client.deadline.map({ $0 <= now }) == true { serve(client, news, at: now) }
        }
        for timer in timers.take(until: now) { fire(timer, at: now) }
        // Further calls of these clients may have waited for the answers.
        for client in connections.values where answerChanges(of: client) { handleFrames(of: client) }
    }

    private var isAccepting: Bool {
        !isStopping && connections.count < Self.mostConnections && !timers.isSet(.accepting)
    }

    private var isIdle: Bool {
        // Tasks that the schedule has paused wait for its next change.
        connections.isEmpty && works.isEmpty && queue.isIdle && discards.isEmpty && finishing == 0 && !isStopping
            && unsaved.isEmpty && !relaunches.isPending
    }

    private var isOver: Bool {
        isStopping
            && (works.isEmpty && finishing == 0 && discards.isEmpty && !relaunches.isStarting || !timers.isSet(.ending))
    }

    private func ring() {
        var count: UInt64 = 0
        // Reading fails after the clock was set, when the alarm must be set again too.
        _ = unsafe read(alarm, &count, 8)
        alarmTime = nil
        applySchedule()
        apply(.woke)
    }

    private func heardNetwork(at now: Moment) {
        unsafe buffer.withUnsafeMutableBytes { unsafe network?.drain(with: $0) }
        if !timers.isSet(.network) { timers.set(.network, Self.settling, from: now) }
    }

    private func fire(_ timer: DaemonTimers.Name, at now: Moment) {
        switch timer {
        case .idle: endIfUnused(at: now)
        case .network:
            daemon.logger?.debug("the network changed")
            apply(.networkChanged)
        case .progress: takeProgress()
        case .unsaved: saveUnsaved()
        case .relaunch: apply(relaunch: .woke)
        case .quiet: releaseSpare()
        case .rest: releaseSpare(isWarm: false)
        case .accepting, .ending: break
        }
    }

    // MARK: Notices

    private func takeNotices() {
        noteActivity(at: .fine)
        let notices = inbox.takeNotices()
        if notices.isEmpty {
            // Progress alone may wait for a moment.
            if !timers.isSet(.progress) { timers.set(.progress, Self.progressInterval, from: .fine) }
            return
        }
        takeProgress()
        for notice in notices {
            switch notice {
            case .ended(let id, let end): take(end, of: id)
            case .relayed(let connection, let number, let answer):
                guard let client = connections[connection] else { continue }
                client.relayed[number] = nil
                self.answer(client, number, answer)
                handleFrames(of: client)
            case .discarded(let id, let number): finishDiscard(id, number)
            case .finished: finishing -= 1
            case .relaunch(let event): apply(relaunch: event)
            case .conditions(let now):
                if conditions != nil { present = now }
                apply(.networkConditions(now))
            case .stop: stop()
            }
        }
    }

    private func takeProgress() {
        for (id, progress) in inbox.takeProgress() {
            apply(
                .progressed(
                    id, bytes: progress.bytes, total: progress.total, bytesPerSecond: progress.bytesPerSecond))
        }
    }

    // MARK: Clients

    private func accept(at now: Moment) {
        while connections.count < Self.mostConnections {
            guard let descriptor = place.accept() else {
                // When descriptors run out, polling would repeat this at once.
                if errno != EAGAIN { timers.set(.accepting, .seconds(1), from: now) }
                return
            }
            add(descriptor)
        }
    }

    private func add(_ descriptor: Int32) {
        lastConnection += 1
        let client = DaemonConnection(number: lastConnection, descriptor: descriptor)
        guard FrameConnection.peer(of: descriptor) == getuid() else { return }
        connections[client.number] = client
    }

    private func serve(_ client: DaemonConnection, _ news: Int32, at now: Moment) {
        guard connections[client.number] != nil else { return }
        if news & POLLOUT != 0, !client.send(at: now) { return drop(client) }
        if news & POLLIN != 0 {
            let isThere = unsafe buffer.withUnsafeMutableBytes { unsafe client.receive(into: $0, at: now) }
            guard isThere else { return drop(client) }
        } else if news & (POLLHUP | POLLERR) != 0 {
            return drop(client)
        } else if let deadline = client.deadline, deadline <= now {
            // Only if nothing can be read: this loop may be late, not the client.
            return drop(client, "it neither reads nor finishes its message")
        }
        handleFrames(of: client)
        noteActivity(at: now)
    }

    private func handleFrames(of client: DaemonConnection) {
        do {
            while !isStopping, let frame = try client.next() { take(frame, from: client) }
        } catch {
            drop(client, error.message)
        }
    }

    func drop(_ client: DaemonConnection, _ reason: String? = nil) {
        guard connections.removeValue(forKey: client.number) != nil else { return }
        if let reason { daemon.logger?.warning("a client was let go: \(reason)") }
        client.isEnding = true
        for identifier in client.identifiers {
            sessions[identifier] = nil
            apply(relaunch: .detached(identifier))
        }
    }

    // MARK: Ending

    /// Ends running work and then the daemon.
    func stop() {
        guard !isStopping else { return }
        isStopping = true
        // Tasks that stop now wait for the next daemon.
        apply(.held(true))
        timers.set(.ending, Self.endTime, from: .fine)
        for work in works.values { work.cancel() }
    }

    private func endIfUnused(at now: Moment) {
        place.hide()
        // Clients that connected before are served.
        while let descriptor = place.accept() { add(descriptor) }
        if connections.isEmpty { return stop() }
        do { try place.show() } catch {
            daemon.logger?.error("\(error)")
            // Other clients find no daemon, and cannot start one until these have disconnected.
        }
    }

    private func finish() {
        place.release()
        let now = Moment.fine
        // After the last messages, clients may start another daemon at once.
        for client in connections.values {
            answerChanges(of: client, all: true)
            _ = client.send(at: now)
        }
        connections = [:]
    }

    private func noteActivity(at now: Moment) {
        timers.set(.quiet, Self.quiet, from: now)
        timers.set(.rest, Self.rest, from: now)
    }

    /// Releases sessions without tasks and unused memory; also the relay's sessions, unless they must stay warm.
    private func releaseSpare(isWarm: Bool = true) {
        // The end of the last work or relayed request restarts the timers.
        guard works.isEmpty, isWarm || connections.values.allSatisfy(\.relayed.isEmpty) else { return }
        Task { [pool = runner.sessions, relay, rested = daemon.rested] in
            await pool.close()
            if !isWarm { await relay.close() }
            byteclub_release_memory()
            rested()
        }
    }
}

/// A change that is answered when its tasks have stopped.
struct PendingChange {
    /// The call's number.
    var number: UInt64
    var ids: [BackgroundTask.ID]
    /// When it is answered in any case.
    var deadline: Moment
}

/// The timers of a daemon's loop, besides its tasks' times.
struct DaemonTimers {
    enum Name: CaseIterable {
        /// The daemon ends unless it is used.
        case idle
        /// The network has settled.
        case network
        /// Progress is reported.
        case progress
        /// Statuses that could not be written are written again.
        case unsaved
        /// A session's program is started again.
        case relaunch
        /// Unused memory and sessions are released, some at the second one.
        case quiet, rest
        /// Connections are accepted again, after an error.
        case accepting
        /// The time that running work had to end is over.
        case ending
    }

    private var times: [Name: Moment] = [:]

    /// The earliest time.
    var next: Moment { times.values.min() ?? .distantFuture }

    func isSet(_ name: Name) -> Bool { times[name] != nil }

    /// Starts a timer unless it runs, restarts `quiet` and `rest`, and stops a timer for nil.
    mutating func set(_ name: Name, _ time: Duration?, from now: Moment) {
        guard let time else { return times[name] = nil }
        if name == .quiet || name == .rest || times[name] == nil { times[name] = now.advanced(by: time) }
    }

    /// Removes and returns the timers that are due.
    mutating func take(until now: Moment) -> [Name] {
        let due = Name.allCases.filter { times[$0].map { $0 <= now } == true }
        for name in due { times[name] = nil }
        return due
    }
}
