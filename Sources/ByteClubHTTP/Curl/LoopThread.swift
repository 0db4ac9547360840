import CLibcurl
import Glibc

/// The thread of a session's loop.
enum LoopThread {
    /// Starts the thread, which ends with the inbox and must be joined or detached.
    static func start(_ inbox: Inbox, name: String) throws(TransferError) -> pthread_t {
        try SystemThread.start {
            unsafe byteclub_name_thread(name)
            if let loop = CurlLoop(inbox) { return loop.run() }
            refuseAll(inbox)
        }
    }

    /// Without memory for a loop, every task gets an error.
    private static func refuseAll(_ inbox: Inbox) {
        _ = inbox.post(.invalidate(cancelling: true))
        var commands: [Command] = []
        repeat {
            inbox.take(into: &commands)
            for case .start(let task) in commands {
                task.complete(.failure(TransferError(.other, "libcurl is out of memory")))
            }
        } while !inbox.end()
    }
}

/// Threads of this library, which block all signals: signals are for the program's own threads.
enum SystemThread {
    private final class Seed: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static let stackSize = 1 << 20

    /// Starts a thread; it must be joined or detached.
    ///
    /// - Throws: `other` when the system allows no further thread.
    static func start(_ body: @escaping @Sendable () -> Void) throws(TransferError) -> pthread_t {
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
}
