import Glibc
import Synchronization

@testable import ByteClubHTTP

/// One thread that runs the callbacks of delegates, as a program's own executor would.
final class DelegateThread: TaskExecutor {
    /// For all delegates, for as long as the soak runs.
    static let shared = DelegateThread()

    private let jobs = Mutex<[UnownedJob]>([])
    private let thread = Mutex<pthread_t?>(nil)
    /// A byte for each job.
    private let queue: (reading: Int32, writing: Int32)

    private init?() {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        queue = (ends[0], ends[1])
        do { try OwnThread.start { [self] in run() } } catch { return nil }
    }

    /// Whether the calling thread is this one.
    var isCurrent: Bool { thread.withLock { $0 == pthread_self() } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        var byte: UInt8 = 0
        while write(queue.writing, &byte, 1) < 0, errno == EINTR {}
    }

    private func run() {
        thread.withLock { $0 = pthread_self() }
        var byte: UInt8 = 0
        while true {
            guard read(queue.reading, &byte, 1) == 1 else { continue }
            guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { continue }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
