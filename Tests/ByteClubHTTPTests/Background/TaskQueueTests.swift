import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct TaskQueueTests {
    private static let start: Int64 = 1_800_000_000_000

    /// A queue with its clock and its steps.
    private struct Bench {
        var queue: TaskQueue
        var now = TaskQueueTests.start
        var steps: [TaskQueue.Step] = []

        init(maximumTasks: Int = 1, maximumLimitedTasks: Int = .max, retention: Int64 = 30 * 86400) {
            queue = TaskQueue(
                maximumTasks: maximumTasks, maximumLimitedTasks: maximumLimitedTasks, retention: retention)
        }

        mutating func handle(_ event: TaskQueue.Event, after wait: Int64 = 0) {
            now += wait
            steps = queue.handle(event, at: now)
        }

        mutating func submit(
            _ number: UInt64, method: HTTPRequest.Method? = nil, _ change: (inout BackgroundOptions) -> Void = { _ in }
        ) -> BackgroundTask.ID {
            let status = TaskQueueTests.task(number, method: method, at: now, change)
            handle(.submitted([status]))
            return status.id
        }

        mutating func fail(_ id: BackgroundTask.ID, retryable: Bool = true, retryAfter: Int64? = nil) {
            handle(
                .ended(
                    id,
                    .failed(
                        BackgroundFailure(
                            code: "x", message: "it broke", isRetryable: retryable, retryAfter: retryAfter))))
        }

        func state(_ id: BackgroundTask.ID) -> BackgroundStatus.State? { queue[id]?.state }

        var started: [UInt64] { steps.compactMap { if case .start(let id) = $0 { id.number } else { nil } } }
        var stopped: [UInt64] { steps.compactMap { if case .stop(let id) = $0 { id.number } else { nil } } }
        var told: [BackgroundStatus] { steps.compactMap { if case .tell(let status) = $0 { status } else { nil } } }
        var saved: [BackgroundStatus] { steps.compactMap { if case .save(let status) = $0 { status } else { nil } } }

        /// Ends tasks one after another, and returns the order in which they ran.
        mutating func drain() -> [UInt64] {
            var order: [UInt64] = []
            while let running = queue.all.first(where: { $0.state == .running }) {
                order.append(running.id.number)
                handle(.ended(running.id, .done(BackgroundResult())))
            }
            return order
        }
    }

    private static func task(
        _ number: UInt64, method: HTTPRequest.Method? = nil, at now: Int64 = start,
        _ change: (inout BackgroundOptions) -> Void = { _ in }
    ) -> BackgroundStatus {
        var options = BackgroundOptions()
        change(&options)
        let request = HTTPRequest(method: method ?? .get, scheme: "https", authority: "club.example", path: "/")
        let work: BackgroundRequest.Work =
            method == nil ? .download(request, to: "/tmp/a") : .upload(request, file: "/tmp/a")
        return BackgroundStatus(.init(number: number), "s", BackgroundRequest(work, options: options), at: now)
    }

    @Test("tasks start in their order, urgent ones first without starving others")
    func order() {
        var bench = Bench()
        let first = bench.submit(0)
        #expect(bench.started == [0])
        for number in 1...20 { _ = bench.submit(UInt64(number)) { $0.priority = .high } }
        for number in 21...23 { _ = bench.submit(UInt64(number)) }
        for number in 31...33 { _ = bench.submit(UInt64(number)) { $0.priority = .low } }
        bench.handle(.changed([.init(number: 20)], .prioritize(.low)))
        bench.handle(.changed([.init(number: 33)], .prioritize(.high)))
        let order = bench.drain()
        #expect(first.number == 0)
        #expect(order.filter { (1...19).contains($0) || $0 == 33 } == Array(1...19) + [33])
        #expect(order.filter { (21...23).contains($0) } == [21, 22, 23])
        #expect(order.filter { [31, 32, 20].contains($0) } == [31, 32, 20])
        #expect(order.prefix(9).contains(21) && order.prefix(9).contains(31))
    }

    @Test("a status is saved before it is sent, and 'running' is sent before the task starts")
    func steps() {
        var bench = Bench()
        let id = bench.submit(1)
        #expect(bench.steps.count == 4)
        #expect(bench.told.map(\.state) == [.waiting, .running] && bench.saved.map(\.state) == [.running])
        #expect(bench.steps.last == .start(id) && bench.queue[id]?.attempt == 1)
        bench.handle(.ended(id, .done(BackgroundResult(status: 200, bytes: [7]))))
        #expect(bench.steps == [.save(bench.told[0]), .tell(bench.told[0])])
        #expect(bench.told[0].result?.bytes == [7] && bench.queue.isIdle)
        bench.handle(.ended(id, .done(BackgroundResult())))
        #expect(bench.steps.isEmpty)
    }

    @Test("back-off is random, and its bound doubles up to 5 minutes until an attempt makes progress")
    func backOff() throws {
        for number: UInt64 in 1...40 {
            var bench = Bench()
            let id = bench.submit(number &* 0x9E37_79B9_7F4A_7C15)
            var bound: Int64 = 500
            for attempt in 1...15 {
                #expect(bench.queue[id]?.attempt == attempt)
                bench.fail(id)
                let status = try #require(bench.queue[id])
                let wait = try #require(status.nextAttempt) - bench.now
                #expect(status.state == .waiting && (0...bound).contains(wait) && status.failure?.code == "x")
                #expect(bench.queue.wakeUp == status.nextAttempt || bench.queue.wakeUp ?? .max < bench.now + wait)
                bound = min(bound * 2, 300_000)
                if wait > 0 { bench.handle(.woke, after: wait - 1) }
                #expect(bench.started.isEmpty || wait == 0)
                bench.handle(.woke, after: wait > 0 ? 1 : 0)
                #expect(bench.started == [id.number])
            }
            bench.handle(.progressed(id, bytes: 1, total: nil, bytesPerSecond: 1))
            bench.fail(id)
            #expect(try #require(bench.queue[id]?.nextAttempt) - bench.now <= 500)
        }
    }

    @Test("Retry-After is obeyed for an hour at most, also when the network changes")
    func retryAfter() throws {
        var bench = Bench(maximumTasks: 2)
        let id = bench.submit(1)
        bench.fail(id, retryAfter: 90)
        #expect(try #require(bench.queue[id]?.nextAttempt) - bench.now == 90_000)
        bench.handle(.networkChanged)
        #expect(bench.started.isEmpty)
        bench.handle(.changed([id], .resume))
        #expect(bench.started == [1] && bench.queue[id]?.attempt == 2)
        bench.fail(id, retryAfter: .max)
        #expect(try #require(bench.queue[id]?.nextAttempt) - bench.now == 3_600_000)
        let other = bench.submit(2)
        for _ in 1...9 { bench.fail(other); bench.handle(.networkChanged); #expect(bench.started == [2]) }
    }

    @Test("while the rate is limited few tasks begin, running ones continue, and afterwards the usual number begins")
    func limited() {
        var bench = Bench(maximumTasks: 3, maximumLimitedTasks: 1)
        let ids = [bench.submit(1), bench.submit(2)]
        bench.handle(.limited(true))
        #expect(bench.steps.isEmpty)
        let last = bench.submit(3)
        #expect(ids.map(bench.state) == [.running, .running] && bench.state(last) == .waiting)
        bench.handle(.ended(ids[0], .done(BackgroundResult())))
        #expect(bench.state(last) == .waiting)
        bench.handle(.ended(ids[1], .done(BackgroundResult())))
        #expect(bench.state(last) == .running)
        let others = [bench.submit(4), bench.submit(5)]
        #expect(others.map(bench.state) == [.waiting, .waiting])
        bench.handle(.limited(false))
        #expect(others.map(bench.state) == [.running, .running])
    }

    @Test("a task times out while it waits, is held or runs, but not while it is paused")
    func timeouts() {
        var bench = Bench(maximumTasks: 2)
        let ids = [bench.submit(1), bench.submit(2), bench.submit(3), bench.submit(4)]
        bench.handle(.changed([ids[3]], .pause))
        bench.fail(ids[1], retryAfter: 3600)
        let late = bench.submit(5) { $0.earliestStart = Self.start / 1000 + 7 * 86400 + 60 }
        bench.handle(.held(true))
        bench.handle(.woke, after: 7 * 86_400_000 - 1)
        #expect(ids.map(bench.state) == [.running, .waiting, .running, .paused])
        bench.handle(.woke, after: 1)
        #expect(ids.map(bench.state) == [.running, .failed, .running, .paused])
        #expect(bench.queue[ids[1]]?.failure?.code == "timedOut")
        #expect(bench.queue[ids[1]]?.failure?.message.contains("it broke") == true)
        bench.handle(.ended(ids[0], .stopped))
        bench.handle(.ended(ids[2], .done(BackgroundResult())))
        #expect(ids.map(bench.state) == [.failed, .failed, .done, .paused] && bench.state(late) == .waiting)
        bench.handle(.held(false), after: 60_000)
        #expect(bench.started == [5])
        bench.handle(.changed([ids[0], ids[3]], .resume))
        #expect(bench.started == [1] && bench.queue[ids[0]]?.attempt == 1 && bench.queue[ids[0]]?.failure == nil)
    }

    @Test("the last change of a running task decides its state once it has stopped")
    func stopping() {
        typealias Case = ([BackgroundChange], TaskQueue.End, BackgroundStatus.State, String?)
        let broken = TaskQueue.End.failed(BackgroundFailure(code: "x", message: "", isRetryable: true))
        let final = TaskQueue.End.failed(BackgroundFailure(code: "y", message: ""))
        let cases: [Case] = [
            ([.pause], .stopped, .paused, nil), ([.pause, .pause], broken, .paused, "x"),
            ([.pause], final, .failed, "y"),
            ([.pause], .done(BackgroundResult()), .done, nil), ([.pause, .resume], .stopped, .running, nil),
            ([.pause, .resume], broken, .waiting, "x"), ([.cancel], .stopped, .failed, "cancelled"),
            ([.cancel], broken, .failed, "cancelled"), ([.cancel], final, .failed, "cancelled"),
            ([.cancel], .done(BackgroundResult()), .done, nil), ([.cancel, .pause], .stopped, .failed, "cancelled"),
            ([.pause, .cancel], .stopped, .failed, "cancelled"), ([.cancel, .resume], .stopped, .running, nil),
            ([], .stopped, .running, nil), ([.pause, .forget], .stopped, .paused, nil),
        ]
        for (changes, end, state, code) in cases {
            var bench = Bench()
            let id = bench.submit(0xC0FFEE)
            bench.handle(.progressed(id, bytes: 9, total: 10, bytesPerSecond: 1))
            var stops = 0
            for change in changes {
                bench.handle(.changed([id], change))
                stops += bench.stopped.count
                #expect(bench.state(id) == .running)
            }
            #expect(stops == (changes.isEmpty ? 0 : 1))
            bench.handle(.ended(id, end))
            #expect(bench.state(id) == state && bench.queue[id]?.failure?.code == code, "\(changes) \(end)")
            #expect(bench.steps.contains(.discard(id)) == (code == "cancelled"), "\(changes) \(end)")
            #expect(bench.queue[id]?.bytes == (code == "cancelled" ? 0 : 9))
            #expect(bench.queue[id]?.total == 10)
        }
    }

    @Test("waiting tasks are paused, resumed and cancelled at once, and finished ones are not")
    func waiting() {
        var bench = Bench()
        let running = bench.submit(1)
        let id = bench.submit(2)
        bench.handle(.changed([id], .pause))
        #expect(bench.state(id) == .paused && bench.saved.map(\.state) == [.paused])
        #expect(bench.drain() == [1])
        bench.handle(.changed([id, running], .resume))
        #expect(bench.started == [2] && bench.state(running) == .done)
        bench.fail(id, retryable: false)
        for change in [BackgroundChange.pause, .cancel, .prioritize(.high)] {
            bench.handle(.changed([id, running, .init(number: 99)], change))
            #expect(bench.steps.isEmpty)
        }
        bench.handle(.changed([id], .resume))
        bench.fail(id)
        bench.handle(.changed([id], .cancel))
        #expect(bench.steps == [.save(bench.told[0]), .discard(id), .tell(bench.told[0])])
        #expect(bench.told[0].failure?.code == "cancelled" && bench.queue.isIdle)
    }

    @Test("a pause by the schedule stops running tasks, except an upload that must not be sent twice")
    func held() {
        var bench = Bench(maximumTasks: 3)
        let ids = [bench.submit(1), bench.submit(2, method: .post), bench.submit(3, method: .put), bench.submit(4)]
        bench.handle(.held(true))
        #expect(bench.stopped == [1, 3])
        bench.handle(.ended(ids[0], .stopped))
        bench.handle(.ended(ids[2], .stopped))
        bench.handle(.ended(ids[1], .done(BackgroundResult())))
        #expect(ids.map(bench.state) == [.waiting, .done, .waiting, .waiting] && !bench.queue.isIdle)
        bench.handle(.held(false))
        #expect(Set(bench.started) == [1, 3, 4] && bench.queue[ids[0]]?.attempt == 1)
    }

    @Test("tasks that ran when the last daemon ended continue first, in the same attempt, but are not sent twice")
    func loaded() {
        var tasks = [1, 2, 3, 4, 5].map { Self.task($0, method: $0 == 4 ? .post : nil) }
        for index in [2, 3] { (tasks[index].state, tasks[index].attempt) = (.running, 3) }
        tasks[4].state = .paused
        tasks[1].sequence = 1 << 62
        var bench = Bench()
        bench.handle(.loaded(tasks))
        #expect(bench.started == [3] && bench.queue[tasks[2].id]?.attempt == 3)
        #expect(bench.state(tasks[3].id) == .failed)
        #expect(bench.queue[tasks[3].id]?.failure?.message.contains("may have been received") == true)
        #expect(bench.told.allSatisfy { $0.sequence > 1 << 62 })
        #expect(bench.drain() == [3, 1, 2] && bench.state(tasks[4].id) == .paused && bench.queue.isIdle)
        #expect(bench.queue.all.map(\.id) == tasks.map(\.id))
    }

    @Test("setting the clock back makes no task wait longer than before")
    func clockBack() throws {
        var bench = Bench(maximumTasks: 2, retention: 60)
        let (id, done) = (bench.submit(1), bench.submit(2))
        bench.handle(.ended(done, .done(BackgroundResult())))
        for _ in 1...12 {
            bench.fail(id)
            bench.handle(.networkChanged)
        }
        bench.fail(id)
        bench.handle(.woke, after: -86_400_000 * 365)
        #expect(try #require(bench.queue[id]?.nextAttempt) - bench.now <= 300_000)
        bench.handle(.woke, after: 60_000)
        #expect(bench.queue[done] == nil && bench.steps.contains(.forget(done)))
        bench.handle(.woke, after: 240_000)
        #expect(bench.state(id) == .running)
        bench.handle(.woke, after: 7 * 86_400_000)
        #expect(bench.stopped == [1])
    }

    @Test("setting the clock back and right again ends no task")
    func clockRight() {
        var bench = Bench(maximumTasks: 2)
        let (id, done) = (bench.submit(1), bench.submit(2))
        let late = bench.submit(3) { $0.earliestStart = Self.start / 1000 + 3600 }
        bench.handle(.ended(done, .done(BackgroundResult())))
        for wait: Int64 in [-86_400_000 * 365, 86_400_000 * 365 + 1000] {
            bench.handle(.woke, after: wait)
            #expect(bench.stopped.isEmpty && !bench.steps.contains(.forget(done)))
        }
        #expect([id, done, late].map(bench.state) == [.running, .done, .waiting])
        bench.handle(.woke, after: 7 * 86_400_000 - 1001)
        #expect(bench.stopped.isEmpty && bench.state(late) == .running)
        bench.handle(.woke, after: 1)
        #expect(bench.stopped == [1])
    }

    @Test("after daemons that die in a row, running tasks continue at once the first time, then within a second")
    func crashLoop() throws {
        for number: UInt64 in 1...40 {
            var status = Self.task(number &* 0x9E37_79B9_7F4A_7C15)
            (status.state, status.attempt) = (.running, 1)
            var now = Self.start
            for deaths in 1...14 {
                var bench = Bench()
                bench.now = now
                bench.handle(.loaded([status]))
                let bound: Int64 = deaths == 1 ? 0 : deaths == 2 ? 500 : 1000
                let wait = try #require(bench.queue[status.id]).nextAttempt.map { $0 - now } ?? 0
                #expect((0...bound).contains(wait), "\(number) \(deaths)")
                bench.handle(.networkChanged)
                #expect(wait == 0 || bench.started.isEmpty)
                bench.handle(.woke, after: wait)
                status = try #require(bench.queue[status.id])
                #expect(status.state == .running && status.interruptions == deaths)
                now = bench.now + 59_000
            }
            var bench = Bench()
            bench.now = now + 1000
            bench.handle(.loaded([status]))
            #expect(bench.started == [status.id.number] && bench.queue[status.id]?.interruptions == 1)
            bench.handle(.ended(status.id, .stopped))
            #expect(bench.queue[status.id]?.interruptions == 0)
        }
    }

    @Test("a change of the network hurries only tasks that no server has answered")
    func answered() {
        var bench = Bench()
        let id = bench.submit(7)
        for _ in 1...12 {
            bench.fail(id)
            bench.handle(.networkChanged)
            #expect(bench.state(id) == .running)
        }
        let failure = BackgroundFailure(code: "x", message: "", status: 503, isRetryable: true)
        bench.handle(.ended(id, .failed(failure)))
        bench.handle(.networkChanged)
        #expect(bench.state(id) == .waiting && bench.started.isEmpty)
    }

    @Test("a task with an earliest start waits for it again when the clock is set back")
    func earliestStart() {
        var bench = Bench()
        let running = bench.submit(1)
        let id = bench.submit(2) { $0.earliestStart = Self.start / 1000 + 60 }
        bench.handle(.woke, after: 60_000)
        bench.handle(.ended(running, .done(BackgroundResult())), after: -1)
        #expect(bench.state(id) == .waiting && bench.queue.wakeUp == bench.now + 1)
        bench.handle(.woke, after: 1)
        #expect(bench.started == [2])
    }

    @Test("progress is sent at most ten times a second, including the last, and saved every three seconds")
    func progress() {
        var bench = Bench()
        let id = bench.submit(1)
        var (told, saved) = (0, 0)
        for number in 1...1000 {
            bench.handle(.progressed(id, bytes: Int64(number), total: 1001, bytesPerSecond: .nan), after: 10)
            told += bench.told.count
            saved += bench.saved.count
        }
        #expect(told == 100 && saved == 3)
        bench.handle(.progressed(id, bytes: 1001, total: 1001, bytesPerSecond: 7), after: 10)
        #expect(bench.told.isEmpty && bench.queue.wakeUp == bench.now + 90)
        bench.handle(.woke, after: 90)
        #expect(bench.told.map(\.bytes) == [1001] && bench.told.map(\.bytesPerSecond) == [7])
        bench.handle(.progressed(id, bytes: -5, total: -7, bytesPerSecond: -1), after: 100)
        #expect(bench.told.map(\.bytes) == [0] && bench.told.map(\.total) == [0])
    }

    @Test("a finished task is forgotten when its end is taken, on request, and when it is old enough")
    func forgetting() {
        var bench = Bench(maximumTasks: 9, retention: 10)
        let ids = (1...5).map { bench.submit($0) }
        for id in ids[...2] { bench.handle(.ended(id, .done(BackgroundResult()))) }
        bench.fail(ids[3], retryable: false)
        bench.handle(.acknowledged([ids[0], ids[4]].map { TakenEnd(id: $0, sequence: .max) }))
        #expect(bench.steps == [.forget(ids[0])])
        bench.handle(.changed([ids[1], ids[4]], .forget))
        #expect(bench.steps == [.forget(ids[1])])
        bench.handle(.woke, after: 9_999)
        #expect(bench.steps.isEmpty)
        bench.handle(.woke, after: 1)
        #expect(bench.steps == [.forget(ids[2]), .discard(ids[3]), .forget(ids[3])])
        #expect(bench.queue.all.map(\.id) == [ids[4]])
    }

    @Test("taking an end does not take the task's next one")
    func secondEnd() throws {
        var bench = Bench()
        let id = bench.submit(1)
        bench.fail(id, retryable: false)
        let first = TakenEnd(id: id, sequence: try #require(bench.queue[id]).sequence)
        bench.handle(.changed([id], .resume))
        bench.handle(.acknowledged([first]))
        bench.fail(id, retryable: false)
        bench.handle(.acknowledged([first]))
        #expect(bench.steps.isEmpty && bench.state(id) == .failed)
        bench.handle(.acknowledged([TakenEnd(id: id, sequence: try #require(bench.queue[id]).sequence)]))
        #expect(bench.steps == [.discard(id), .forget(id)])
    }

    @Test("a running task that is paused or cancelled is saved as such before it stops, whatever happens meanwhile")
    func durableChanges() {
        for (change, state) in [(BackgroundChange.pause, BackgroundStatus.State.paused), (.cancel, .failed)] {
            var bench = Bench()
            let id = bench.submit(1)
            bench.handle(.changed([id], change), after: 10)
            #expect(bench.saved.map(\.state) == [state] && bench.steps.last == .stop(id) && bench.told.isEmpty)
            #expect(bench.queue.isStopping(id) && bench.state(id) == .running)
            bench.handle(.changed([id], change))
            #expect(bench.stopped.isEmpty)
            bench.handle(.progressed(id, bytes: 1, total: 2, bytesPerSecond: 1), after: TaskQueue.saveInterval)
            #expect(bench.saved.map(\.state) == [state] && bench.told.map(\.state) == [.running])
            bench.handle(.held(true))
            #expect(bench.queue.isStopping(id) && bench.saved.isEmpty)
            bench.handle(.changed([id], .resume))
            #expect(bench.saved.map(\.state) == [.running] && !bench.queue.isStopping(id))
            bench.handle(.changed([id], change))
            bench.handle(.ended(id, .stopped))
            #expect(bench.saved.map(\.state) == [state] && bench.told.map(\.state) == [state])
            #expect(!bench.queue.isStopping(id))
        }
        // It may be sent until it has stopped.
        var bench = Bench()
        let upload = bench.submit(1, method: .post)
        bench.handle(.changed([upload], .pause))
        #expect(bench.saved.map(\.state) == [.running] && bench.stopped == [1])
    }

    @Test("the rate of a stalled task becomes 0 after a while, and is sent once")
    func stall() {
        var bench = Bench()
        let id = bench.submit(1)
        bench.handle(.progressed(id, bytes: 1, total: 9, bytesPerSecond: 7), after: 500)
        #expect(bench.told.map(\.bytesPerSecond) == [7] && bench.queue.wakeUp == bench.now + 2000)
        bench.handle(.woke, after: 1999)
        #expect(bench.told.isEmpty)
        bench.handle(.woke, after: 1)
        #expect(bench.told.map(\.bytesPerSecond) == [0] && bench.told.map(\.bytes) == [1] && bench.saved.isEmpty)
        #expect(bench.queue.wakeUp ?? 0 > bench.now + 86_400_000)
        // Work that reports every ten seconds does not stall between its reports.
        bench.handle(.progressed(id, bytes: 2, total: 9, bytesPerSecond: 7), after: 10_000)
        bench.handle(.woke, after: 19_000)
        #expect(bench.queue[id]?.bytesPerSecond == 7)
        bench.handle(.woke, after: 6_000)
        #expect(bench.told.map(\.bytesPerSecond) == [0])
    }

    @Test("times at the limits of their type neither trap nor get lost")
    func extremes() {
        for value: Int64 in [.min, -1, 0, .max] {
            var bench = Bench(maximumTasks: 9, retention: value)
            let id = bench.submit(1) {
                $0.timeoutForResource = value
                $0.earliestStart = value
            }
            bench.fail(id, retryAfter: value)
            for now: Int64 in [.min, .max, 0] { _ = bench.queue.handle(.woke, at: now) }
            var status = Self.task(2)
            (status.begun, status.changed, status.nextAttempt, status.sequence) = (value, value, value, .max)
            _ = bench.queue.handle(.loaded([status]), at: Self.start)
        }
    }

    @Test("a restricted task waits until the conditions are known and allow it, and says why")
    func conditions() {
        let (free, metered) = (NetworkConditions(), NetworkConditions(isMetered: true))
        let explicit = NetworkConditions(isMetered: true, isConstrained: true)
        let battery = NetworkConditions(isOnBattery: true)
        typealias Change = (NetworkConditions, NetworkConditions.Obstacle?, isStarted: Bool)
        let cases: [(NetworkRules, [Change])] = [
            (NetworkRules(allowsMetered: false), [(metered, .metered, false), (free, nil, true)]),
            (NetworkRules(allowsMetered: false), [(explicit, .metered, false), (battery, nil, true)]),
            (NetworkRules(allowsConstrained: false), [(explicit, .constrained, false), (metered, nil, true)]),
            (
                NetworkRules(isDiscretionary: true),
                [(metered, .metered, false), (battery, .battery, false), (free, nil, true)]
            ),
        ]
        for (rules, changes) in cases {
            var bench = Bench()
            let id = bench.submit(1) {
                $0.allowsMetered = rules.allowsMetered
                $0.allowsConstrained = rules.allowsConstrained
                $0.isDiscretionary = rules.isDiscretionary
            }
            #expect(bench.started.isEmpty && bench.queue.needsConditions && !bench.queue.isIdle)
            for (conditions, obstacle, isStarted) in changes {
                bench.handle(.networkConditions(conditions), after: 1)
                #expect(bench.queue[id]?.obstacle == obstacle && bench.started == (isStarted ? [1] : []))
                #expect(isStarted || bench.told.map(\.obstacle) == [obstacle])
                // Once it is said, it is not said again, and nothing wakes up for it but its time limit.
                if !isStarted {
                    bench.handle(.networkConditions(conditions))
                    #expect(bench.steps.isEmpty && bench.queue.wakeUp ?? 0 > bench.now + 86_400_000)
                }
            }
            bench.handle(.ended(id, .done(BackgroundResult())))
            #expect(!bench.queue.needsConditions)
        }
    }

    @Test("a restricted task does not hold up others, keeps its place among its like, and times out")
    func barred() {
        var bench = Bench()
        let first = bench.submit(1) { $0.allowsMetered = false }
        let second = bench.submit(2) { $0.allowsMetered = false }
        let third = bench.submit(3)
        #expect(bench.started == [3])
        bench.handle(.networkConditions(NetworkConditions(isMetered: true)))
        bench.handle(.ended(third, .done(BackgroundResult())))
        #expect(bench.started.isEmpty && bench.queue[second]?.obstacle == .metered)
        bench.handle(.changed([first], .pause))
        #expect(bench.queue[first]?.obstacle == nil && bench.state(first) == .paused)
        bench.handle(.changed([first], .resume))
        #expect(bench.queue[first]?.obstacle == .metered && bench.started.isEmpty)
        bench.handle(.networkConditions(NetworkConditions()))
        #expect(bench.started == [1] && bench.drain() == [1, 2])
        let late = bench.submit(4) {
            $0.allowsMetered = false
            $0.timeoutForResource = 60
        }
        // The conditions of before are forgotten, as no task needed them.
        #expect(bench.started.isEmpty)
        bench.handle(.networkConditions(NetworkConditions(isMetered: true)))
        bench.handle(.woke, after: 60_000)
        #expect(bench.state(late) == .failed)
        #expect(bench.queue[late]?.failure?.message == "it was not done within 60 s; the network is metered")
    }

    @Test("a task under way is stopped on a network that it must not use, unless it must not be sent twice")
    func underWay() {
        var bench = Bench(maximumTasks: 3)
        let download = bench.submit(1) { $0.isDiscretionary = true }
        let post = bench.submit(2, method: .post) { $0.allowsMetered = false }
        bench.handle(.networkConditions(NetworkConditions()))
        #expect(bench.started == [1, 2])
        bench.handle(.networkConditions(NetworkConditions(isOnBattery: true)))
        #expect(bench.stopped.isEmpty)
        bench.handle(.networkConditions(NetworkConditions(isMetered: true)))
        #expect(bench.stopped == [1])
        bench.handle(.ended(download, .stopped))
        #expect(bench.state(download) == .waiting && bench.queue[download]?.obstacle == .metered)
        #expect(bench.state(post) == .running)
        bench.handle(.networkConditions(NetworkConditions()))
        #expect(bench.started == [1] && bench.queue[download]?.obstacle == nil)
    }
}
