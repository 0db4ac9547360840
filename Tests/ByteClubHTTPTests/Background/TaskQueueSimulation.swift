import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

/// A daemon's queue under random events, clock jumps and kills, with checks of the invariants after each.
struct TaskQueueSimulation {
    @Test("in any order of events, tasks run in turn, end once in a life, and every status sent is on disk")
    func chaos() {
        let first = UInt64.random(in: 0 ... .max)
        for seed in (0..<20).map({ first &+ $0 }) {
            var world = World(seed: seed)
            for _ in 0..<400 where world.problem == nil { world.act() }
            world.finish()
            #expect(world.problem == nil, "seed \(seed)")
            #expect(world.ends > 5, "seed \(seed)")
        }
        print("queue: seeds \(first) and the 19 after it")
    }
}

private struct World {
    let maximumTasks: Int
    var random: RandomRecords
    var queue: TaskQueue
    var now: Int64 = 1_800_000_000_000
    var isHeld = false
    /// The conditions that the queue knows.
    var conditions: NetworkConditions?
    var isClockBack = false

    /// The statuses on disk, those sent last, and the running tasks, including stopped ones until they end.
    var disk: [BackgroundTask.ID: BackgroundStatus] = [:]
    var told: [BackgroundTask.ID: BackgroundStatus] = [:]
    var toldAt: [BackgroundTask.ID: Int64] = [:]
    var running: [BackgroundTask.ID: Bool] = [:]
    /// The tasks whose end was sent and that were not resumed since.
    var ended: Set<BackgroundTask.ID> = []
    var forgotten: Set<BackgroundTask.ID> = []
    var lastSequences: [BackgroundTask.ID: UInt64] = [:]
    var ends = 0
    var problem: String?

    init(seed: UInt64) {
        random = RandomRecords(seed: seed)
        maximumTasks = Int(random.number(1...4))
        queue = TaskQueue(maximumTasks: maximumTasks, retention: 3600)
        handle(.loaded([]))
    }

    mutating func act() {
        now += random.pick([0, 1, 50, 1000, 60_000])
        let known = disk.keys.sorted { $0.number < $1.number }
        let id = known.isEmpty ? random.id() : random.pick(known)
        let under = running.keys.sorted { $0.number < $1.number }
        switch random.number(0...16) {
        case 0, 1: submit()
        case 2, 3:
            let priority = random.priority()
            let change: BackgroundChange = random.pick(
                [.pause, .resume, .resume, .cancel, .prioritize(priority), .forget])
            if change == .resume, told[id]?.state == .failed { ended.remove(id) }
            handle(.changed([id, random.id()], change))
        case 4, 5:
            let bytes = random.number(0...1000)
            handle(.progressed(id, bytes: bytes, total: 1000, bytesPerSecond: 1))
        case 6...10:
            guard !under.isEmpty else { return }
            end(random.pick(under))
        case 11:
            let ids = random.flag() ? [id] : known.filter { disk[$0]?.state == .done }
            // The disk already has the cancellation of a task that is still stopping.
            let ends = ids.filter { ended.contains($0) }.compactMap { told[$0] }
            handle(.acknowledged(ends.map { TakenEnd(id: $0.id, sequence: $0.sequence) }))
        case 12: handle(.networkChanged)
        case 13:
            isHeld = random.flag()
            handle(.held(isHeld))
        case 14:
            if let time = queue.wakeUp, random.flag() { now = max(now, time) }
            handle(.woke)
        case 15:
            let isMetered = random.flag()
            change(NetworkConditions(isMetered: isMetered, isConstrained: isMetered, isOnBattery: random.flag()))
        default: random.flag() ? restart() : jump()
        }
    }

    /// Ends everything that can end, and checks that nothing is left.
    mutating func finish() {
        isHeld = false
        handle(.held(false))
        change(NetworkConditions())
        var turns = 0
        while !queue.isIdle, problem == nil {
            turns += 1
            if turns > 5000 { return fail("an unfinished task is never started") }
            if let id = running.keys.min(by: { $0.number < $1.number }) {
                running[id] = nil
                handle(.ended(id, .done(BackgroundResult())))
            } else if let time = queue.wakeUp {
                now = max(now, time)
                handle(.woke)
            } else {
                return fail("something waits, but no time is told to wake up")
            }
        }
        for status in queue.all where status.state == .waiting || status.state == .running {
            fail("\(status.id) is \(status.state) in an idle queue")
        }
        if let status = queue.all.first(where: { disk[$0.id]?.state != $0.state }) {
            fail("\(status.id) is not on disk")
        }
    }

    private mutating func change(_ present: NetworkConditions) {
        conditions = present
        handle(.networkConditions(present))
    }

    /// Whether a task must not use the network.
    private func isBarred(_ status: BackgroundStatus) -> Bool {
        let rules = NetworkRules(status.request.options)
        return rules.isRestrictive && (conditions.map { rules.obstacle(in: $0) != nil } ?? true)
    }

    private mutating func submit() {
        let tasks = (0..<random.number(1...3)).map { _ in
            var options = BackgroundOptions()
            options.priority = random.priority()
            options.earliestStart = random.flag() ? now / 1000 + 30 : nil
            options.timeoutForResource = random.pick([5, 600, 7 * 86400])
            options.allowsMetered = random.number(0...3) > 0
            options.isDiscretionary = random.number(0...3) == 0
            let request = HTTPRequest(
                method: random.pick([.post, .put]), scheme: "http", authority: "club.example", path: "/")
            return BackgroundStatus(
                random.id(), "s", BackgroundRequest(.upload(request, file: "/a"), options: options), at: now)
        }
        for task in tasks { disk[task.id] = task }
        handle(.submitted(tasks))
        handle(.submitted(tasks))
    }

    private mutating func end(_ id: BackgroundTask.ID) {
        let failure = BackgroundFailure(
            code: "x", message: "broken", isRetryable: random.number(0...3) > 0,
            retryAfter: random.optional { $0.pick([-1, 0, 5, 100_000]) })
        let end: TaskQueue.End = random.pick([.done(BackgroundResult()), .failed(failure), .failed(failure), .stopped])
        running[id] = nil
        handle(.ended(id, end))
    }

    private mutating func restart() {
        // No program ends and starts again within the same millisecond.
        now += 1
        queue = TaskQueue(maximumTasks: maximumTasks, retention: 3600)
        conditions = nil
        if isHeld { handle(.held(true)) }
        let tasks = disk.values.sorted { ($0.created, $0.id.number) < ($1.created, $1.id.number) }
        running = [:]
        for task in tasks {
            told[task.id] = task
            if !task.isFinished { ended.remove(task.id) }
        }
        handle(.loaded(tasks))
    }

    private mutating func jump() {
        now += random.pick([-86_400_000, -5000, 86_400_000])
        isClockBack = true
        toldAt = [:]
        handle(.woke)
    }

    private mutating func handle(_ event: TaskQueue.Event) {
        for step in queue.handle(event, at: now) { perform(step) }
        for status in queue.all {
            let earliest = (status.request.options.earliestStart ?? 0) * 1000
            if status.state == .waiting {
                let due = max(status.nextAttempt ?? 0, earliest)
                if due <= now, !isHeld, running.count < maximumTasks, !isBarred(status) {
                    fail("\(status.id) waits for nothing")
                }
                if due > now, queue.wakeUp ?? .max > due { fail("nobody wakes up for \(status.id)") }
                if let next = status.nextAttempt, next - now > (status.failure?.retryAfter == nil ? 300_000 : 3_600_000)
                {
                    fail("\(status.id) waits for too long")
                }
                let end = max(status.begun, earliest) + status.request.options.timeoutForResource * 1000
                if end <= now { fail("\(status.id) should have timed out") }
            }
            if (status.state == .running) != (running[status.id] != nil) { fail("\(status.id) is not \(status.state)") }
            if forgotten.contains(status.id) { fail("\(status.id) came back") }
            if status.obstacle != nil, !isBarred(status) || status.state != .waiting {
                fail("\(status.id) has an obstacle that is none")
            }
        }
        if !queue.needsConditions { conditions = nil }
        let isActive = queue.all.contains { $0.state == .waiting || $0.state == .running }
        if queue.isIdle == isActive { fail("idle or not is wrong") }
    }

    private mutating func perform(_ step: TaskQueue.Step) {
        switch step {
        case .start(let id):
            if running[id] != nil || running.count >= maximumTasks || isHeld { fail("\(id) started out of turn") }
            if disk[id]?.state != .running || told[id]?.state != .running { fail("\(id) started untold") }
            if let status = disk[id], isBarred(status) { fail("\(id) started on a network that it must not use") }
            if disk[id]?.request.options.earliestStart ?? 0 > now / 1000 { fail("\(id) started too early") }
            running[id] = false
        case .stop(let id):
            if running[id] != false { fail("\(id) stopped again") }
            running[id] = true
        case .discard(let id):
            if running[id] != nil || disk[id]?.state != .failed { fail("\(id) discarded in use") }
        case .save(let status):
            if disk[status.id] == nil { fail("\(status.id) saved, and unknown") }
            disk[status.id] = status
        case .tell(let status): tell(status)
        case .forget(let id):
            if running[id] != nil || disk[id]?.isFinished != true { fail("\(id) forgotten in use") }
            if disk[id] == nil || !forgotten.insert(id).inserted { fail("\(id) forgotten again") }
            disk[id] = nil
        }
    }

    private mutating func tell(_ status: BackgroundStatus) {
        if disk[status.id]?.state != status.state, !queue.isStopping(status.id) {
            fail("\(status.id) told \(status.state), which is not on disk")
        }
        let last = lastSequences[status.id] ?? 0
        if status.sequence <= last, !isClockBack { fail("the sequence of \(status.id) went back") }
        lastSequences[status.id] = max(last, status.sequence)
        if status.isFinished {
            if !ended.insert(status.id).inserted { fail("\(status.id) ended again") }
            ends += 1
        } else if ended.contains(status.id) {
            fail("\(status.id) went on after its end")
        }
        let before = told[status.id]
        if status.state == .running, before?.state == .running, before?.attempt == status.attempt,
            before?.priority == status.priority, let last = toldAt[status.id], now - last < 100, now >= last
        {
            fail("\(status.id) told too often")
        }
        told[status.id] = status
        toldAt[status.id] = now
    }

    private mutating func fail(_ text: String) { problem = problem ?? text }
}
