import SyncSimulation
import Testing

/// Engines that are stopped or fail at each of their calls: see `Tests/Simulation/Crash`.
///
/// `BYTECLUB_CRASH` plays one run, `scenario/fault/call`, or those scenarios alone whose names start so, with more
/// kinds of faults; `BYTECLUB_CRASH=all` plays all of them with more, and every row of the tables over plain v1 and on
/// disks that cannot exchange two entries in one step, of which the usual run has a choice. `BYTECLUB_CRASH_EVERY`
/// plays one of every so many calls.
@Suite struct CrashTests {
    @Test("whatever call an engine is stopped or fails at, all ends as if it had not been")
    func everyCall() async {
        let asked = Settings.environment("BYTECLUB_CRASH")
        if let asked, asked.contains("/") {
            #expect(CrashCheck.failure(asked) == nil)
            return
        }
        let prefix = asked == "all" ? "" : asked ?? ""
        let every = max(1, Int(Settings.environment("BYTECLUB_CRASH_EVERY") ?? "") ?? 1)
        let cores = 2
        let start = ContinuousClock.now
        let tally = await withTaskGroup(of: CrashCheck.Tally.self) { group in
            for core in 0..<cores {
                group.addTask {
                    CrashCheck.tally(from: core, every: cores, named: prefix, isThorough: asked != nil, sparsity: every)
                }
            }
            return await group.reduce(CrashCheck.Tally(), +)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print(
            "crashes: \(tally.scenarios) scenarios, \(tally.calls) calls, \(tally.changes) of them with an effect,",
            "\(tally.runs) runs, \(Int(Double(tally.runs) / seconds)) a second")
        for failure in tally.failures {
            print(failure)
            Issue.record("a run failed; it is printed above")
        }
    }
}
