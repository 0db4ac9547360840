import ByteClubCore
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// How long the trash keeps things, and what may not leave it.
@Suite struct TrashTests {
    /// A machine whose mirror is synced day after day.
    private final class Scene {
        let executor = SimulationExecutor(seed: 1)
        let remote = MemoryRemote()
        let machine: SimulatedMachine
        var disk: SimulatedDisk { machine.disk }
        static let day: Int64 = 86_400_000_000_000

        init(trashDays: Int = 3) {
            machine = SimulatedMachine(
                0, SimulatedNetwork(MemoryRemote(sharing: remote, author: 1), seed: 1), executor, usesExtension: true)
            machine.configuration.trashDays = trashDays
            disk.time = 1_800_000_000_000_000_000
        }

        func sync() throws {
            machine.sync()
            while machine.isSyncing, !executor.isIdle { executor.step() }
            _ = try #require(machine.lastOutcome).get()
        }

        /// Syncs on so many days, one after another.
        func pass(_ days: Int) throws {
            for _ in 0..<days {
                disk.time += Self.day
                machine.uptime += .seconds(86_400)
                try sync()
            }
        }

        /// Has a text replaced by another mirror's, so that the old one goes into the trash.
        func trash(_ path: String, _ text: String) throws {
            disk.write(path, text)
            try sync()
            disk.time += 60_000_000_000
            machine.uptime += .seconds(60)
            let other = SimulatedMachine(
                1, SimulatedNetwork(MemoryRemote(sharing: remote, author: 2), seed: 2), executor,
                usesExtension: true)
            other.disk.time = disk.time
            other.sync()
            while other.isSyncing, !executor.isIdle { executor.step() }
            other.disk.write(path, "another's")
            other.disk.time += 60_000_000_000
            other.sync()
            while other.isSyncing, !executor.isIdle { executor.step() }
            try sync()
            #expect(disk.text(path) == "another's")
        }

        var trashed: [String] {
            disk.tree(below: ".byteclub/trash", includesPrivate: true).filter { $0.content != nil }.map(\.path)
        }
    }

    @Test("the trash keeps things for so many days of syncing, and then lets them go with their folders")
    func retention() throws {
        let scene = Scene()
        scene.disk.makeFolder("d")
        try scene.trash("d/x", "mine")
        #expect(scene.trashed.count == 1)
        try scene.pass(3)
        #expect(scene.trashed.count == 1)
        try scene.pass(2)
        #expect(scene.trashed.isEmpty)
        #expect(scene.disk.tree(below: ".byteclub/trash", includesPrivate: true).isEmpty)
        #expect(scene.disk.tree().map(\.path) == ["d", "d/x"])
    }

    @Test("nothing goes when the trash is to be kept for ever")
    func forever() throws {
        let scene = Scene(trashDays: 0)
        try scene.trash("x", "mine")
        try scene.pass(40)
        #expect(scene.trashed.count == 1)
    }

    @Test("a clock that jumps, and jumps back, empties nothing", arguments: [365, -365, -20_000])
    func jumps(days: Int64) throws {
        let scene = Scene()
        try scene.trash("x", "mine")
        for _ in 0..<20 {
            scene.disk.time += days * Scene.day
            scene.machine.uptime += .seconds(86_400)
            try scene.sync()
            scene.disk.time -= days * Scene.day
            scene.machine.uptime += .seconds(86_400)
            try scene.sync()
        }
        #expect(scene.trashed.count == 1)
    }

    @Test("what goes into the trash of a day that came back is as new as today")
    func dayAgain() throws {
        let scene = Scene()
        try scene.trash("x", "first")
        try scene.pass(3)
        scene.disk.time -= 3 * Scene.day
        try scene.trash("y", "second")
        scene.disk.time += 3 * Scene.day
        try scene.pass(3)
        #expect(scene.trashed.count == 2)
        try scene.pass(2)
        #expect(scene.trashed.isEmpty)
    }

    @Test("a mirror that was not synced for a year keeps its trash")
    func longAbsence() throws {
        let scene = Scene()
        try scene.trash("x", "mine")
        scene.disk.time += 365 * Scene.day
        scene.machine.uptime += .seconds(365 * 86_400)
        try scene.sync()
        #expect(scene.trashed.count == 1)
    }

    @Test("what was written to in the trash comes back as a conflict copy", arguments: [false, true])
    func lateWriter(isRestarted: Bool) throws {
        let scene = Scene()
        scene.disk.makeFolder("d")
        try scene.trash("d/x", "mine")
        try scene.pass(1)
        if isRestarted {
            var random = SeededGenerator(seed: 1)
            scene.machine.restart(afterPowerCut: false, using: &random)
        }
        let path = try #require(scene.trashed.first)
        scene.disk.write(path, "written late")
        try scene.pass(6)
        #expect(scene.trashed.isEmpty)
        let texts = scene.disk.tree().compactMap { $0.content.map { String(decoding: $0, as: UTF8.self) } }
        #expect(texts.sorted() == ["another's", "written late"])
        #expect(scene.disk.tree().contains { $0.path.hasPrefix("d/x (conflict ") })
    }

    @Test("what was replaced long ago is seldom looked at for a late write, and one is found all the same")
    func oldTrash() throws {
        let club = SimulatedClub()
        let (writer, reader) = (club.machines[0], club.machines[1])
        for number in 0..<40 { writer.disk.write("x\(number)", "old") }
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        for number in 0..<40 { writer.disk.write("x\(number)", "new") }
        club.pass(.seconds(200))
        let trashed = {
            reader.disk.tree(below: ".byteclub/trash", includesPrivate: true).filter { $0.content != nil }.map(\.path)
        }
        #expect(trashed().count == 40)
        let looks = Mutex(0)
        reader.disk.before = { call in
            if call.verb == .entry, call.path.hasPrefix(".byteclub/trash") { looks.withLock { $0 += 1 } }
        }
        for _ in 0..<60 {
            reader.nudge()
            club.pass(.seconds(1))
        }
        reader.disk.before = nil
        #expect(looks.withLock { $0 } <= 40, "\(looks.withLock { $0 }) looks")
        reader.disk.write(try #require(trashed().first), "written late")
        for _ in 0..<300 where trashed().count == 40 {
            reader.nudge()
            club.pass(.seconds(1))
        }
        #expect(trashed().count == 39)
        #expect(reader.disk.tree().contains { $0.content == Array("written late".utf8) })
    }

    @Test("what somebody has open for writing stays in the trash until it is closed")
    func openFile() throws {
        let scene = Scene()
        try scene.trash("x", "mine")
        let path = try #require(scene.trashed.first)
        let file = try #require(scene.disk.openForWriting(path))
        try scene.pass(8)
        #expect(scene.trashed.count == 1)
        file.close()
        try scene.pass(1)
        #expect(scene.trashed.isEmpty)
    }

    @Test("a ledger says again what it was told, and begins anew with nonsense")
    func ledger() {
        var ledger = TrashLedger()
        ledger.note("2026-01-01", days: ["2025-12-31", "2026-01-01"])
        ledger.note("2026-01-02", days: ["2025-12-31", "2026-01-01"])
        #expect(TrashLedger(dates: ledger.dates, days: ledger.days) == ledger)
        #expect(ledger.age(of: "2025-12-31") == 1 && ledger.age(of: "2026-01-01") == 1)
        ledger.note("2026-01-01", days: ["2025-12-31"])
        #expect(ledger.age(of: "2025-12-31") == 1)
    }

    @Test("the thousandth text of a file in one day's trash takes few looks to find its name")
    func manyTexts() throws {
        let disk = SimulatedDisk()
        disk.makeFolder("trash")
        let root = try disk.openRoot()
        let trash = Trash(try root.folder("trash"))
        var (calls, most) = (0, 0)
        for number in 0..<1_000 {
            disk.write("a", "\(number)")
            calls = 0
            disk.before = { _ in calls += 1 }
            let location = try trash.take("a", from: root, as: "a", at: disk.time)
            disk.before = nil
            most = max(most, calls)
            #expect(location.hasSuffix(number == 0 ? "/a" : "/a.\(number)"))
        }
        #expect(disk.tree(below: "trash").count { $0.content != nil } == 1_000)
        #expect(most < 30)
    }
}
