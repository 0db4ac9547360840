import ByteClubCore
import ByteClubRemotes
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

        var description: String {
            "\(cycles) cycles, \(transactions) write transactions, \(reads) reads, \(readsBeforeWire) of them up to the wire"
        }
    }

    /// Two members' machines whose sessions have no end.
    private final class Club: @unchecked Sendable {
        // Invariant: one thread uses it.
        private let executor = SimulationExecutor(seed: 1)
        private let server = MemoryRemote(pageSize: 5)
        let machines: [SimulatedMachine]
        private let cycles = Mutex([0, 0])

        init() {
            let (executor, server) = (executor, server)
            machines = (0..<2).map { number in
                let member = MemoryRemote(sharing: server, author: Int64(number + 1))
                let network = SimulatedNetwork(member, seed: UInt64(number))
                return SimulatedMachine(number, network, executor, usesExtension: true)
            }
            for (number, machine) in machines.enumerated() {
                machine.network.onChange = { [machines] in for other in machines { other.network.endWait() } }
                machine.onEvent = { [unowned self] in
                    if $0.event == .idle { cycles.withLock { $0[number] += 1 } }
                }
            }
        }

        /// Lets time pass in small steps.
        func pass(_ time: Duration) {
            var passed = Duration.zero
            while passed < time {
                for machine in machines {
                    machine.disk.time += 5_000_000
                    machine.uptime += .milliseconds(5)
                }
                passed += .milliseconds(5)
                while !executor.isIdle { executor.step() }
            }
        }

        /// Does something, waits until it is everywhere and all is quiet, and tells what that has cost.
        func cost(of work: () -> Void) -> [Cost] {
            var costs = [Cost(), Cost()]
            let writes = machines[0].network.writes
            for (number, machine) in machines.enumerated() {
                costs[number].cycles = -cycles.withLock { $0[number] }
                costs[number].transactions = -machine.database.commits
            }
            let reads = Mutex([0, 0])
            let early = Mutex(0)
            for (number, machine) in machines.enumerated() {
                machine.disk.before = { [machines] call in
                    guard call.verb == .open, call.path.hasSuffix("note.txt") else { return }
                    reads.withLock { $0[number] += 1 }
                    if machines[0].network.writes == writes { early.withLock { $0 += 1 } }
                }
            }
            work()
            pass(.seconds(3))
            for (number, machine) in machines.enumerated() {
                machine.disk.before = nil
                costs[number].cycles += cycles.withLock { $0[number] }
                costs[number].transactions += machine.database.commits
                costs[number].reads = reads.withLock { $0[number] }
                costs[number].readsBeforeWire = early.withLock { $0 }
            }
            return costs
        }
    }

    @Test("one saved note costs at most two cycles and four write transactions at each end, and is read once")
    func edit() throws {
        let club = Club()
        club.machines[0].disk.write("note.txt", "first")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        let text = { (machine: SimulatedMachine) in
            machine.disk.tree().first { $0.path == "note.txt" }?.content.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(text(club.machines[1]) == "first")
        for round in 1...3 {
            let costs = club.cost { club.machines[0].disk.write("note.txt", "edit \(round)") }
            #expect(text(club.machines[1]) == "edit \(round)")
            print("writer: \(costs[0]); reader: \(costs[1])")
            // The first file that is replaced on a day notes the day.
            if round == 1 { continue }
            for cost in costs { #expect(cost.cycles <= 2 && cost.transactions <= 4, "\(cost)") }
            #expect(costs[0].readsBeforeWire == 1, "\(costs[0])")
        }
    }
}
