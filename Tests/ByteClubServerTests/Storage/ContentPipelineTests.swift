import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Work on the disk")
struct ContentPipelineTests {
    private final class Count: Sendable {
        struct State {
            var running = 0
            var most = 0
            /// Whether the threads may end.
            var isOpen = false
        }

        let state = Mutex(State())
    }

    @Test("however many bodies arrive, no more threads than a few work on the disk")
    func threads() async throws {
        let count = Count()
        let jobs = 4 * ContentPipeline.threads
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { count.state.withLock { $0.isOpen = true } }
            for _ in 0..<jobs {
                group.addTask {
                    try await ContentPipeline.onDisk {
                        count.state.withLock {
                            $0.running += 1
                            $0.most = max($0.most, $0.running)
                        }
                        while !count.state.withLock({ $0.isOpen }) { usleep(1_000) }
                        count.state.withLock { $0.running -= 1 }
                    }
                }
            }
            try await eventually("all threads work") { count.state.withLock { $0.running } >= ContentPipeline.threads }
            // Time for more of them to begin, if they may.
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(count.state.withLock { $0.most } == ContentPipeline.threads)
    }
}
