import ArgumentParser
import ByteClubHTTP

/// Does what `byteclub transfers limit` asks for.
struct TransfersLimitCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract: "Show or set how fast background transfers may be in all.",
        discussion: """
            Without a limit it shows the present ones. A limit is a number of bytes a second as in 500K or 2M, \
            'unlimited', or 'pause', which holds all transfers. One with @ and times holds in that part of the day, by \
            local clocks, the first that fits; the one without at all other times. All are set anew, at once, and stay.

            Examples:
              byteclub transfers limit 2M
              byteclub transfers limit unlimited 500K@08:00-18:00 pause@18:00-19:30
            """)

    @Argument(help: "The limits; none to show them.")
    var limits: [String] = []

    @OptionGroup var outputOptions: OutputOptions

    /// What holds.
    struct Answer: CommandResult {
        /// As they are typed.
        var limits: [String]

        func text(_ style: TextStyle) -> String { limits.joined(separator: " ") }
    }

    func validate() throws {
        do { _ = try RateSchedule(arguments: limits) } catch { throw ValidationError(error.message) }
    }

    func run(in context: Context) async throws {
        if !limits.isEmpty {
            let (schedule, service) = (try RateSchedule(arguments: limits), try context.transferService())
            try await context.interrupts.cancelling {
                let control = try await BackgroundControl(service)
                try await control.setSchedule(schedule)
                await control.close()
            }
        }
        let present = context.directories.transferService.recordedSchedule
        try context.print(Answer(limits: present.arguments), json: outputOptions.json)
    }
}
