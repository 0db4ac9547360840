import Glibc

/// Threads of this library, for loops and for blocking code, such as a sync to disk, which must not delay Swift tasks.
///
/// They block all signals: signals are for the program's own threads.
enum OwnThread {
    private final class Seed: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static let stackSize = 1 << 20

    /// Starts a thread; it must be joined or detached.
    ///
    /// - Throws: `other` when the system allows no further thread.
    static func startJoinable(_ body: @escaping @Sendable () -> Void) throws(TransferError) -> pthread_t {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setstacksize(&attributes, stackSize)
        defer { unsafe pthread_attr_destroy(&attributes) }
        // The new thread inherits this mask.
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let seed = unsafe Unmanaged.passRetained(Seed(body))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, &attributes,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Seed>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, seed.toOpaque())
        guard code == 0 else {
            unsafe seed.release()
            throw TransferError(.other, "the session cannot start a thread: \(systemMessage(code))")
        }
        return thread
    }

    /// Starts a thread that runs on its own.
    ///
    /// - Throws: `other` when the system allows no further thread.
    static func start(_ body: @escaping @Sendable () -> Void) throws(TransferError) {
        pthread_detach(try startJoinable(body))
    }

    /// Runs the body and waits for it; on this thread if the system allows no further one.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await Waiter<Value>.value { waiter in
            do {
                try start { waiter.resume(body()) }
                return nil
            } catch { return body() }
        }
    }
}
