import ArgumentParser

/// The command `byteclub` with all that it can do.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "byteclub",
        abstract: "Share a club's notes and panorama photos through its own server.",
        discussion: """
            Get started:
              byteclub login https://club.example
              byteclub notes list
              byteclub photos upload ridge.jpg
              byteclub sync ~/club

            Host a club:
              byteclub serve --data ~/club-data
              byteclub members invite --data ~/club-data
            ('byteclub serve --help' explains how to let others reach it.)

            With --json, commands print JSON with camelCase names and RFC 3339 times in UTC. Output longer than the \
            screen goes through the pager in BYTECLUB_PAGER, else PAGER, else less.

            Exit codes: 0 success, 64 wrong usage, 65 bad name, note or photo, 66 not found, 69 server unreachable, \
            73 already exists or cannot be created, 74 input or output error, 75 not or only partly done, safe to retry, 76 invalid answer \
            from the server, 77 not authorised, 78 wrong configuration, 130 Ctrl-C, 143 SIGTERM.
            """,
        version: "byteclub \(ByteClub.version)",
        groupedSubcommands: [
            CommandGroup(
                name: "Account",
                subcommands: [
                    LoginCommand.self, LogoutCommand.self, WhoAmICommand.self, PasswordCommand.self, OpenCommand.self,
                    DoctorCommand.self,
                ]),
            CommandGroup(
                name: "Club",
                subcommands: [NotesCommand.self, PhotosCommand.self, RestoreCommand.self, ShareCommand.self]),
            CommandGroup(name: "Transfers", subcommands: [TransfersCommand.self, DaemonCommand.self]),
            CommandGroup(
                name: "Mirror",
                subcommands: [
                    SyncCommand.self, StatusCommand.self, WhyCommand.self, LogCommand.self, ConflictsCommand.self,
                    MirrorsCommand.self, UnlinkCommand.self,
                ]),
            CommandGroup(
                name: "Hosting",
                subcommands: [
                    ServeCommand.self, MembersCommand.self, AppsCommand.self, BackupCommand.self, VerifyCommand.self,
                ]),
            CommandGroup(name: "Help", subcommands: [CompletionCommand.self, ConnectionTopic.self]),
        ])

    /// Whether a word is the name of a command.
    static func has(_ word: String) -> Bool {
        subcommand(word) != nil
    }

    /// The command that the first words of a command line name, and the words after it.
    static func command(in arguments: [String]) -> (type: any ParsableCommand.Type, rest: ArraySlice<String>) {
        var rest = arguments[...]
        var command: any ParsableCommand.Type = Self.self
        while let word = rest.first, let next = command.subcommand(word) {
            command = next
            rest.removeFirst()
        }
        return (command, rest)
    }

    /// Parses a command line with the parser of its last subcommand alone, in half the time.
    static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
        let (command, rest) = command(in: arguments)
        // Help and mistakes need the whole tree.
        if command.configuration.subcommands.isEmpty, let parsed = try? command.parseAsRoot(Array(rest)),
            type(of: parsed) == command
        {
            return parsed
        }
        return try parseAsRoot(arguments)
    }
}

extension ParsableCommand {
    fileprivate static func subcommand(_ name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0.configuration.commandName == name }
    }
}

/// The network that a command needs; decides which connections are prepared before the command line is parsed.
enum NetworkUse: Hashable, Sendable {
    /// Not at all.
    case none
    /// For questions only, which go over a running daemon's connections.
    case queries
    /// For anything.
    case full
}

/// A command that runs in a given context, so that a test may pass its own.
protocol ClubCommand: ParsableCommand, Sendable {
    /// How a command line of this command is likely to use the network; a guess before the line is parsed.
    static func networkUse(of arguments: [String]) -> NetworkUse

    /// Performs the command and writes results to the context's output.
    ///
    /// - Throws: A ``Failure``, or any error of a lower layer.
    func run(in context: Context) async throws
}

extension ClubCommand {
    static func networkUse(of arguments: [String]) -> NetworkUse {
        arguments.contains("--background") ? .none : .full
    }
}

/// A command that only asks the server questions.
protocol QueryCommand: ClubCommand {}

extension QueryCommand {
    static func networkUse(of arguments: [String]) -> NetworkUse { .queries }
}

/// A command that needs no connection to the server, or so rarely that none is prepared.
protocol LocalCommand: ClubCommand {}

extension LocalCommand {
    static func networkUse(of arguments: [String]) -> NetworkUse { .none }
}

/// A command that does something on the server as the signed-in member, and prints the result.
protocol RemoteCommand: ClubCommand {
    /// The result to print.
    associatedtype Answer: CommandResult

    /// The connection to the server, and how the answer is printed.
    var options: RemoteOptions { get }

    /// Does it.
    func answer(_ login: Login, _ context: Context) async throws -> Answer
}

extension RemoteCommand {
    func run(in context: Context) async throws {
        let login = try context.login(flags: options.connection.settings)
        try context.print(try await answer(login, context), json: options.output.json)
    }
}
