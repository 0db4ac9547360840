import ByteClubCore
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Deletions that follow one another, which the guard judges as one.
@Suite struct DeletionWaveTests {
    private static func candidates(_ items: Range<Int64>) -> [DeletionGuard.Candidate] {
        items.map { DeletionGuard.Candidate(operation: .server(ItemID($0), .delete), weight: 1) }
    }

    @Test(
        "of a thousand entries a quarter may go, however slowly they go",
        arguments: [.zero, .milliseconds(10), .seconds(1), .seconds(60), .seconds(599)] as [Duration])
    func pace(pace: Duration) {
        var deletions = DeletionGuard(DeleteGuard(), approvesAll: false)
        var (now, gone, held) = (SyncInstant(sinceStart: .zero), 0, Set<ItemID>())
        for number in 1...Int64(600) {
            let wanted = held.sorted().flatMap { Self.candidates($0.number..<$0.number + 1) }
            let verdict = deletions.judge(
                wanted + Self.candidates(number..<number + 1), of: 1_000 - gone, approved: [], held: held,
                isSettling: false, at: now)
            gone += verdict.allowed.count
            held = Set(verdict.held.map(\.item))
            deletions.count(verdict.allowed.count, at: now)
            now = now + pace
        }
        #expect(gone == 250 && held.count == 350)
    }

    @Test("very many held deletions are judged at once while the disk settles", .timeLimit(.minutes(1)))
    func manyHeld() {
        // Compared with each other, so many would take a quarter of an hour.
        let many = Self.candidates(1..<60_000)
        var deletions = DeletionGuard(DeleteGuard(), approvesAll: false)
        let verdict = deletions.judge(
            many, of: 60_000, approved: [], held: Set(many.map(\.operation.item)), isSettling: true,
            at: SyncInstant(sinceStart: .zero))
        #expect(verdict.held.count == many.count && verdict.isDeferred)
    }

    @Test("a wave ends ten minutes after its last deletion, unless some of it are held")
    func end() {
        var wave = DeletionWave()
        let start = SyncInstant(sinceStart: .seconds(5))
        wave.plan(of: 100, isHeld: false, at: start)
        wave.count(20, at: start)
        wave.plan(of: 80, isHeld: false, at: start + .seconds(599))
        #expect(wave.size == 100 && wave.count == 20)
        wave.plan(of: 80, isHeld: true, at: start + .seconds(5_000))
        #expect(wave.size == 100 && wave.count == 20)
        wave.plan(of: 80, isHeld: false, at: start + .seconds(5_600))
        #expect(wave.size == 80 && wave.count == 0)
    }

    @Test("a wave is judged by the mirror's size when it began, and by what has come since, not by what others delete")
    func size() {
        var wave = DeletionWave()
        let now = SyncInstant(sinceStart: .zero)
        let threshold = DeleteGuard(nodes: 20, fraction: 0.25, holdsEmptying: true)
        wave.plan(of: 100, isHeld: false, at: now)
        wave.count(20, at: now)
        #expect(!wave.isTooMuch(5, of: 80, threshold) && wave.isTooMuch(6, of: 80, threshold))
        #expect(!wave.isTooMuch(5, of: 10, threshold), "others have deleted the rest")
        #expect(wave.isTooMuch(2, of: 2, threshold), "nothing would be left")
        #expect(!wave.isTooMuch(30, of: 180, threshold) && wave.isTooMuch(31, of: 180, threshold))
    }

    @Test("what was made within a wave and goes again makes it no larger, unless much of it goes at once")
    func fresh() {
        var wave = DeletionWave()
        let now = SyncInstant(sinceStart: .zero)
        let threshold = DeleteGuard(nodes: 20, fraction: 0.25, holdsEmptying: true)
        wave.plan(of: 40, isHeld: false, at: now)
        wave.count(20, at: now)
        #expect(wave.counts(ItemID(7)), "as long as its beginning is not known")
        wave.notice(ItemID(41))
        wave.notice(ItemID(50))
        #expect(wave.counts(ItemID(40)) && !wave.counts(ItemID(41)))
        #expect(!wave.isTooMuch(1, fresh: 1, of: 41, threshold) && wave.isTooMuch(1, of: 40, threshold))
        #expect(wave.isTooMuch(21, fresh: 21, of: 61, threshold))
        wave.plan(of: 40, isHeld: false, at: now + .seconds(601))
        #expect(wave.counts(ItemID(45)), "the next one began after that")
    }

    @Test("a temporary file that comes and goes for hours holds nothing, and hides nothing", arguments: [false, true])
    func temporary(restarts: Bool) throws {
        let (scene, names) = try scene()
        let step = { (pause: Duration) throws -> Int in
            let held = try scene.sync().get().held
            scene.disk.time += pause.components.seconds * 1_000_000_000
            scene.machine.uptime += pause
            return held
        }
        scene.disk.delete(names[0])
        #expect(try step(.seconds(100)) == 0)
        for round in 0..<40 {
            scene.disk.write("temporary", "\(round)")
            #expect(try step(.seconds(100)) == 0)
            scene.disk.delete("temporary")
            #expect(try step(.seconds(100)) == 0, "round \(round)")
            if restarts, round == 20 { scene.restart() }
        }
        for name in names[1..<20] { scene.disk.delete(name) }
        #expect(try step(.seconds(100)) == 0)
        scene.disk.delete(names[20])
        #expect(try step(.seconds(100)) == 1)
    }

    @Test("what others have deleted is no part of this machine's wave")
    func others() {
        var deletions = DeletionGuard(DeleteGuard(), approvesAll: false)
        let now = SyncInstant(sinceStart: .zero)
        deletions.count(24, at: now)
        let theirs = (1...5).map { DeletionGuard.Candidate(operation: .disk(ItemID($0), .trash), weight: 1) }
        let verdict = deletions.judge(theirs, of: 76, approved: [], held: [], isSettling: false, at: now)
        #expect(verdict.allowed.count == 5 && !verdict.isOfWave)
    }

    @Test("a stored wave is as old as the time of day says, and no younger when that was set back")
    func stored() throws {
        let store = MemoryTreeStore()
        let now = SyncInstant(sinceStart: .seconds(3))
        #expect(try store.wave(at: now, seconds: 1_000) == DeletionWave())
        try store.save(DeletionWave(size: 50, count: 7, last: now), seconds: 1_000)
        let cases: [(seconds: Int64, age: Int64)] = [(1_000, 0), (1_200, 200), (900, 0), (-5, 0), (90_000, 89_000)]
        for (seconds, age) in cases {
            let last = SyncInstant(sinceStart: now.sinceStart - .seconds(age))
            #expect(try store.wave(at: now, seconds: seconds) == DeletionWave(size: 50, count: 7, last: last))
        }
        try store.save(DeletionWave(size: 50, count: 0, last: now), seconds: 1_000)
        #expect(try store.wave(at: now, seconds: 1_000) == DeletionWave(size: 50, count: 0, last: now))
    }

    /// A machine with forty notes whose guard is on.
    private func scene() throws -> (scene: MachineScene, names: [String]) {
        let names = (10..<50).map { "\($0)" }
        let scene = try MachineScene.synced(Dictionary(names.map { ($0, "text " + $0) }, uniquingKeysWith: { $1 }))
        scene.machine.configuration.approvesDeletions = false
        scene.restart()
        return (scene, names)
    }

    @Test("a wave goes on in the engine that is started next, and ends there, too")
    func restarts() async throws {
        for (pause, expected) in [(Duration.seconds(300), [0, 0, 8]), (.seconds(601), [0, 0, 0])] {
            let (scene, names) = try scene()
            var held: [Int] = []
            for start in [0, 8, 16] {
                for name in names[start..<start + 8] { scene.disk.delete(name) }
                held.append(try scene.sync().get().held)
                scene.disk.time += pause.components.seconds * 1_000_000_000
                scene.machine.uptime += pause
                scene.restart()
            }
            #expect(held == expected)
        }
    }

    @Test("what an earlier wave has deleted does not come back with what a new one holds", arguments: [false, true])
    func earlier(hasNewRules: Bool) async throws {
        let (scene, names) = try scene()
        for name in names[..<5] { scene.disk.delete(name) }
        #expect(try scene.sync().get().held == 0)
        scene.disk.time += 601_000_000_000
        scene.machine.uptime += .seconds(601)
        if hasNewRules {
            // Its rules leave out one entry, and so begin the wave.
            try await scene.put(IgnoreRules.fileName, names[39] + "\n")
            scene.wait()
            #expect(try scene.sync().get().held == 0)
        }
        for name in names[5..<30] { scene.disk.delete(name) }
        #expect(try scene.sync().get().held == 25)
        try scene.machine.database.transaction(durably: true) {
            let restored = try SyncEngine.restoreDeletions(in: scene.machine.database, at: 0)
            #expect(restored.map(\.path).sorted() == Array(names[5..<30]))
        }
        try scene.settle()
        #expect(try await scene.stored().keys.filter { names.contains($0) }.count == 35)
    }

    /// Deletes eight notes twice, of which the engine has learned in whatever way, and then eight more.
    private func expectHeld(_ scene: MachineScene, _ names: [String], _ comment: Comment) throws {
        for start in [8, 16] {
            for name in names[start..<start + 8] { scene.disk.delete(name) }
            let held = try scene.sync().get().held
            #expect(held == (start == 8 ? 0 : 8), comment)
        }
        try scene.machine.database.transaction(durably: true) {
            let restored = try SyncEngine.restoreDeletions(in: scene.machine.database, at: 0)
            #expect(restored.count == 24 && restored.count { $0.isDone == true } == 16, comment)
        }
    }

    @Test("a wave goes on, at whatever call the engine is stopped while it deletes")
    func stoppedDeleting() throws {
        for life in 1..<60 {
            let (scene, names) = try scene()
            for name in names[..<8] { scene.disk.delete(name) }
            scene.machine.life = life
            _ = try scene.sync()
            scene.restart()
            #expect(try scene.sync().get().held == 0)
            try expectHeld(scene, names, "stopped after \(life) calls")
        }
    }

    @Test("deletions count though their answer was lost, in the same engine and in the next", arguments: [false, true])
    func lostAnswer(restarts: Bool) throws {
        let (scene, names) = try scene()
        let isLost = Mutex(true)
        scene.member.fault = { operation throws(RemoteError) in
            guard operation.kind == .apply, operation.moment == .after, isLost.withLock({ $0 }) else { return }
            isLost.withLock { $0 = false }
            throw RemoteError(.unreachable, "the answer was lost")
        }
        for name in names[..<8] { scene.disk.delete(name) }
        #expect(try scene.sync().get().held == 0)
        #expect(!isLost.withLock { $0 })
        if restarts { scene.restart() }
        try expectHeld(scene, names, restarts ? "in the next engine" : "in the same engine")
    }

    @Test("what a person has approved makes nothing after it doubtful")
    func approved() async throws {
        let (scene, names) = try scene()
        for name in names[..<30] { scene.disk.delete(name) }
        #expect(try scene.sync().get().held == 30)
        for deletion in scene.machine.database.heldDeletions() {
            scene.machine.database.save(ApprovedDeletion(deletion.item))
        }
        try scene.machine.database.forgetWave()
        #expect(try scene.sync().get().held == 0)
        scene.disk.delete(names[30])
        scene.wait()
        #expect(try scene.sync().get().held == 0)
        #expect(try await scene.stored().count == 9)
        #expect(scene.machine.database.records(SentDeletion.self).map(\.path) == [names[30]])
    }

    @Test("what was deleted before the rest was held comes back, at whatever call the engine is stopped meanwhile")
    func stopped() async throws {
        for life in stride(from: 1, to: 400, by: 7) {
            let (scene, names) = try scene()
            for start in [0, 20] {
                for name in names[start..<start + 20] { scene.disk.delete(name) }
                _ = try scene.sync().get()
            }
            try scene.machine.database.transaction(durably: true) {
                let restored = try SyncEngine.restoreDeletions(in: scene.machine.database, at: 0)
                #expect(restored.count == 40 && restored.count { $0.isDone == true } == 20)
            }
            scene.machine.life = life
            _ = try scene.sync()
            scene.restart()
            try scene.settle()
            #expect(scene.files.count == 40, "stopped after \(life) calls")
            #expect(try await scene.stored().count == 40)
        }
    }

    @Test(
        "of all files six in ten go one after the other, and each comes back on both sides with its text",
        arguments: [(Duration.zero, true), (.milliseconds(100), true), (.seconds(1), true), (.seconds(1), false)])
    func club(pace: Duration, usesExtension: Bool) throws {
        // With 10,000 it takes minutes, which `BYTECLUB_WAVE` asks for.
        let count = unsafe getenv("BYTECLUB_WAVE").flatMap { unsafe Int(String(cString: $0)) } ?? 1_000
        let club = SimulatedClub(usesExtension: usesExtension)
        let (machine, other) = (club.machines[0], club.machines[1])
        machine.configuration.approvesDeletions = false
        let names = (0..<count).map { "\($0 * 10 / count)/\($0).md" }
        for folder in 0..<10 { machine.disk.makeFolder("\(folder)") }
        for name in names { machine.disk.write(name, name) }
        for machine in club.machines { machine.start() }
        let files = { (machine: SimulatedMachine) in
            machine.disk.tree().compactMap { entry in
                entry.content.map { (entry.path, String(decoding: $0, as: UTF8.self)) }
            }
        }
        club.pass(.seconds(20))
        try #require(files(other).count == count)
        for name in names.prefix(count * 6 / 10) {
            machine.disk.delete(name)
            if pace > .zero { club.pass(pace) }
        }
        club.pass(.seconds(10))
        let left = files(other).count
        #expect(left >= count * 74 / 100 && machine.database.heldDeletions().count == left - count * 4 / 10)
        try machine.database.transaction(durably: true) {
            let restored = try SyncEngine.restoreDeletions(in: machine.database, at: 0)
            #expect(restored.count == count * 6 / 10 && restored.count { $0.isDone == true } == count - left)
        }
        machine.nudge()
        club.pass(.seconds(30))
        for machine in club.machines {
            #expect(files(machine).count == count && files(machine).allSatisfy { $0 == $1 })
        }
        #expect(machine.database.heldDeletions().isEmpty && machine.database.records(SentDeletion.self).isEmpty)
        machine.disk.delete("0/0.md")
        club.pass(.seconds(10))
        #expect(files(other).count == count - 1, "a wave that was taken back is over")
    }
}
