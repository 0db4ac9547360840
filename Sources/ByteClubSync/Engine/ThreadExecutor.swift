import ByteClubCore
import CLinux
import Glibc
import Synchronization

/// Runs an actor's work on a dedicated thread, so that blocking calls do not block the cooperative pool.
final class ThreadExecutor: SerialExecutor {
    private let queue: JobQueue

    /// Starts the thread.
    init() throws(FileError) {
        queue = try JobQueue()
        try queue.start()
    }

    deinit { queue.stop() }

    func enqueue(_ job: consuming ExecutorJob) {
        unsafe queue.push(UnownedJob(job), asUnownedSerialExecutor())
    }
}

/// The queue of jobs; the thread sleeps on an event descriptor while it is empty.
private final class JobQueue: Sendable {
    /// A job and who runs it, which lives until the job has run.
    @safe private struct Job: @unchecked Sendable {
        // Invariant: a job is only ever run once, on the one thread.
        let job: UnownedJob
        let executor: UnownedSerialExecutor
    }

    private struct State {
        var jobs: [Job] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    private let wake: FileDescriptor

    init() throws(FileError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC))
        guard number >= 0 else { throw FileError(operation: "make", path: "event descriptor", code: errno) }
        wake = FileDescriptor(owning: number, path: "event descriptor")
    }

    func start() throws(FileError) {
        let code = DetachedThread.start { [self] in run() }
        if code != 0 { throw FileError(operation: "start", path: "thread", code: code) }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        signal()
    }

    func push(_ job: UnownedJob, _ executor: UnownedSerialExecutor) {
        let isFirst = state.withLock { state in
            unsafe state.jobs.append(Job(job: job, executor: executor))
            return state.jobs.count == 1
        }
        if isFirst { signal() }
    }

    private func signal() {
        var one: UInt64 = 1
        _ = unsafe write(wake.number, &one, 8)
    }

    private func run() {
        while true {
            let (jobs, isStopped) = state.withLock { state in
                let taken = state.jobs
                state.jobs = []
                return (taken, state.isStopped)
            }
            for job in jobs { unsafe job.job.runSynchronously(on: job.executor) }
            if jobs.isEmpty {
                if isStopped { return }
                var count: UInt64 = 0
                _ = unsafe read(wake.number, &count, 8)
            }
        }
    }
}

/// A detached thread of the system.
enum DetachedThread {
    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// The stack size in bytes: 16 KiB for each level of the deepest path, for recursion; unused pages take no memory.
    private static var stackSize: Int { NameRules.maximumDepth * 16 << 10 }

    /// Runs a function on a new thread; the result is 0 or the system's error number.
    static func start(_ run: @escaping @Sendable () -> Void) -> Int32 {
        let work = unsafe Unmanaged.passRetained(Work(run))
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stackSize)
        let code = unsafe pthread_create(
            &thread, &attributes,
            { pointer in
                if let pointer = unsafe pointer { unsafe Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        if code != 0 { unsafe work.release() } else { pthread_detach(thread) }
        return code
    }
}
