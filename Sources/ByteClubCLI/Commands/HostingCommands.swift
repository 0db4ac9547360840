import ArgumentParser

/// A command that `byteclub-server` does under the same name.
protocol HostingCommand: ClubCommand {
    /// All that follows the name.
    var rest: HandedOn { get }
}

extension HostingCommand {
    func run(in context: Context) async throws {
        try SiblingProgram.server.become([Self.configuration.commandName].compactMap(\.self) + rest.arguments, context)
    }
}

/// Arguments that another program understands.
struct HandedOn: ParsableArguments {
    @Argument(
        parsing: .captureForPassthrough, help: ArgumentHelp("Passed on unchanged.", valueName: "arguments"),
        completion: .names)
    var arguments: [String] = []
}

/// Does what `byteclub backup …` asks for.
struct BackupCommand: HostingCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Back up a club's data on the server's machine (runs byteclub-server).",
        usage: "byteclub backup --data <dir> [--keep <count>] [--json] <target>",
        discussion: """
            'byteclub-server restore' creates a data directory from a backup. With --keep the target is a folder of \
            dated backups, of which the newest are kept.

            Examples:
              byteclub backup --data /srv/club /srv/club-backup
              byteclub backup --data /srv/club --keep 14 /srv/club-backups
            """)

    @OptionGroup var rest: HandedOn
}

/// Does what `byteclub verify …` asks for.
struct VerifyCommand: HostingCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify a club's data on the server's machine (runs byteclub-server).",
        usage: "byteclub verify --data <dir> [--json]",
        discussion: "'byteclub sync verify' compares a mirror with the server.")

    @OptionGroup var rest: HandedOn
}

/// Does what `byteclub apps …` asks for.
struct AppsCommand: HostingCommand {
    /// What the server's program can do with programs.
    static let subcommands = ["add", "list", "remove"]

    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "Register programs that ask members for access (runs byteclub-server).",
        usage: "byteclub apps add|list|remove [<arguments> ...]")

    @OptionGroup var rest: HandedOn
}
