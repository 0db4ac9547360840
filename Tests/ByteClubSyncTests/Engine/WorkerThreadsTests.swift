import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubSync

/// The threads for work that blocks.
@Suite struct WorkerThreadsTests {
    @Test("work that blocks keeps neither the cooperative pool nor timers from going on", .timeLimit(.minutes(1)))
    func blocking() async throws {
        let configuration = SyncConfiguration(directory: "/mirror", stateDirectory: "/state")
        let workers = try #require(try SyncEnvironment(configuration).workers)
        let gate = Gate()
        let blocked = (0..<WorkerThreads.most - 1).map { _ in
            Task(executorPreference: workers) { gate.wait() }
        }
        // Without threads of their own, they would have all of the pool's on a small machine.
        #expect(await Task.detached { 1 }.value == 1)
        #expect(await Task(executorPreference: workers) { 2 }.value == 2)
        gate.open()
        for task in blocked { await task.value }
    }

    @Test("more work than there are threads is all done, and in an actor's order on its own thread")
    func order() async throws {
        let workers = try WorkerThreads()
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<1_000 {
                group.addTask(executorPreference: workers) {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 499_500)
        let counter = Counter(try ThreadExecutor())
        for number in 0..<1_000 { await counter.add(number) }
        #expect(await counter.numbers == Array(0..<1_000))
    }

    private actor Counter {
        private let executor: ThreadExecutor
        private(set) var numbers: [Int] = []

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        init(_ executor: ThreadExecutor) { self.executor = executor }

        func add(_ number: Int) { numbers.append(number) }
    }
}
