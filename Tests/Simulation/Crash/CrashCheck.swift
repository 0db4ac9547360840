/// Plays every scenario with every fault at every call.
package enum CrashCheck {
    /// What came of it.
    package struct Tally: Sendable {
        /// Scenarios played.
        package var scenarios = 0
        /// Calls of disk, database and network in them when nothing disturbs.
        package var calls = 0
        /// Of these, calls that may change something.
        package var changes = 0
        /// Runs with a fault.
        package var runs = 0
        /// What is wrong, each with what replays it.
        package var failures: [String] = []

        package init() {}

        package static func + (one: Self, other: Self) -> Self {
            var sum = one
            sum.scenarios += other.scenarios
            sum.calls += other.calls
            sum.changes += other.changes
            sum.runs += other.runs
            sum.failures += other.failures
            return sum
        }
    }

    /// Plays every `stride`-th scenario from one on, of all or of those whose name starts so; `isThorough` tries more
    /// kinds of faults.
    package static func tally(
        from first: Int, every stride: Int, named prefix: String = "", isThorough: Bool = false,
        sparsity: Int = 1
    ) -> Tally {
        var tally = Tally()
        let scenarios = CrashScenario.all.filter { $0.name.hasPrefix(prefix) && (isThorough || !$0.isExtra) }
        let faults = isThorough ? CrashFault.all : CrashFault.usual
        for index in Swift.stride(from: first, to: scenarios.count, by: stride) {
            var scenario = scenarios[index]
            if isThorough { scenario.stride = max(1, scenario.stride / 4) }
            scenario.stride *= sparsity
            play(scenario, faults, &tally)
            if tally.failures.count > 40 { break }
        }
        return tally
    }

    private static func play(_ scenario: CrashScenario, _ faults: [CrashFault], _ tally: inout Tally) {
        let undisturbed = CrashRun(scenario)
        undisturbed.runUndisturbed()
        tally.scenarios += 1
        tally.calls += undisturbed.calls.count
        tally.changes += undisturbed.calls.count(where: \.self)
        if !undisturbed.faults.isEmpty {
            tally.failures.append("\(scenario.name), undisturbed: \(undisturbed.faults.joined(separator: "; "))")
            return
        }
        for (skipped, fault) in faults.enumerated() {
            for (index, isChange) in undisturbed.calls.enumerated() where isChange || fault.concernsReads {
                if (index + skipped) % scenario.stride != 0 { continue }
                tally.runs += 1
                guard let failure = failure(scenario, fault, at: index + 1) else { continue }
                tally.failures.append(failure)
                break
            }
        }
    }

    private static func failure(_ scenario: CrashScenario, _ fault: CrashFault, at call: Int) -> String? {
        let run = CrashRun(scenario)
        run.play(fault, at: call)
        if run.faults.isEmpty { return nil }
        return "\(scenario.name)/\(fault)/\(call): \(run.faults.joined(separator: "; "))"
    }

    /// Plays one run by its name, `scenario/fault/call`, and tells what is wrong with it; nil when nothing is.
    package static func failure(_ name: String) -> String? {
        let parts = name.split(separator: "/").map(String.init)
        guard parts.count == 3, let scenario = CrashScenario.all.first(where: { $0.name == parts[0] }),
            let fault = CrashFault.all.first(where: { $0.description == parts[1] }), let call = Int(parts[2])
        else { return "there is no run '\(name)'" }
        let run = CrashRun(scenario)
        run.play(fault, at: call)
        return run.faults.isEmpty ? nil : (run.faults + run.story).joined(separator: "\n")
    }
}
