import ArgumentParser
import ByteClubHTTP

/// The command `byteclub daemon`.
struct DaemonCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Run the daemon that does the background transfers.",
        discussion: """
            Starts automatically when there is something to transfer, and ends after ten idle minutes; each user has \
            one. After an interruption the next daemon resumes the transfers. With --install your user systemd starts \
            it at each login and on demand, so that transfers resume after a reboot. On a desktop it notifies you of \
            finished transfers.

            Examples:
              byteclub daemon --install
              byteclub daemon --stop
            """)

    @Flag(help: "Install it as a service in your user systemd, and start it.")
    var install = false

    @Flag(help: "Remove the service.")
    var uninstall = false

    @Flag(help: "Stop the running daemon; the next one resumes the transfers.")
    var stop = false

    @OptionGroup var outputOptions: OutputOptions

    /// Whether a daemon was stopped.
    struct Stopped: CommandResult {
        var wasRunning: Bool

        func text(_ style: TextStyle) -> String { wasRunning ? "the daemon is stopped" : "no daemon is running" }
    }

    func validate() throws {
        if [install, uninstall, stop].count(where: \.self) > 1 {
            throw ValidationError("--install, --uninstall and --stop cannot be combined")
        }
    }

    func run(in context: Context) async throws {
        if stop { return try context.print(await Self.stop(context), json: outputOptions.json) }
        guard install || uninstall else { return try await Self.work(context) }
        let (service, installs) = (TransferService(context), install)
        let transfers = try context.transferService()
        // A daemon without the service holds the lock.
        if installs, !service.isInstalled { _ = try await Self.stop(context) }
        let answer = try await BlockingWork.run {
            try installs ? service.install(transfers) : service.uninstall()
        }
        try context.print(answer, json: outputOptions.json)
    }

    /// The implementations of transfers, by kind.
    static func works(_ context: Context) -> [String: any BackgroundWork] {
        [PhotoUploadOrder.kind: PhotoUploadWork(context), PhotoDownloadOrder.kind: PhotoDownloadWork(context)]
    }

    /// Stops a running daemon, and waits for its end.
    private static func stop(_ context: Context) async throws -> Stopped {
        guard let control = try await running(context) else { return Stopped(wasRunning: false) }
        try await control.stop()
        await control.close()
        for _ in 0..<looks {
            guard let other = try await running(context) else { return Stopped(wasRunning: true) }
            await other.close()
            try await Task.sleep(for: pause)
        }
        throw Failure(.tryAgain, "the daemon is still stopping; it saves the state of its transfers first")
    }

    private static let (looks, pause) = (500, Duration.milliseconds(20))

    /// The control connection of the running daemon; nil without one.
    private static func running(_ context: Context) async throws -> BackgroundControl? {
        try await BackgroundControl.running(context.directories.transferService)
    }

    /// Runs until there is no work left, or a signal arrives.
    private static func work(_ context: Context) async throws {
        let memory = SpareMemory()
        let notifier = Desktop.find(context.environment).map { TransferNotifier($0) }
        var daemon = BackgroundDaemon(try context.transferService())
        daemon.works = works(context)
        daemon.finished = { status in
            memory.releaseSoon()
            await notifier?.take(status)
        }
        daemon.rested = { memory.releaseSoon() }
        daemon.logger = DiagnosticLog.logger(context)
        TransferFiles.removeExpired(context)
        memory.releaseSoon()
        do {
            try await context.interrupts.cancelling { [daemon] in
                try await daemon.run()
                try Task.checkCancellation()
            }
        } catch let failure as Failure where [.interrupted, .terminated].contains(failure.status) {
            throw Failure(failure.status, "stopped; the next daemon resumes the transfers")
        }
    }
}
