import TestSupport
import Testing

@testable import ByteClubHTTP

/// When a session's program is started again, without a daemon.
struct RelaunchPlanTests {
    private static let relaunch = BackgroundRelaunch(command: ["/bin/true"])

    private static func status(
        _ number: UInt64, _ state: BackgroundStatus.State, _ sequence: UInt64, in identifier: String = "a"
    ) -> BackgroundStatus {
        var status = BackgroundStatus(
            .init(number: number), identifier, BackgroundRequest(.custom(kind: "k", payload: [])), at: 1)
        status.state = state
        status.sequence = sequence
        return status
    }

    private static func record(_ started: UInt64, _ identifier: String = "a") -> RelaunchRecord {
        RelaunchRecord(identifier: identifier, relaunch: relaunch, started: started)
    }

    /// A plan with a clock, whose programs are started with growing numbers.
    private struct Desk {
        var plan = RelaunchPlan()
        var now = Moment(nanoseconds: 0)

        mutating func send(_ events: RelaunchPlan.Event...) -> [RelaunchPlan.Step] {
            events.flatMap { plan.handle($0, at: now) }
        }

        mutating func pass(_ time: Duration) -> [RelaunchPlan.Step] {
            now = now.advanced(by: time)
            return send(.woke)
        }

        /// A plan whose session has been attached and left, with these tasks.
        static func left(_ statuses: [BackgroundStatus]) -> Desk {
            var desk = Desk()
            _ = desk.send(.attached("a", relaunch, statuses), .detached("a"))
            return desk
        }
    }

    @Test(
        "a program is started when nothing runs, an end waits and no program has the session",
        arguments: [
            ([.done], true), ([.failed], true), ([.done, .paused, .failed], true),
            ([.paused], false), ([.done, .waiting], false), ([.failed, .running], false), ([.waiting], false),
        ] as [([BackgroundStatus.State], Bool)])
    func states(states: [BackgroundStatus.State], isStarted: Bool) {
        var desk = Desk()
        let statuses = states.enumerated().map { Self.status(UInt64($0), $1, UInt64(10 + $0)) }
        #expect(desk.send(.attached("a", Self.relaunch, statuses)) == [.save(Self.record(0))])
        #expect(desk.pass(.seconds(5)).isEmpty && !desk.plan.isPending, "it is attached")
        #expect(desk.send(.detached("a")).isEmpty && desk.plan.isPending == isStarted)
        #expect(desk.pass(.milliseconds(999)).isEmpty)
        #expect(desk.pass(.milliseconds(1)) == (isStarted ? [.start(1, Self.record(0))] : []))
        #expect(desk.pass(.seconds(60)).isEmpty)
    }

    @Test("ends that come one after the other are one start, a second after the last one")
    func together() {
        var desk = Desk.left([Self.status(1, .running, 1), Self.status(2, .running, 2)])
        #expect(desk.send(.status(Self.status(1, .done, 3))).isEmpty && !desk.plan.isPending)
        #expect(desk.send(.status(Self.status(2, .done, 4))).isEmpty)
        #expect(desk.pass(.milliseconds(900)).isEmpty)
        #expect(desk.send(.status(Self.status(3, .failed, 5))).isEmpty)
        #expect(desk.pass(.milliseconds(900)).isEmpty)
        // A report without a change does not postpone it.
        #expect(desk.send(.status(Self.status(3, .failed, 5))).isEmpty)
        #expect(desk.pass(.milliseconds(100)) == [.start(1, Self.record(0))])
        #expect(desk.send(.started(1)) == [.save(Self.record(5))] && !desk.plan.isPending)
    }

    @Test("a program that confirms nothing is started again after a new end only, and not while it runs")
    func loop() {
        var desk = Desk.left([Self.status(1, .done, 3)])
        #expect(desk.pass(.seconds(1)) == [.start(1, Self.record(0))])
        #expect(desk.plan.isStarting && desk.plan.isPending)
        #expect(desk.send(.started(1)) == [.save(Self.record(3))])
        #expect(!desk.plan.isStarting && !desk.plan.isPending)
        #expect(desk.send(.status(Self.status(2, .failed, 4))).isEmpty)
        #expect(desk.pass(.seconds(60)).isEmpty, "it still runs")
        #expect(desk.send(.exited(1)).isEmpty)
        #expect(desk.pass(.seconds(1)) == [.start(2, Self.record(3))])
        #expect(desk.send(.started(2), .exited(2)) == [.save(Self.record(4))])
        #expect(desk.pass(.seconds(60)).isEmpty)
        // It attaches and leaves without taking anything.
        #expect(desk.send(.attached("a", Self.relaunch, []), .detached("a")).isEmpty)
        #expect(desk.pass(.seconds(60)).isEmpty)
        // A failed task that is resumed and ends again has a new end.
        #expect(desk.send(.status(Self.status(2, .waiting, 5)), .status(Self.status(2, .failed, 6))).isEmpty)
        #expect(desk.pass(.seconds(1)) == [.start(3, Self.record(4))])
    }

    @Test("an attached program, a removed command and taken ends prevent the start")
    func prevented() {
        var desk = Desk.left([Self.status(1, .done, 3)])
        #expect(desk.send(.attached("a", Self.relaunch, [])).isEmpty && !desk.plan.isPending)
        #expect(desk.send(.detached("a"), .attached("a", nil, [])) == [.remove("a")] && desk.plan.isEmpty)
        desk = .left([Self.status(1, .done, 3), Self.status(2, .paused, 2)])
        #expect(desk.send(.gone(.init(number: 1), identifier: "a")).isEmpty && !desk.plan.isPending)
        // Without tasks the command is not needed.
        #expect(desk.send(.gone(.init(number: 2), identifier: "a")) == [.remove("a")] && desk.plan.isEmpty)
        desk = .left([])
        #expect(desk.plan.isEmpty)
        #expect(desk.send(.status(Self.status(1, .done, 3)), .woke).isEmpty)
    }

    @Test("the last session's command counts")
    func replaced() {
        var desk = Desk.left([Self.status(1, .done, 3)])
        let other = BackgroundRelaunch(command: ["/bin/false"])
        let record = RelaunchRecord(identifier: "a", relaunch: other, started: 0)
        #expect(desk.send(.attached("a", other, []), .detached("a")) == [.save(record)])
        #expect(desk.pass(.seconds(1)) == [.start(1, record)])
    }

    @Test("a program that cannot be started is tried again after a new end, or by the next daemon")
    func failed() {
        var desk = Desk.left([Self.status(1, .done, 3)])
        #expect(desk.pass(.seconds(1)) == [.start(1, Self.record(0))])
        #expect(desk.send(.failed(1)).isEmpty, "nothing is recorded")
        #expect(desk.pass(.seconds(60)).isEmpty)
        #expect(desk.send(.status(Self.status(2, .done, 4))).isEmpty)
        #expect(desk.pass(.seconds(1)) == [.start(2, Self.record(3))])
    }

    @Test(
        "the next daemon starts what the last one did not record as started",
        arguments: [
            (0, true), (2, true), (3, false), (.max, false),
        ] as [(UInt64, Bool)])
    func restart(started: UInt64, isStarted: Bool) {
        var desk = Desk()
        let loaded = RelaunchPlan.Event.loaded([Self.record(started)], [Self.status(1, .done, 3)])
        #expect(desk.send(loaded).isEmpty && desk.plan.isPending == isStarted)
        // The program that has started the daemon may be about to attach.
        #expect(desk.pass(.seconds(2)).isEmpty)
        #expect(desk.pass(.seconds(1)) == (isStarted ? [.start(1, Self.record(started))] : []))
        // The mark never hides later ends, whatever is in the file.
        if !isStarted {
            #expect(desk.send(.status(Self.status(2, .done, 4))).isEmpty)
            #expect(desk.pass(.seconds(1)) == [.start(1, Self.record(3))])
        }
    }

    @Test("a command without tasks is removed at the daemon's start, and one for tasks that run waits for them")
    func loadedTasks() {
        var desk = Desk()
        let records = [Self.record(0), Self.record(7, "b"), Self.record(0, "c")]
        let statuses = [
            Self.status(1, .running, 2), Self.status(2, .done, 3, in: "c"), Self.status(3, .done, 9, in: "d"),
        ]
        #expect(desk.send(.loaded(records, statuses)) == [.remove("b")])
        #expect(desk.pass(.seconds(3)) == [.start(1, Self.record(0, "c"))])
        #expect(desk.send(.status(Self.status(1, .failed, 12))).isEmpty)
        #expect(desk.pass(.seconds(1)) == [.start(2, Self.record(0))])
    }

    @Test("in any order of events, a program is started only when it may be, and once for the same ends")
    func chaos() {
        let first = UInt64.random(in: 0 ... .max)
        var starts = 0
        for seed in (0..<50).map({ first &+ $0 }) {
            var world = World(seed: seed)
            for _ in 0..<600 where world.problem == nil { world.act() }
            world.finish()
            #expect(world.problem == nil, "seed \(seed)")
            starts += world.starts
        }
        print("relaunch plan: seeds \(first) and the 49 after it")
        #expect(starts > 50, "seed \(first)")
    }

    /// Two sessions whose tasks change at random, a disk, and a daemon that is killed now and then.
    private struct World {
        var random: SeededGenerator
        var plan = RelaunchPlan()
        var now = Moment(nanoseconds: 0)
        var sequence: UInt64 = 0
        var disk: [String: RelaunchRecord] = [:]
        var tasks: [BackgroundTask.ID: BackgroundStatus] = [:]
        var attached: Set<String> = []
        /// The sessions that were attached with a command last.
        var wanted: Set<String> = []
        /// The programs that are being started or run, and the last end that they were started for.
        var programs: [UInt64: (identifier: String, end: UInt64, isRunning: Bool)] = [:]
        /// The last end for which this daemon, or one that recorded it, has started a program.
        var done: [String: UInt64] = [:]
        var lastChange: [String: Moment] = [:]
        var starts = 0
        var problem: String?

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func act() {
            let identifier = ["a", "b"].randomElement(using: &random) ?? "a"
            switch Int.random(in: 0...9, using: &random) {
            case 0...2: change(identifier)
            case 3:
                let ended = tasks.values.filter { $0.identifier == identifier && $0.isFinished }
                guard let status = ended.min(by: { $0.id.number < $1.id.number }) else { return }
                tasks[status.id] = nil
                send(.gone(status.id, identifier: identifier))
                lastChange[identifier] = now
            case 4: attach(identifier)
            case 5, 6:
                guard attached.remove(identifier) != nil else { return }
                send(.detached(identifier))
                lastChange[identifier] = now
            case 7: move()
            case 8:
                guard Int.random(in: 0..<8, using: &random) == 0 else { return pass() }
                restart()
            default: pass()
            }
        }

        /// Ends everything, after which each session that waits must have been served.
        mutating func finish() {
            for identifier in attached.sorted() { send(.detached(identifier)) }
            attached = []
            for status in tasks.values.filter({ !$0.isFinished }).sorted(by: { $0.id.number < $1.id.number }) {
                end(status)
            }
            for _ in 0..<20 {
                move(all: true)
                now = now.advanced(by: .seconds(4))
                send(.woke)
            }
            for identifier in wanted where (lastEnd(identifier) ?? 0) > done[identifier] ?? 0 {
                problem = problem ?? "\(identifier) waits in vain"
            }
            if plan.isPending { problem = problem ?? "a start is pending for ever" }
        }

        private mutating func pass() {
            now = now.advanced(by: .milliseconds(Int.random(in: 0...1500, using: &random)))
            if let time = plan.wakeUp, time <= now { send(.woke) }
        }

        private mutating func change(_ identifier: String) {
            let known = tasks.values.filter { $0.identifier == identifier }.sorted { $0.id.number < $1.id.number }
            sequence += 1
            guard known.count == 4 || Bool.random(using: &random), var status = known.randomElement(using: &random)
            else {
                let new = RelaunchPlanTests.status(random.next(), .waiting, sequence, in: identifier)
                return note(new)
            }
            status.state = BackgroundStatus.State.allCases.randomElement(using: &random) ?? .done
            status.sequence = sequence
            note(status)
        }

        private mutating func end(_ status: BackgroundStatus) {
            sequence += 1
            var status = status
            (status.state, status.sequence) = (.done, sequence)
            note(status)
        }

        private mutating func note(_ status: BackgroundStatus) {
            let before = tasks.updateValue(status, forKey: status.id)
            send(.status(status))
            if before?.state != .paused || status.state != .paused { lastChange[status.identifier] = now }
        }

        private mutating func attach(_ identifier: String) {
            let isWanted = Int.random(in: 0..<4, using: &random) > 0
            attached.insert(identifier)
            if isWanted { wanted.insert(identifier) } else { wanted.remove(identifier) }
            let mine = tasks.values.filter { $0.identifier == identifier }
            send(.attached(identifier, isWanted ? RelaunchPlanTests.relaunch : nil, mine))
        }

        /// Lets programs begin, fail and end.
        private mutating func move(all: Bool = false) {
            for (number, program) in programs.sorted(by: { $0.key < $1.key }) where all || Bool.random(using: &random) {
                if program.isRunning {
                    programs[number] = nil
                    send(.exited(number))
                } else if Int.random(in: 0..<4, using: &random) == 0 {
                    programs[number] = nil
                    send(.failed(number))
                } else {
                    programs[number]?.isRunning = true
                    send(.started(number))
                }
            }
        }

        /// The daemon is killed, which the sessions notice, and another one reads the disk.
        private mutating func restart() {
            plan = RelaunchPlan()
            attached = []
            programs = [:]
            done = disk.mapValues(\.started)
            wanted = Set(disk.keys)
            now = now.advanced(by: .milliseconds(1))
            lastChange = [:]
            send(.loaded(disk.values.sorted { $0.identifier < $1.identifier }, Array(tasks.values)))
        }

        private func lastEnd(_ identifier: String) -> UInt64? {
            tasks.values.filter { $0.identifier == identifier && $0.isFinished }.map(\.sequence).max()
        }

        private mutating func send(_ event: RelaunchPlan.Event) {
            for step in plan.handle(event, at: now) {
                switch step {
                case .save(let record): disk[record.identifier] = record
                case .remove(let identifier):
                    // The ends that its programs were started for are forgotten, too.
                    disk[identifier] = nil
                    done[identifier] = nil
                    wanted.remove(identifier)
                case .start(let number, let record): start(number, record.identifier)
                }
            }
        }

        private mutating func start(_ number: UInt64, _ identifier: String) {
            starts += 1
            let mine = tasks.values.filter { $0.identifier == identifier }
            let end = lastEnd(identifier) ?? 0
            if attached.contains(identifier) { problem = "it is attached" }
            if !wanted.contains(identifier) { problem = "nothing was asked for" }
            if mine.contains(where: { $0.state == .waiting || $0.state == .running }) { problem = "a task runs" }
            if end <= done[identifier] ?? 0 { problem = "the same ends again" }
            if let change = lastChange[identifier], change.duration(to: now) < RelaunchPlan.quiet {
                problem = "not quiet"
            }
            done[identifier] = end
            programs[number] = (identifier, end, false)
        }
    }
}
