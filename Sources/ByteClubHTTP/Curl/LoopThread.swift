import CLibcurl
import Glibc

/// The thread a session's loop lives on.
enum LoopThread {
    private final class Seed: Sendable {
        let configuration: SessionConfiguration
        let inbox: Inbox
        let name: String

        init(_ configuration: SessionConfiguration, _ inbox: Inbox, _ name: String) {
            self.configuration = configuration
            self.inbox = inbox
            self.name = name
        }
    }

    private static let stackSize = 1 << 20

    /// Starts the thread; it ends when the inbox says so, and must be joined or detached.
    static func start(_ configuration: SessionConfiguration, _ inbox: Inbox, name: String) throws(TransferError)
        -> pthread_t
    {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setstacksize(&attributes, stackSize)
        defer { unsafe pthread_attr_destroy(&attributes) }
        // Signals belong to the program's other threads; the new one inherits this mask.
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let seed = unsafe Unmanaged.passRetained(Seed(configuration, inbox, name))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, &attributes,
            { context in
                guard let context = unsafe context else { return nil }
                LoopThread.run(unsafe Unmanaged<Seed>.fromOpaque(context).takeRetainedValue())
                return nil
            }, seed.toOpaque())
        guard code == 0 else {
            unsafe seed.release()
            throw TransferError(.other, "the session cannot start a thread: \(systemMessage(code))")
        }
        return thread
    }

    private static func run(_ seed: Seed) {
        unsafe byteclub_name_thread(seed.name)
        if let loop = CurlLoop(seed.configuration, seed.inbox) { return loop.run() }
        refuseAll(seed.inbox)
    }

    /// Without memory for a loop, every task gets an error.
    private static func refuseAll(_ inbox: Inbox) {
        _ = inbox.post(.invalidate(cancelling: true))
        var commands: [Command] = []
        repeat {
            inbox.take(into: &commands, sleepy: false)
            for case .start(let task) in commands {
                task.complete(.failure(TransferError(.other, "libcurl is out of memory")))
            }
        } while !inbox.end()
    }
}
