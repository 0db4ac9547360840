import ArgumentParser

/// A command that `byteclub-server` performs under the same name.
protocol HostingCommand: LocalCommand {
    /// Its subcommands in `byteclub-server`; empty when it has none.
    static var subcommands: [String] { get }
    /// All arguments after the command's name.
    var rest: HandedOn { get }
}

extension HostingCommand {
    static var subcommands: [String] { [] }

    /// Becomes `byteclub-server`.
    ///
    /// - Throws: A ``Failure`` when the first argument is an unknown subcommand, or the program is not installed.
    func run(in context: Context) async throws {
        if let unknown = UnknownCommand(rest.arguments.first, of: Self.self) {
            throw Failure(.usage, unknown.message)
        }
        try SiblingProgram.server.become([Self.configuration.commandName].compactMap(\.self) + rest.arguments, context)
    }
}

/// Arguments for another program.
struct HandedOn: ParsableArguments {
    @Argument(
        parsing: .captureForPassthrough, help: ArgumentHelp("Passed on unchanged.", valueName: "arguments"),
        completion: .names)
    var arguments: [String] = []
}

/// The command `byteclub backup …`.
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

/// The command `byteclub verify …`.
struct VerifyCommand: HostingCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify a club's data on the server's machine (runs byteclub-server).",
        usage: "byteclub verify --data <dir> [--json]",
        discussion: "'byteclub sync verify' compares a mirror with the server.")

    @OptionGroup var rest: HandedOn
}

/// The command `byteclub apps …`.
struct AppsCommand: HostingCommand {
    static let subcommands = ["add", "list", "remove"]

    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "Register programs that ask members for access (runs byteclub-server).",
        usage: "byteclub apps add|list|remove [<arguments> ...]")

    @OptionGroup var rest: HandedOn
}

/// The command `byteclub serve …`.
struct ServeCommand: HostingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Host a club on this machine (runs byteclub-server).",
        usage: "byteclub serve [<arguments of byteclub-server> ...]",
        discussion: """
            Example:
              byteclub serve --data /srv/club --listen 127.0.0.1:8080 --name 'Panorama Club'
            """)

    @OptionGroup var rest: HandedOn
}

/// The command `byteclub members …`.
struct MembersCommand: HostingCommand {
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
