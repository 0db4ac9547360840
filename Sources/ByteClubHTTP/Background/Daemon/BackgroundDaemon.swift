import Glibc
public import HTTPTypes
public import Logging

/// Does the work that is recorded in a ``BackgroundService``'s folder.
///
/// Each folder has one daemon: a second one ends at once. Started by systemd, it uses systemd's socket (`LISTEN_FDS`,
/// sd_listen_fds(3)); otherwise it makes its own.
public struct BackgroundDaemon: Sendable {
    /// The service.
    public var service: BackgroundService

    /// The implementations of ``BackgroundRequest/Work/custom(kind:payload:)``, by kind.
    public var works: [String: any BackgroundWork] = [:]

    /// Returns the secret fields of a ``BackgroundOptions/credential``; called before each attempt.
    public var credentials: @Sendable (String) async throws -> HTTPFields = { name in
        throw BackgroundFailure(code: "authenticationFailed", message: "the daemon has no credential '\(name)'")
    }

    /// Called with each task that has ended, for example to notify the user.
    public var finished: @Sendable (BackgroundStatus) async -> Void = { _ in }

    /// Called some seconds, and again some minutes, after the last activity, to release memory that an idle daemon does not
    /// need; must not block.
    public var rested: @Sendable () -> Void = {}

    /// How many tasks may run at once, in all and to one host: 6.
    public var maximumTasks = 6

    /// How many tasks may run at once while the ``RateSchedule`` limits the rate: 2, so that few are interrupted half way.
    public var maximumLimitedTasks = 2

    /// After how long without tasks and clients the daemon ends, or nil for never: 10 minutes.
    public var idleTimeout: Duration? = .seconds(600)

    /// How long to keep a finished task if no client takes its result, in seconds: 30 days.
    public var retention: Int64 = 30 * 86400

    /// How long a client waits at most until a task that it pauses or cancels has stopped.
    var longestStop: Duration = .seconds(5)

    /// Where the conditions of the network are read; nil for this machine's.
    var conditionsSource: ConditionsSource?

    /// The daemon's log, which never contains secrets.
    public var logger: Logger?

    /// Describes a daemon.
    public init(_ service: BackgroundService) { self.service = service }

    /// Runs until it has been idle for ``idleTimeout``, a client stops it, or the Swift task is cancelled.
    ///
    /// The next daemon continues the tasks that are running then. If another daemon runs, this returns at once.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration`` when the folder cannot be used.
    public func run() async throws(TransferError) {
        // A client that closes its connection early must not end the daemon.
        signal(SIGPIPE, SIG_IGN)
        let inbox = try DaemonInbox()
        let sessions = SessionPool(maximumTasks: maximumTasks, logger: logger)
        let result = await withTaskCancellationHandler {
            await OwnThread.run {
                Result { () throws(TransferError) in try DaemonLoop(self, inbox, sessions)?.run() ?? () }
            }
        } onCancel: {
            inbox.post(.stop)
        }
        await sessions.close(all: true)
        try result.get()
    }
}
