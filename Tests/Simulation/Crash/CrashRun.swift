import ByteClubCore
import MemoryRemote
import TestSupport

@testable import ByteClubSync

/// One scenario played once, with one fault at one call of the first member's engine.
final class CrashRun: @unchecked Sendable {
    // Invariant: one thread runs it.
    private let scenario: CrashScenario
    private let executor = SimulationExecutor(seed: 1)
    private let mine: SimulatedMachine
    private let theirs: SimulatedMachine
    private var random = SeededGenerator(seed: 1)
    /// Lines of contents that the server has taken.
    private var history: Set<String> = []
    /// Lines that somebody has written and not taken away.
    private var owed: Set<String> = []
    /// What is wrong; empty when nothing is.
    private(set) var faults: [String] = []
    private var hadFailure = false
    /// The calls of the undisturbed engine, each with whether it may change something.
    private(set) var calls: [Bool] = []
    /// What the disturbed engine called, and what the machines' trees hold in the end.
    var story: [String] { passages + [mine, theirs].flatMap(\.account) }
    private var passages: [String] = []

    init(_ scenario: CrashScenario) {
        self.scenario = scenario
        let server = MemoryRemote(pageSize: 5)
        let executor = executor
        let machines = [0, 1].map { number in
            let network = SimulatedNetwork(
                MemoryRemote(sharing: server, author: Int64(number + 1)), seed: UInt64(number))
            let machine = SimulatedMachine(number, network, executor, usesExtension: scenario.usesExtension)
            machine.disk.foldsCase = scenario.foldsCase
            machine.disk.canExchange = scenario.canExchange
            return machine
        }
        (mine, theirs) = (machines[0], machines[1])
        for machine in machines {
            machine.network.onContent = { [unowned self] in history.formUnion(SimulatedUser.lines($0)) }
        }
    }

    /// Plays it without a fault, and counts the calls.
    func runUndisturbed() {
        begin()
        let first = mine.effects
        mine.onPassage = { [unowned self] in calls.append(!$0) }
        sync(mine)
        mine.onPassage = nil
        assert(calls.count == mine.effects - first, "each call is told")
        end()
    }

    /// Plays it with a fault at a call, the first being 1.
    func play(_ fault: CrashFault, at call: Int) {
        begin()
        switch fault {
        case .kill, .powerCut, .twice: mine.life = call
        case .failure, .survivedFailure: mine.failingCall = mine.effects + call
        }
        mine.outlivesFailures = fault == .survivedFailure
        hadFailure = [.survivedFailure, .failure].contains(fault)
        mine.disk.before = { [unowned self] in passages.append("\(mine.effects): \($0.verb.rawValue) \($0.path)") }
        mine.network.onWrite = { [unowned self] in passages.append("\(mine.effects): the server: \($0)") }
        sync(mine)
        mine.disk.before = nil
        switch fault {
        case .kill: restart(afterPowerCut: false)
        case .powerCut(let seed):
            random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(call))
            restart(afterPowerCut: true)
        case .twice(let seed):
            random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(call))
            restart(afterPowerCut: true)
            mine.life = Int.random(in: 1..<80, using: &random)
            sync(mine)
            restart(afterPowerCut: true)
        case .failure, .survivedFailure: mine.failingCall = nil
        }
        end()
    }

    // MARK: Parts

    /// Brings all to the moment at which the first member's engine starts.
    private func begin() {
        for (path, text) in scenario.start.sorted(by: { $0.key < $1.key }) {
            perform(path.hasSuffix("/") ? .folder(String(path.dropLast())) : .write(path, text), mine)
        }
        if !scenario.start.isEmpty { for machine in [mine, theirs] { settle(machine) } }
        for act in scenario.mine { perform(act, mine) }
        for act in scenario.theirs { perform(act, theirs) }
        for machine in [mine, theirs] {
            machine.disk.syncAll()
            owed.formUnion(lines(machine))
        }
        settle(theirs)
        wait(mine)
        restart(afterPowerCut: false)
    }

    private func perform(_ act: CrashAct, _ machine: SimulatedMachine) {
        if !act.perform(on: machine) { faults.append("\(act) cannot be done") }
    }

    private func restart(afterPowerCut: Bool) { mine.restart(afterPowerCut: afterPowerCut, using: &random) }

    private func wait(_ machine: SimulatedMachine) {
        machine.disk.time += 3_000_000_000
        machine.uptime += .seconds(4_000)
    }

    private func settle(_ machine: SimulatedMachine) {
        wait(machine)
        sync(machine)
    }

    private func sync(_ machine: SimulatedMachine) {
        machine.sync()
        var steps = 0
        while machine.isSyncing {
            if executor.isIdle || steps > 100_000 {
                faults.append("machine \(machine.number) hangs")
                return
            }
            executor.step()
            steps += 1
        }
    }

    /// Lets both sync until there is nothing to do, and judges.
    private func end() {
        if !faults.isEmpty { return }
        for _ in 0..<8 {
            let before = changes
            for machine in [mine, theirs] {
                settle(machine)
                if case .failure(let error) = machine.lastOutcome {
                    faults.append("machine \(machine.number) fails at rest: \(error)")
                }
                if !faults.isEmpty { return }
            }
            if changes == before { return judge() }
        }
        faults.append("it never comes to rest")
        judge()
    }

    /// How much the engines have changed on disks and server.
    private var changes: [Int] { [mine, theirs].flatMap { [$0.disk.changes, $0.network.writes] } }

    // MARK: Judging

    private func judge() {
        var reachable = history
        let observed = [mine, theirs].map { ($0, observe($0)) }
        // Both machines must have the same one of the ends.
        let other = hadFailure ? scenario.otherEnds.first { $0 == observed.last?.1.tree } : nil
        for (machine, (found, lines)) in observed {
            var expected = other ?? scenario.end
            if machine === mine, let folder = scenario.leftOut {
                expected = expected.filter { !LocalPath.isWithin($0.key, folder) }
            }
            if machine === mine { expected.merge(scenario.mineAlone) { $1 } }
            reachable.formUnion(lines)
            for path in Set(expected.keys).union(found.keys).sorted() where expected[path] != found[path] {
                faults.append(
                    "machine \(machine.number): \(path) is \(Self.shown(found[path])), not \(Self.shown(expected[path]))"
                )
            }
            let problems = machine.database.problems()
            if !problems.isEmpty { faults.append("machine \(machine.number): \(problems.map(\.message))") }
            faults += machine.violations
        }
        let lost = owed.subtracting(reachable).sorted().map { $0.prefix(20) }
        if !lost.isEmpty { faults.append("lost: \(lost)") }
    }

    /// A machine's tree, and all lines on its disk.
    private func observe(_ machine: SimulatedMachine) -> (tree: [String: String], lines: Set<String>) {
        var tree: [String: String] = [:]
        var lines: Set<String> = []
        for (path, content) in machine.disk.tree(includesPrivate: true) {
            if let content { lines.formUnion(SimulatedUser.lines(content)) }
            if path.hasPrefix(".byteclub/staging/") { faults.append("left in staging: \(path)") }
            if LocalPath.isWithin(path, ".byteclub") { continue }
            let path = CrashScenario.timeless(path)
            if let content { tree[path] = String(decoding: content, as: UTF8.self) } else { tree[path + "/"] = "" }
        }
        return (tree, lines)
    }

    private func lines(_ machine: SimulatedMachine) -> Set<String> { observe(machine).lines }

    private static func shown(_ text: String?) -> String {
        text.map { $0.isEmpty ? "there" : "\($0.prefix(40).debugDescription)" } ?? "missing"
    }
}
