import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// The slow audit: every file is read again, though nothing says that it was written to.
@Suite struct AuditTests {
    private final class Scene {
        let executor = SimulationExecutor(seed: 1)
        let machine: SimulatedMachine
        let remote = MemoryRemote()
        var disk: SimulatedDisk { machine.disk }

        init() throws {
            machine = SimulatedMachine(
                0, SimulatedNetwork(MemoryRemote(sharing: remote, author: 1), seed: 1), executor, usesExtension: true)
            disk.time = 1_800_000_000_000_000_000
            disk.makeFolder("d")
            for name in ["a", "d/b", "d/c"] { disk.write(name, "text of \(name)") }
            for _ in 0..<3 { try sync() }
        }

        func sync() throws {
            disk.time += 10_000_000_000
            machine.uptime += .seconds(10)
            machine.sync()
            run { [self] in !machine.isSyncing }
            _ = try #require(machine.lastOutcome).get()
        }

        private func run(until isDone: () -> Bool) { while !isDone(), !executor.isIdle { executor.step() } }

        private final class Answer: @unchecked Sendable {
            // Invariant: one thread uses it.
            var file: AuditedFile?
        }

        /// Takes so many steps between two runs of an engine; tells whether folders are to be scanned.
        @discardableResult
        func audit(_ count: Int = 100) throws -> Bool {
            machine.clock.isAutomatic = true
            machine.database.reopen()
            let context = SyncContext(
                machine.configuration, machine.environment, store: machine.database, root: try disk.openRoot(),
                isWatching: false)
            let auditor = Auditor(context)
            var report = SyncReport()
            for _ in 0..<count {
                guard let work = try auditor.next(&report) else { continue }
                let answer = Answer()
                Task(executorPreference: executor) { answer.file = await work() }
                run { answer.file != nil }
                try auditor.judge(try #require(answer.file), &report)
            }
            // The next engine knows what was found by the database alone.
            var random = SeededGenerator(seed: 1)
            machine.restart(afterPowerCut: false, using: &random)
            return !report.rescans.isEmpty
        }

        var problems: [String] { machine.database.problems().map(\.path) }

        /// Changes bytes as a disk does that loses them.
        func rot(_ path: String) throws {
            let node = try #require(disk.node(path))
            node.content.reverse()
        }
    }

    @Test("bytes that the disk has lost are a problem, and are not sent")
    func rotten() throws {
        let scene = try Scene()
        try scene.rot("d/b")
        let sent = scene.machine.network.writes
        #expect(try !scene.audit())
        #expect(scene.problems == ["d/b"])
        try scene.sync()
        #expect(scene.problems == ["d/b"])
        #expect(scene.machine.network.writes == sent)
        #expect(scene.machine.database.unsettledCount() == 0)
        #expect(scene.machine.database.events(limit: 10, below: "d/b").last?.event == "problem")
    }

    @Test("a finding follows its file, and is forgotten when that is written to or gone")
    func findingFollows() throws {
        let scene = try Scene()
        try scene.rot("d/b")
        try scene.rot("a")
        try scene.audit()
        #expect(scene.problems == ["a", "d/b"])
        scene.disk.move("d", to: "e")
        try scene.sync()
        #expect(scene.problems == ["a", "e/b"])
        var random = SeededGenerator(seed: 1)
        scene.machine.restart(afterPowerCut: false, using: &random)
        scene.disk.write("e/b", "written anew")
        try scene.sync()
        #expect(scene.problems == ["a"])
        scene.disk.delete("a")
        try scene.sync()
        try scene.sync()
        #expect(scene.problems.isEmpty)
    }

    @Test("a file that is right again is no problem any more")
    func recovered() throws {
        let scene = try Scene()
        try scene.rot("d/b")
        try scene.audit()
        try #require(scene.disk.node("d/b")).content = Array("text of d/b".utf8)
        try scene.audit()
        try scene.audit()
        #expect(scene.problems.isEmpty)
    }

    @Test("a file that cannot be read is reported")
    func unreadable() throws {
        let scene = try Scene()
        scene.disk.failure = { $0.verb == .read ? 5 : nil }
        try scene.audit()
        #expect(scene.problems == ["a", "d/b", "d/c"])
    }

    @Test("an edit of which no event told is taken for an edit")
    func missedEdit() throws {
        let scene = try Scene()
        scene.disk.write("d/b", "edited")
        #expect(try scene.audit())
        #expect(scene.problems.isEmpty)
    }

    @Test("an audit goes on where it was, also after a restart, and begins anew at the end")
    func resumes() throws {
        let scene = try Scene()
        var read: [String] = []
        scene.disk.before = { if $0.verb == .open { read.append(LocalPath.split($0.path).name) } }
        try scene.audit(2)
        var random = SeededGenerator(seed: 1)
        scene.machine.restart(afterPowerCut: false, using: &random)
        scene.disk.before = nil
        try scene.sync()
        scene.disk.before = { if $0.verb == .open { read.append(LocalPath.split($0.path).name) } }
        try scene.audit(2)
        #expect(read.sorted() == ["a", "b", "c"])
        try scene.audit(2)
        #expect(scene.machine.database.events(limit: 10, below: nil).last?.event == "audit")
        try scene.audit(4)
        #expect(read.sorted() == ["a", "a", "b", "b", "c", "c"])
    }
}
