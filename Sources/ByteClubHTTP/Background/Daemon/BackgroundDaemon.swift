import Glibc
public import HTTPTypes
public import Logging

/// Does the work that was recorded in a ``BackgroundService``'s folder.
///
/// There is one for each folder: a second one ends at once. It takes its socket from systemd where it is started by that
/// (`LISTEN_FDS`, sd_listen_fds(3)), and makes it otherwise.
public struct BackgroundDaemon: Sendable {
    /// Whose work.
    public var service: BackgroundService

    /// Who does the work of ``BackgroundRequest/Work/custom(kind:payload:)``, by kind.
    public var works: [String: any BackgroundWork] = [:]

    /// Finds the secret fields that a ``BackgroundOptions/credential`` names; asked before each attempt.
    public var credentials: @Sendable (String) async throws -> HTTPFields = { name in
        throw BackgroundFailure(code: "authenticationFailed", message: "there is no credential '\(name)' here")
    }

    /// Is told each task that ended, for example to tell the person.
    public var finished: @Sendable (BackgroundStatus) async -> Void = { _ in }

    /// Is called some seconds, and again some minutes, after the last thing that was done, to give back what is not needed
    /// while nothing happens; must not block.
    public var rested: @Sendable () -> Void = {}

    /// How many tasks may be under way at once: 6, and as many to one host.
    public var maximumTasks = 6

    /// How many are begun at once while the ``RateSchedule`` limits the rate: 2, so that few are cut off half way.
    public var maximumLimitedTasks = 2

    /// After how long with nothing to do and nobody connected the daemon ends; nil for never: 10 minutes.
    public var idleTimeout: Duration? = .seconds(600)

    /// For how long a finished task is kept that nobody took the end of, in seconds: 30 days.
    public var retention: Int64 = 30 * 86400

    /// How long whoever holds or cancels a task waits at most until that stands still.
    var longestStop: Duration = .seconds(5)

    /// Where the daemon tells what it does; nothing secret is written.
    public var logger: Logger?

    /// A daemon.
    public init(_ service: BackgroundService) { self.service = service }

    /// Works until it is idle for long enough, asked to stop, or the Swift task is cancelled.
    ///
    /// What is under way then is kept and continued by the next one.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration`` when the folder cannot be used. That another daemon runs is no
    ///   error: it returns at once.
    public func run() async throws(TransferError) {
        // A client that closes early must not be the end of the daemon.
        signal(SIGPIPE, SIG_IGN)
        let inbox = try DaemonInbox()
        let sessions = SessionPool(maximumTasks: maximumTasks, logger: logger)
        let thread = try SystemThread.start {
            do throws(TransferError) {
                try DaemonLoop(self, inbox, sessions)?.run()
                inbox.end(.success(()))
            } catch {
                inbox.end(.failure(error))
            }
        }
        let result = await withTaskCancellationHandler {
            await inbox.ended()
        } onCancel: {
            inbox.post(.stop)
        }
        pthread_join(thread, nil)
        await sessions.close(all: true)
        try result.get()
    }
}
