import ArgumentParser

/// What `byteclub transfers …` can do.
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
