import ArgumentParser

/// Does what `byteclub members …` asks for.
struct MembersCommand: HostingCommand {
    /// What the server's program can do with members.
    static let subcommands = [
        "invite", "invitations", "uninvite", "add", "list", "remove", "role", "password", "reset",
        "token",
    ]

    static let configuration = CommandConfiguration(
        commandName: "members",
        abstract: "Manage members on the server's machine (runs byteclub-server).",
        usage: "byteclub members <subcommand> [<arguments> ...]",
        discussion: """
            Subcommands: \(subcommands.joined(separator: ", ")).

            Examples:
              byteclub members invite --data /srv/club
              byteclub members add ada --data /srv/club
              byteclub members invite --help
            """)

    @OptionGroup var rest: HandedOn
}
