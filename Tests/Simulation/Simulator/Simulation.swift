import ByteClubCore
import MemoryRemote
import TestSupport

@testable import ByteClubSync

/// How a run is made up; everything else follows from the seed.
struct SimulationSettings: Hashable, Sendable {
    var seed: UInt64
    /// How many machines there are, each with a user.
    var machines = 2
    /// How many things happen before all is let come to rest.
    var actions = 24
    /// Whether the server's extension is used.
    var usesExtension = true
    /// How likely a call meets a fault.
    var faults = 0.1
    /// Whether engines are killed, and machines lose their power.
    var crashes = true
    /// Whether users act only when all is at rest, so that there can be no conflict.
    var isPolite = false
    /// How many calls of an engine there are to one thing that a user does between two of them, on average.
    var callsPerMeddling = 150
    /// Which machines' disks take names for one that differ in letter case or composition only.
    var foldingDisks: Set<Int> = []
    /// Whether members leave folders out of their mirrors, and take them in again.
    var hasSelections = false
    /// Whether members write ignore files, and delete them.
    var hasIgnoreFiles = false
    /// Whether some files are too large for a batch.
    var hasLargeFiles = false
    /// Whether large files are downloaded to files, piece by piece.
    var hasPaths = false
    /// Whether the engines run without end, driven by events, rather than to agreement now and then.
    var isContinuous = false
    /// How likely an event of a watcher comes late, twice or never.
    var watchFaults = 0.0
    /// How many deletions the guard lets through at once; nil for all of them.
    var deletions: Int?
    /// How many entries a user makes at a time now and then, side by side and in each other; 0 for one alone.
    var crowd = 0
    /// Whether the machines' stores are SQLite databases, of which each read is compared with a store in memory.
    var usesSQLite = false

    /// Whether all that is done is to be noticed by events alone, without a scan of everything.
    var isStrict: Bool {
        isContinuous && watchFaults == 0 && faults == 0 && !crashes && foldingDisks.isEmpty && deletions == nil
    }

    /// Settings that a seed decides.
    static func random(_ seed: UInt64) -> SimulationSettings {
        var random = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ 1)
        var settings = SimulationSettings(seed: seed)
        settings.machines = Int.random(in: 2...3, using: &random)
        settings.actions = Int.random(in: 4...40, using: &random)
        settings.usesExtension = Int.random(in: 0..<3, using: &random) > 0
        settings.faults = [0, 0, 0.1, 0.3].randomElement(using: &random) ?? 0
        settings.crashes = Bool.random(using: &random)
        settings.isPolite = Int.random(in: 0..<5, using: &random) == 0
        settings.callsPerMeddling = [150, 40, 10].randomElement(using: &random) ?? 150
        if Int.random(in: 0..<3, using: &random) == 0 {
            settings.foldingDisks = Set((0..<settings.machines).filter { _ in Bool.random(using: &random) })
        }
        settings.hasSelections = !settings.isPolite && Int.random(in: 0..<4, using: &random) == 0
        settings.hasIgnoreFiles = !settings.isPolite && Int.random(in: 0..<4, using: &random) == 0
        settings.hasLargeFiles = Int.random(in: 0..<12, using: &random) == 0
        settings.isContinuous = Bool.random(using: &random)
        settings.watchFaults = [0, 0, 0.1, 0.4].randomElement(using: &random) ?? 0
        settings.hasPaths = settings.hasLargeFiles && Bool.random(using: &random)
        // What comes back after it was held may meet what has taken its place, without anybody's fault.
        if !settings.isPolite, Int.random(in: 0..<4, using: &random) == 0 {
            settings.deletions = Int.random(in: 0...3, using: &random)
        }
        if Int.random(in: 0..<40, using: &random) == 0 { settings.crowd = Int.random(in: 10...60, using: &random) }
        settings.usesSQLite = Int.random(in: 0..<48, using: &random) == 0
        return settings
    }
}

/// What a run has come to.
struct SimulationResult: Sendable {
    /// What is wrong; empty when nothing is.
    var faults: [String] = []
    /// What happened, a line each.
    var story: [String] = []
    /// Two runs of one seed have the same.
    var trace: UInt64 = 0
}

/// Machines with users, one server between them, and everything that can go wrong; deterministic from its settings.
final class Simulation: @unchecked Sendable {
    // Invariant: one thread runs it.
    private let settings: SimulationSettings
    private let executor: SimulationExecutor
    private let server = MemoryRemote(pageSize: 5)
    private var machines: [SimulatedMachine] = []
    private var users: [SimulatedUser] = []
    private var random: SeededGenerator
    private var written: Set<String> = []
    private var result = SimulationResult()
    /// Which of the actions are left out, for a shorter story.
    private let skipped: Set<Int>

    init(_ settings: SimulationSettings, skipping skipped: Set<Int> = []) {
        self.settings = settings
        self.skipped = skipped
        executor = SimulationExecutor(seed: settings.seed &+ 1)
        random = SeededGenerator(seed: settings.seed &+ 2)
        for number in 0..<settings.machines {
            let member = MemoryRemote(sharing: server, author: Int64(number + 1))
            let network = SimulatedNetwork(member, seed: settings.seed &+ 100 &+ UInt64(number))
            network.onWrite = { [unowned self] in note("  wire \(number): \($0)") }
            let machine = SimulatedMachine(number, network, executor, usesExtension: settings.usesExtension)
            machine.disk.before = { [unowned self] _ in meddle(number) }
            machine.disk.foldsCase = settings.foldingDisks.contains(number)
            machine.disk.hasPaths = settings.hasPaths
            machine.watchFaults = settings.watchFaults
            machine.usesSQLite = settings.usesSQLite
            if let deletions = settings.deletions {
                machine.configuration.approvesDeletions = false
                machine.configuration.deleteGuard = DeleteGuard(nodes: deletions, fraction: 0.1)
            }
            network.onChange = { [unowned self] in serverChanged() }
            machines.append(machine)
            users.append(
                SimulatedUser(
                    number, seed: settings.seed &+ 1_000 &+ UInt64(number), isPlain: settings.isPolite,
                    hasLargeFiles: settings.hasLargeFiles, crowd: settings.crowd))
        }
    }

    /// Runs it all.
    func run() -> SimulationResult {
        for index in 0..<settings.actions {
            // One draw for each action, whether it is left out or not, so that the rest stays as it was.
            var draw = SeededGenerator(seed: random.next())
            if skipped.contains(index) { continue }
            act(index, &draw)
            if settings.isPolite { rest() }
        }
        for machine in machines { keep(Selection(), machine.database) }
        rest()
        takeAllIn()
        decideAll()
        check()
        for machine in machines where settings.isContinuous { end(machine) }
        result.trace = executor.trace
        return result
    }

    /// The server has changed: who waits for that is told, now or later.
    private func serverChanged() {
        for machine in machines where settings.watchFaults == 0 || Int.random(in: 0..<3, using: &random) > 0 {
            machine.network.endWait()
        }
    }

    private func note(_ line: String) { result.story.append(line) }

    // MARK: Acting

    private func act(_ index: Int, _ draw: inout SeededGenerator) {
        let number = Int.random(in: 0..<machines.count, using: &draw)
        let machine = machines[number]
        if settings.hasSelections, Int.random(in: 0..<8, using: &draw) == 0 { return select(number, "\(index)", &draw) }
        if settings.hasIgnoreFiles, Int.random(in: 0..<8, using: &draw) == 0 {
            return writeIgnoreFile(number, "\(index)", &draw)
        }
        if settings.deletions != nil, Int.random(in: 0..<8, using: &draw) == 0 {
            return decide(number, "\(index)", &draw)
        }
        switch Int.random(in: 0..<100, using: &draw) {
        case 0..<50: userActs(number, "\(index)")
        case 50..<85 where settings.isContinuous: run(machine, "\(index)", &draw)
        case 50..<85:
            machine.network.faults = settings.faults
            if settings.crashes, Int.random(in: 0..<4, using: &draw) == 0 {
                machine.life = Int.random(in: 0..<300, using: &draw)
            }
            note("\(index) sync \(number)\(machine.life.map { ", stopped after \($0)" } ?? "")")
            machine.sync()
            if Bool.random(using: &draw) { machine.poll() }
            if Bool.random(using: &draw) { finish(number) } else { advance(Int.random(in: 0..<30, using: &draw)) }
        case 85..<92: advance(Int.random(in: 0..<60, using: &draw))
        case 92..<96 where settings.crashes: powerCut(number)
        default:
            machine.disk.time += Int64.random(in: 0..<5_000_000_000, using: &draw)
            machine.uptime += .seconds(3)
        }
    }

    /// Lets a session without end go on for a while, or begin; it may be stopped, paused or told what is late.
    private func run(_ machine: SimulatedMachine, _ when: String, _ draw: inout SeededGenerator) {
        machine.network.faults = settings.faults
        if settings.crashes, Int.random(in: 0..<6, using: &draw) == 0 {
            machine.life = Int.random(in: 0..<300, using: &draw)
        }
        switch Int.random(in: 0..<10, using: &draw) {
        case 0 where !settings.isPolite: pause(machine, "forever", when)
        case 1: machine.watcher?.deliver()
        case 2: machine.network.endWait()
        default: pause(machine, nil, when)
        }
        note("\(when) run \(machine.number)\(machine.life.map { ", stopped after \($0)" } ?? "")")
        machine.start()
        advance(Int.random(in: 0..<60, using: &draw))
        pass(Bool.random(using: &draw) ? .milliseconds(250) : .milliseconds(40), machine)
        advance(Int.random(in: 0..<200, using: &draw))
    }

    private func pause(_ machine: SimulatedMachine, _ pause: String?, _ when: String) {
        if machine.database.meta(.pausedUntil) == pause { return }
        try? machine.database.transaction(durably: true) { machine.database.setMeta(.pausedUntil, pause) }
        note("\(when) user \(machine.number): \(pause == nil ? "resume" : "pause")")
        machine.nudge()
    }

    /// Lets time pass on a machine.
    private func pass(_ time: Duration, _ machine: SimulatedMachine) {
        machine.disk.time += Int64(time / .nanoseconds(1))
        machine.uptime += time
    }

    /// Ends a machine's session.
    private func end(_ machine: SimulatedMachine) {
        machine.stop()
        var count = 0
        while machine.isSyncing, count < 100_000 {
            if executor.isIdle { pass(.seconds(100), machine) }
            executor.step()
            count += 1
        }
        if machine.isSyncing { result.faults.append("machine \(machine.number) does not stop") }
    }

    /// Leaves a folder out of a mirror, or takes it in again.
    private func select(_ number: Int, _ when: String, _ draw: inout SeededGenerator) {
        let database = machines[number].database
        guard var selection = try? Selection(database) else { return }
        let key = PathKey(folded: ["/p", "/q", "/p/r", "/a"].randomElement(using: &draw) ?? "/p")
        let isOut = selection.keys.contains(key)
        if isOut { _ = selection.takeIn(key) } else { selection.leaveOut(key) }
        keep(selection, database)
        machines[number].nudge()
        note("\(when) user \(number): \(isOut ? "select" : "deselect") \(key)")
    }

    /// Decides about the deletions that a machine holds, as commands do.
    private func decide(_ number: Int, _ when: String, _ draw: inout SeededGenerator) {
        let machine = machines[number]
        let held = machine.database.heldDeletions()
        let isApproved = Bool.random(using: &draw)
        if held.isEmpty { return }
        let now = machine.disk.time / 1_000_000_000
        let decided = Result {
            try machine.database.transaction(durably: true) {
                try isApproved
                    ? SyncEngine.approveDeletions(in: machine.database, at: now)
                    : SyncEngine.restoreDeletions(in: machine.database, at: now)
            }
        }
        if case .failure(let error) = decided { result.faults.append("machine \(number) cannot decide: \(error)") }
        machine.nudge()
        note("\(when) user \(number): \(isApproved ? "approve" : "restore") \(held.map(\.path))")
    }

    /// Decides about what is held until nothing is.
    private func decideAll() {
        guard settings.deletions != nil else { return }
        for _ in 0..<40 where result.faults.isEmpty {
            let holding = machines.filter { !$0.database.heldDeletions().isEmpty }
            if holding.isEmpty { return }
            for machine in holding {
                var draw = SeededGenerator(seed: random.next())
                decide(machine.number, "at rest", &draw)
            }
            rest()
        }
        if result.faults.isEmpty { result.faults.append("there is always something held") }
    }

    /// Changes a selection as a command does: for good.
    private func keep(_ selection: Selection, _ database: MemoryTreeStore) {
        try? database.transaction(durably: true) { try selection.save(in: database) }
    }

    private static let patterns = ["c", "*.md", "/p/", "/p/a", "q/b", "r/", "/p/*\n!/p/b", "/*\n!/q/", "e*", "*"]

    /// Writes an ignore file, or deletes the one there is.
    private func writeIgnoreFile(_ number: Int, _ when: String, _ draw: inout SeededGenerator) {
        let disk = machines[number].disk
        let rules = Self.patterns.randomElement(using: &draw) ?? "c"
        if Int.random(in: 0..<3, using: &draw) == 0, disk.delete(IgnoreRules.fileName) {
            note("\(when) user \(number): ignore nothing")
        } else if disk.save(IgnoreRules.fileName, rules + "\n") {
            note("\(when) user \(number): ignore \(rules.split(separator: "\n"))")
        }
        disk.syncAll()
    }

    /// Lets in what ignore files keep out, the copies of these files among them.
    private func takeAllIn() {
        guard settings.hasIgnoreFiles else { return }
        for _ in 0..<4 where result.faults.isEmpty {
            for machine in machines {
                for entry in machine.disk.tree() where SimulatedUser.isIgnoreFile(entry.path) {
                    _ = machine.disk.delete(entry.path)
                }
                machine.disk.syncAll()
            }
            rest()
        }
    }

    /// What a user does between two calls of an engine.
    private var (isMeddling, meddlings) = (false, 0)
    private func meddle(_ number: Int) {
        guard !settings.isPolite, !isMeddling, meddlings < 40, machines[number].isSyncing, isRunning,
            Int.random(in: 0..<settings.callsPerMeddling, using: &random) == 0
        else { return }
        isMeddling = true
        meddlings += 1
        defer { isMeddling = false }
        userActs(number, "meanwhile")
    }
    private var isRunning = true

    private func userActs(_ number: Int, _ when: String) {
        let disk = machines[number].disk
        let seen = Self.copies(on: disk)
        let what = users[number].act(on: disk)
        let now = Self.copies(on: disk)
        written.formUnion(users[number].owed)
        // Whoever deletes or replaces what another wrote has read it: it is not owed any more, not even where somebody
        // else has a copy of it, for its reader may do the same.
        let gone = Set(seen.keys.filter { now[$0, default: 0] < seen[$0, default: 0] })
        for other in users.indices { users[other].release(gone) }
        disk.syncAll()
        note("\(when) user \(number): \(what)")
    }

    /// In how many files each token is.
    private static func copies(on disk: SimulatedDisk) -> [String: Int] {
        disk.tree().compactMap(\.content).flatMap(SimulatedUser.lines).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    private func powerCut(_ number: Int) {
        let machine = machines[number]
        if settings.isContinuous {
            machine.kill()
            end(machine)
        } else if machine.isSyncing {
            machine.life = 0
            finish(number)
        }
        note("power cut \(number)")
        machine.restart(afterPowerCut: true, using: &random)
    }

    private func advance(_ steps: Int) {
        for _ in 0..<steps where !executor.isIdle { executor.step() }
        restartDead()
    }

    private func finish(_ number: Int) {
        var count = 0
        while machines[number].isSyncing {
            if executor.isIdle || count > 100_000 {
                result.faults.append("machine \(number) hangs")
                return
            }
            executor.step()
            count += 1
        }
        restartDead()
    }

    private func restartDead() {
        for machine in machines where machine.isDead && (settings.isContinuous || !machine.isSyncing) {
            if settings.isContinuous { end(machine) }
            let isPowerCut = Bool.random(using: &random)
            note("restart \(machine.number)\(isPowerCut ? " after a power cut" : "")")
            machine.restart(afterPowerCut: isPowerCut, using: &random)
        }
    }

    // MARK: Coming to rest

    private func rest() {
        let wasRunning = isRunning
        isRunning = false
        defer { isRunning = wasRunning }
        if settings.isContinuous { return restContinuously() }
        for machine in machines {
            machine.life = nil
            finish(machine.number)
            machine.network.faults = 0
        }
        var quiet = 0
        var before = (revision, machines.map { fingerprint($0) })
        for _ in 0..<60 {
            for machine in machines {
                machine.disk.time += 3_000_000_000
                machine.uptime += .seconds(4_000)
                machine.sync()
                finish(machine.number)
                if case .failure(let error) = machine.lastOutcome {
                    result.faults.append("machine \(machine.number) fails at rest: \(error)")
                    return
                }
            }
            let now = (revision, machines.map { fingerprint($0) })
            quiet = before == now ? quiet + 1 : 0
            if quiet == 2 { return }
            before = now
        }
        result.faults.append("it never comes to rest")
    }

    /// Lets sessions without end run until nothing changes any more.
    private func restContinuously() {
        restartDead()
        for machine in machines {
            machine.life = nil
            machine.network.faults = 0
            pause(machine, nil, "at rest")
            machine.nudge()
            machine.start()
            machine.watcher?.deliver()
        }
        if settings.isStrict {
            // In less time than it takes until everything is scanned anew.
            for _ in 0..<12 { passForAll(.seconds(2)) }
            if result.faults.isEmpty, !agrees {
                result.faults.append("something was not noticed by events alone")
                for machine in machines { machine.account.forEach(note) }
            }
        }
        var quiet = 0
        var before = (revision, machines.map { fingerprint($0) })
        for _ in 0..<60 where result.faults.isEmpty {
            passForAll(.seconds(3))
            passForAll(.seconds(4_000))
            let now = (revision, machines.map { fingerprint($0) })
            quiet = before == now ? quiet + 1 : 0
            if quiet == 2 { return machines.forEach { $0.checkTrees() } }
            before = now
        }
        if result.faults.isEmpty { result.faults.append("it never comes to rest") }
    }

    private func passForAll(_ time: Duration) {
        for machine in machines {
            pass(time, machine)
            machine.network.endWait()
            var count = 0
            while !executor.isIdle, count < 200_000 {
                executor.step()
                count += 1
            }
            if count == 200_000 { result.faults.append("machine \(machine.number) never waits") }
            if !machine.isSyncing, case .failure(let error) = machine.lastOutcome {
                result.faults.append("machine \(machine.number) ends at rest: \(error)")
            }
            if !result.faults.isEmpty { return }
        }
    }

    /// Whether all disks show what the server has.
    private var agrees: Bool {
        if settings.hasSelections || settings.hasIgnoreFiles { return true }
        let stored = Self.canonical(serverTree())
        return machines.allSatisfy { Self.canonical(tree($0)) == stored }
    }

    /// A machine's tree, by paths; folders with a slash.
    private func tree(_ machine: SimulatedMachine) -> [String: String] {
        Dictionary(
            machine.disk.tree().map { path, content in
                let mark = Self.mark(machine.disk.node(path)?.isExecutable)
                return content.map { (path, String(decoding: $0, as: UTF8.self) + mark) } ?? (path + "/", "")
            },
            uniquingKeysWith: { $0 + $1 })
    }

    /// What stands behind the content of a file that may be executed.
    private static func mark(_ isExecutable: Bool?) -> String { isExecutable == true ? "\u{0}x" : "" }

    /// How many changes the server has seen; two trees with the same are the same.
    private var revision: Int { serverTree().hashValue }

    private func fingerprint(_ machine: SimulatedMachine) -> Int {
        var hasher = Hasher()
        for entry in machine.disk.tree() {
            hasher.combine(entry.path)
            hasher.combine(entry.content)
            hasher.combine(machine.disk.node(entry.path)?.isExecutable)
        }
        return hasher.finalize()
    }

    /// What the server holds, by paths; folders with a slash.
    func serverTree() -> [String: String] {
        var tree: [String: String] = [:]
        let box = Box()
        Task(executorPreference: executor) { [server] in
            var cursor: String?
            while true {
                guard let page = try? await server.delta(after: cursor, prefix: .root) else { break }
                for entry in page.entries {
                    guard let metadata = entry.metadata else { continue }
                    let path = String(metadata.path.string.dropFirst())
                    if metadata.isFolder {
                        box.tree[path + "/"] = ""
                    } else {
                        let found = try? await server.content(
                            at: metadata.path, revision: nil, range: nil, limit: 1 << 20)
                        let text = found.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "?"
                        box.tree[path] = text + Self.mark(metadata.isExecutable)
                    }
                }
                cursor = page.cursor
                if !page.hasMore { break }
            }
            box.isDone = true
        }
        while !box.isDone, !executor.isIdle { executor.step() }
        tree = box.tree
        return tree
    }

    private final class Box: @unchecked Sendable {
        // Invariant: one thread uses it.
        var tree: [String: String] = [:]
        var isDone = false
    }

    // MARK: Judging

    private func check() {
        if !result.faults.isEmpty { return }
        let stored = Self.canonical(serverTree())
        // What is only in the trash or in the server's history was replaced or deleted, and nobody has meant that.
        var kept: Set<String> = []
        for machine in machines {
            let mine = Self.canonical(tree(machine))
            if mine != stored {
                let missing = stored.filter { mine[$0.key] != $0.value }.map { "\($0.key)" }.sorted()
                machine.account.forEach(note)
                let extra = mine.filter { stored[$0.key] != $0.value }.map { "\($0.key)" }.sorted()
                result.faults.append("machine \(machine.number) differs: server has \(missing), disk has \(extra)")
            }
            for (path, content) in machine.disk.tree(includesPrivate: true) {
                guard let content else { continue }
                let lines = SimulatedUser.lines(content)
                if path.hasPrefix(".byteclub/staging/") { result.faults.append("left in staging: \(path)") }
                if path.hasSuffix(".part"), path.contains("/staging/") {
                    result.faults.append("a download's part in the trash: \(path)")
                }
                if !path.hasPrefix(".byteclub/"), !SimulatedUser.isIgnoreFile(path) {
                    kept.formUnion(lines)
                    let strange = lines.filter { !written.contains($0) }
                    if !strange.isEmpty { result.faults.append("nobody wrote \(strange) in \(path)") }
                    if settings.isPolite, path.contains("(conflict") {
                        result.faults.append("a needless conflict: \(path)")
                    }
                }
                // Whoever works in a folder in the moment in which it has a temporary name keeps it there.
                let isLeftAlone = settings.callsPerMeddling >= 150
                if isLeftAlone, !path.hasPrefix(".byteclub/"), path.contains("(moving"), !path.hasSuffix(".bak") {
                    result.faults.append("left under a temporary name: \(path)")
                }
            }
            result.faults += machine.violations
            let problems = machine.database.problems()
            if !problems.isEmpty || !machine.violations.isEmpty { machine.account.forEach(note) }
            if !problems.isEmpty { result.faults.append("problems at rest: \(problems.map(\.message))") }
        }
        for (number, user) in users.enumerated() {
            let lost = user.owed.subtracting(kept).sorted()
            if lost.isEmpty { continue }
            result.faults.append("lost of user \(number): \(lost)")
            for machine in machines {
                machine.account.forEach(note)
                for (path, content) in machine.disk.tree(includesPrivate: true) {
                    note("  machine \(machine.number) has \(path): \(content.map(SimulatedUser.lines) ?? [])")
                }
            }
        }
    }

    /// A tree whose names do not count letter case and composition, as no two machines need agree about them.
    private static func canonical(_ tree: [String: String]) -> [String: String] {
        Dictionary(tree.map { (PathKey.fold($0.key), $0.value) }, uniquingKeysWith: { $0 + $1 })
    }
}
