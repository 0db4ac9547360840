import TestSupport

/// Runs all tasks of a simulation on the calling thread, in an order that a seed decides.
final class SimulationExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // Invariant: one thread only enqueues and runs.
    private var jobs: [UnownedJob] = []
    private var random: SeededGenerator
    /// Which job was taken at each step, so that two runs can be compared.
    private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325
    /// How many jobs have run.
    private(set) var steps = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    /// Whether nobody can go on.
    var isIdle: Bool { jobs.isEmpty }

    /// Lets one task go on.
    func step() {
        guard !jobs.isEmpty else { return }
        let index = Int.random(in: 0..<jobs.count, using: &random)
        let job = jobs.remove(at: index)
        note(UInt64(index))
        steps += 1
        unsafe job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    /// Mixes something that happened into the trace.
    func note(_ value: UInt64) { trace = (trace ^ value) &* 0x0000_0100_0000_01B3 }
}
