import ArgumentParser
import ByteClubHTTP

/// The command `byteclub transfers [list]`.
struct TransfersListCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List background transfers; on a terminal until all have finished or are paused.",
        discussion: """
            With --json a transfer is an object with id, kind (upload or download), label, state (waiting, running, \
            paused, done or failed), bytes, total, rate in bytes per second, timeLeft in seconds, nextAttempt, \
            obstacle (metered: it waits for an unmetered network), and message: the error, or the current step. In a \
            pipe the columns are id, kind, label, state, bytes, total, rate, timeLeft and message.
            """)

    @Flag(help: "List once, even on a terminal.")
    var once = false

    @OptionGroup var outputOptions: OutputOptions

    private static let interval = Duration.milliseconds(500)

    func run(in context: Context) async throws {
        let isDrawn = context.terminal.isOutputTerminal && context.environment["TERM"] != "dumb"
        let isLive = !once && !outputOptions.json && isDrawn
        do {
            let rest: [BackgroundStatus]? = try await context.withTransfers { control in
                let tasks = try await control?.tasks() ?? []
                guard isLive, let control, tasks.contains(where: Self.isMoving) else { return tasks }
                try await Self.follow(control, from: tasks, context)
                return nil
            }
            guard let rest else { return }
            if rest.isEmpty, !outputOptions.json {
                return context.noteEmpty("no transfers; 'byteclub photos upload --background FILE' starts one")
            }
            try context.print(TransferList(rest), json: outputOptions.json)
        } catch let failure as Failure where failure.status == .interrupted {
            // Ctrl-C is the normal end of watching.
            throw Failure.silent(.interrupted)
        }
    }

    private static func isMoving(_ status: BackgroundStatus) -> Bool {
        status.state == .waiting || status.state == .running
    }

    /// Redraws the list until nothing in it will change by itself.
    private static func follow(
        _ control: BackgroundControl, from first: [BackgroundStatus], _ context: Context
    ) async throws {
        var (table, tasks) = (LiveTable(), first)
        while true {
            var list = TransferList(tasks)
            // Room for the titles and the prompt.
            list.rows = context.terminal.rows().map { max(1, $0 - 2) }
            try table.show(list.text(context.style), on: context.output)
            guard tasks.contains(where: isMoving) else { return }
            try await Task.sleep(for: interval)
            tasks = try await control.tasks()
        }
    }
}

/// The command `byteclub transfers …`.
struct TransfersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfers",
        abstract: "Manage background transfers.",
        discussion: """
            'byteclub daemon' runs the transfers that 'photos upload --background' and 'photos download --background' \
            have queued. It starts automatically and keeps running when the terminal is closed; after 'byteclub \
            daemon --install' it also resumes after a reboot. An ID may be shortened to as many digits as are unique, \
            at least 4.

            Examples:
              byteclub transfers
              byteclub transfers pause --all
              byteclub transfers wait --timeout 2h
              byteclub transfers limit 'mon-fri 09:00-17:00 500K; 2M'
            """,
        subcommands: [
            TransfersListCommand.self, TransfersPauseCommand.self, TransfersResumeCommand.self,
            TransfersCancelCommand.self, TransfersWaitCommand.self, TransfersClearCommand.self,
            TransfersLimitCommand.self,
        ],
        defaultSubcommand: TransfersListCommand.self)
}
