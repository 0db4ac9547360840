import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc
import Synchronization

/// Runs an actor's work on a dedicated thread, so that blocking calls do not block the cooperative pool.
final class ThreadExecutor: SerialExecutor {
    private let queue: JobQueue

    /// Starts the thread.
    init() throws(FileError) { queue = try JobQueue(threads: 1) }

    deinit { queue.stop() }

    func enqueue(_ job: consuming ExecutorJob) {
        unsafe queue.push(UnownedJob(job), .serial(asUnownedSerialExecutor()))
    }
}

/// Runs background work on threads of its own, since much of it blocks: files are read, hashed, written and synced.
///
/// The cooperative pool has one thread for each processor; the server's answers need it as well.
final class WorkerThreads: TaskExecutor {
    /// How many threads there are at most.
    ///
    /// More than can block at once: three transfers, a hash, a file that is audited, and two groups of files, of which
    /// one is written and one synced. Polls and timers need the other threads.
    static let most = 8

    private let queue: JobQueue

    /// Starts the first thread; the others start when they are needed.
    init() throws(FileError) { queue = try JobQueue(threads: Self.most) }

    deinit { queue.stop() }

    func enqueue(_ job: consuming ExecutorJob) {
        unsafe queue.push(UnownedJob(job), .task(asUnownedTaskExecutor()))
    }
}

/// A queue of jobs and the threads that run them; idle threads sleep on an event descriptor.
private final class JobQueue: Sendable {
    /// The executor of a job, which lives until the job has run.
    @safe enum Executor {
        case serial(UnownedSerialExecutor)
        case task(UnownedTaskExecutor)
    }

    /// A job and the executor that runs it.
    @safe private struct Job: @unchecked Sendable {
        // Invariant: a job is only ever run once, on one thread.
        let job: UnownedJob
        let executor: Executor

        func run() {
            switch executor {
            case .serial(let executor): unsafe job.runSynchronously(on: executor)
            case .task(let executor): unsafe job.runSynchronously(on: executor)
            }
        }
    }

    private struct State {
        var jobs: [Job] = []
        var threads = 1
        /// How many threads sleep and have not been woken.
        var idle = 0
        var isStopped = false
    }

    private let state = Mutex(State())
    private let most: Int
    /// Wakes one thread for each one that is added to it.
    private let wake: FileDescriptor

    /// Starts one thread; more start while jobs wait, up to `threads`.
    init(threads: Int) throws(FileError) {
        most = threads
        let number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_SEMAPHORE))
        guard number >= 0 else { throw FileError(operation: "make", path: "event descriptor", code: errno) }
        wake = FileDescriptor(owning: number, path: "event descriptor")
        let code = start()
        if code != 0 { throw FileError(operation: "start", path: "thread", code: code) }
    }

    private func start() -> Int32 { DetachedThread.start { [self] in run() } }

    /// Ends the threads when the jobs are done.
    func stop() {
        let idle = state.withLock { state in
            defer { state.idle = 0 }
            state.isStopped = true
            return state.idle
        }
        signal(idle)
    }

    func push(_ job: UnownedJob, _ executor: Executor) {
        let (wakes, starts) = state.withLock { state in
            state.jobs.append(Job(job: job, executor: executor))
            if state.idle > 0 {
                state.idle -= 1
                return (true, false)
            }
            guard state.threads < most else { return (false, false) }
            state.threads += 1
            return (false, true)
        }
        if wakes { signal(1) }
        // Without another thread, the running ones do the job later.
        if starts, start() != 0 { state.withLock { $0.threads -= 1 } }
    }

    private func signal(_ threads: Int) {
        if threads == 0 { return }
        var count = UInt64(threads)
        _ = unsafe write(wake.number, &count, 8)
    }

    private func run() {
        while true {
            let (job, isStopped) = state.withLock { state -> (Job?, Bool) in
                if !state.jobs.isEmpty { return (state.jobs.removeFirst(), false) }
                if !state.isStopped { state.idle += 1 }
                return (nil, state.isStopped)
            }
            if let job {
                job.run()
            } else if isStopped {
                return
            } else {
                var count: UInt64 = 0
                while unsafe read(wake.number, &count, 8) < 0, errno == EINTR {}
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
