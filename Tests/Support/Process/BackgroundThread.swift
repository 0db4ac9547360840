import Glibc

/// A thread for calls that block, so that they never hold a thread of the cooperative pool.
public enum BackgroundThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs a closure on a thread of its own, without signals, and forgets about it.
    public static func start(_ body: @escaping @Sendable () -> Void) {
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let work = unsafe Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let work = unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
                work.body()
                return nil
            }, work.toOpaque())
        precondition(code == 0, "the system allows no further thread")
        pthread_detach(thread)
    }

    /// Runs a closure on a thread of its own and waits for its result without blocking.
    public static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            start { continuation.resume(returning: body()) }
        }
    }
}
