import CLibcurl
import Glibc

/// The thread of a session's loop.
enum LoopThread {
    /// Starts the thread, which ends with the inbox and must be joined or detached.
    static func start(_ inbox: Inbox, name: String) throws(TransferError) -> pthread_t {
        try OwnThread.startJoinable {
            unsafe byteclub_name_thread(name)
            inbox.configuration.threadPreparation?()
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
            for command in commands {
                switch command {
                case .start(let task): task.complete(.failure(TransferError(.other, "libcurl is out of memory")))
                case .tasks(let waiter): waiter.resume([])
                default: break
                }
            }
        } while !inbox.end()
    }
}
