import SyncSimulation
import TestSupport
import Testing

/// Whole engines on simulated machines: see `Tests/Simulation/Simulator`.
@Suite struct SimulatorTests {
    @Test("machines agree and nothing is lost, whatever users, networks and power do")
    func runs() {
        let count = Int(Settings.environment("BYTECLUB_RUNS") ?? "") ?? 20_000
        let first = UInt64(Settings.environment("BYTECLUB_SEED") ?? "") ?? 1
        let clock = ContinuousClock()
        var failures: [String] = []
        let time = clock.measure {
            for seed in first..<first + UInt64(count) {
                if let failure = Simulator.failure(seed) { failures.append(failure) }
                if failures.count >= 3 { break }
            }
        }
        print("\(count) runs from seed \(first): \(Int(Double(count) / (time / .seconds(1)))) a core-second")
        for failure in failures {
            print(failure)
            Issue.record("a run failed; its story is printed above")
        }
    }

    @Test("a seed tells the same story twice")
    func deterministic() {
        for seed in 1...20 as ClosedRange<UInt64> { #expect(Simulator.isDeterministic(seed), "seed \(seed)") }
    }
}
