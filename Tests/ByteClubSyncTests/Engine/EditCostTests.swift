import ByteClubCore
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// What one saved note costs two engines that run all day, counted rather than timed.
@Suite struct EditCostTests {
    /// What was counted at one machine.
    private struct Cost: CustomStringConvertible {
        var cycles = 0
        var transactions = 0
        /// How often the note was opened for reading, and how often before the server had it.
        var (reads, readsBeforeWire) = (0, 0)
        /// How often a folder was listed.
        var lists = 0
        /// How often all that is unsettled was planned, and how often all that is synced was counted.
        var (rounds, counts) = (0, 0)

        var description: String {
            "\(cycles) cycles, \(transactions) write transactions, \(reads) reads, \(readsBeforeWire) of them up to "
                + "the wire, \(lists) listings, \(rounds) rounds, \(counts) counts of all entries"
        }
    }

    /// Does something, waits until it is everywhere and all is quiet, and tells what that has cost.
    private func cost(in club: SimulatedClub, of work: () -> Void) -> [Cost] {
        var costs = [Cost(), Cost()]
        let writes = club.machines[0].network.writes
        for (number, machine) in club.machines.enumerated() {
            costs[number].cycles = -club.cycles[number]
            costs[number].transactions = -machine.database.commits
            costs[number].rounds = -machine.database.slices
            costs[number].counts = -machine.database.counts
        }
        let reads = Mutex([0, 0])
        let lists = Mutex([0, 0])
        let early = Mutex(0)
        for (number, machine) in club.machines.enumerated() {
            machine.disk.before = { [machines = club.machines] call in
                if call.verb == .list || call.verb == .fingerprint { lists.withLock { $0[number] += 1 } }
                guard call.verb == .open, call.path.hasSuffix("note.txt") else { return }
                reads.withLock { $0[number] += 1 }
                if machines[0].network.writes == writes { early.withLock { $0 += 1 } }
            }
        }
        work()
        club.pass(.seconds(3))
        for (number, machine) in club.machines.enumerated() {
            machine.disk.before = nil
            costs[number].cycles += club.cycles[number]
            costs[number].transactions += machine.database.commits
            costs[number].rounds += machine.database.slices
            costs[number].counts += machine.database.counts
            costs[number].reads = reads.withLock { $0[number] }
            costs[number].lists = lists.withLock { $0[number] }
            costs[number].readsBeforeWire = early.withLock { $0 }
        }
        return costs
    }

    @Test("a saved note costs each end one cycle, four write transactions, no listing and no round, and is read once")
    func edit() throws {
        let club = SimulatedClub()
        club.machines[0].disk.write("note.txt", "first")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        let text = { (machine: SimulatedMachine) in
            machine.disk.tree().first { $0.path == "note.txt" }?.content.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(text(club.machines[1]) == "first")
        for round in 1...3 {
            let costs = cost(in: club) { club.machines[0].disk.write("note.txt", "edit \(round)") }
            #expect(text(club.machines[1]) == "edit \(round)")
            print("writer: \(costs[0]); reader: \(costs[1])")
            // The first file that is replaced on a day notes the day.
            if round == 1 { continue }
            for cost in costs {
                #expect(cost.cycles <= 1 && cost.transactions <= 4 && cost.lists == 0, "\(cost)")
                #expect(cost.rounds == 0 && cost.counts == 0, "\(cost)")
            }
            #expect(costs[0].readsBeforeWire == 1, "\(costs[0])")
        }
    }

    @Test("a note that another member makes is planned by itself, and a deletion in a round that counts once")
    func arrivals() throws {
        let club = SimulatedClub()
        let (one, two) = (club.machines[0], club.machines[1])
        one.disk.write("other.txt", "other")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        #expect(two.disk.text("other.txt") == "other")
        let made = cost(in: club) { one.disk.write("note.txt", "first") }
        #expect(two.disk.text("note.txt") == "first" && made[1].rounds == 0 && made[1].counts == 0, "\(made[1])")
        let deleted = cost(in: club) {
            one.disk.delete("note.txt")
            club.pass(.seconds(5))
        }
        #expect(two.disk.text("note.txt") == nil && two.disk.text("other.txt") == "other")
        #expect(deleted[1].rounds > 0 && deleted[1].counts == 1, "\(deleted[1])")
    }

    @Test("contents that come with a page are installed without a look at what other pages have left")
    func pages() async throws {
        let scene = MachineScene()
        try scene.settle()
        for number in 0..<100 { try await scene.put("note \(number)", "text \(number)") }
        let before = scene.machine.database.slices
        _ = try scene.sync().get()
        #expect(scene.files.count == 100)
        // The server tells them in twenty pages.
        #expect(scene.machine.database.slices - before < 10)
    }

    @Test("a sync with nothing to do makes nothing durable, also in an engine that was just started")
    func idle() throws {
        let scene = MachineScene()
        for number in 0..<20 { scene.disk.write("note \(number).txt", "text") }
        try scene.settle()
        var random = SeededGenerator(seed: 1)
        scene.machine.restart(afterPowerCut: false, using: &random)
        scene.wait()
        let commits = scene.machine.database.commits
        let syncs = Mutex<[String]>([])
        scene.disk.before = { call in
            if call.verb.isChange || !call.verb.isRead { syncs.withLock { $0.append("\(call.verb) \(call.path)") } }
        }
        _ = try scene.sync().get()
        scene.disk.before = nil
        #expect(syncs.withLock { $0 } == [] && scene.machine.database.commits == commits)
    }
}
