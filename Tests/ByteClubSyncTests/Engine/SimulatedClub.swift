import ByteClubCore
import MemoryRemote
import TestSupport

@testable import ByteClubSync
@testable import SyncSimulation

/// Two members' machines whose sessions have no end.
final class SimulatedClub: @unchecked Sendable {
    // Invariant: one thread uses it.
    private let executor = SimulationExecutor(seed: 1)
    let server = MemoryRemote(pageSize: 5)
    let machines: [SimulatedMachine]
    /// How often each has concluded.
    private(set) var cycles = [0, 0]

    init(usesExtension: Bool = true) {
        let (executor, server) = (executor, server)
        machines = (0..<2).map { number in
            let member = MemoryRemote(sharing: server, author: Int64(number + 1))
            let network = SimulatedNetwork(member, seed: UInt64(number))
            return SimulatedMachine(number, network, executor, usesExtension: usesExtension)
        }
        for (number, machine) in machines.enumerated() {
            machine.network.onChange = { [machines] in for other in machines { other.network.endWait() } }
            machine.onEvent = { [unowned self] in
                if $0.event == .idle { cycles[number] += 1 }
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
}
