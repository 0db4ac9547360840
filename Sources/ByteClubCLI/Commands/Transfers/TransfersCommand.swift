import ArgumentParser

/// What `byteclub transfers …` can do.
struct TransfersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfers",
        abstract: "Manage background transfers.",
        discussion: """
            Photos that 'photos upload --background' and 'photos download --background' have noted down are transferred \
            by 'byteclub daemon', which starts by itself and goes on when the terminal is closed; with 'byteclub daemon \
            --install' also after the machine was started again. An ID may be cut to as many digits as tell it from the \
            others, at least 4.

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
