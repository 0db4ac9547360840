import ArgumentParser
import ByteClubCore

/// The command `byteclub password`.
struct PasswordCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set the password with which you sign in on the club's pages.",
        discussion: """
            Asks for your current password, if you have one, and twice for the new one. With --password-stdin, \
            standard input has a line with the current one, if you have one, and a line with the new one. Browsers \
            are signed out; machines stay signed in. If you forgot your password, ask an owner of the club for a \
            link.

            Example:
              byteclub password
            """)

    @Flag(help: "Read the passwords from standard input.")
    var passwordStdin = false

    @OptionGroup var options: RemoteOptions

    /// Whether a password was set or changed, and where.
    struct Result: CommandResult {
        var server: String
        var wasSet: Bool

        func text(_ style: TextStyle) -> String {
            "your password is \(wasSet ? "changed" : "set"); sign in with it at \(server)"
        }
    }

    func run(in context: Context) async throws {
        guard passwordStdin || context.terminal.isInputTerminal else {
            throw Failure(.usage, "no terminal to prompt for the password; use --password-stdin")
        }
        let login = try context.login(flags: options.connection.settings)
        let connector = context.connector
        let known = try await context.interrupts.cancelling { try await connector.hasPassword(login) }
        guard let known else {
            throw Failure(
                .configuration, "this server does not let programs set passwords; ask an owner of the club for a link")
        }
        let (current, new) =
            passwordStdin
            ? try Self.read(context, hasCurrent: known) : try Self.ask(context, hasCurrent: known)
        let isSet = try await context.interrupts.cancelling { try await connector.setPassword(login, new, current) }
        guard isSet else {
            throw Failure(
                .notAuthorised,
                "wrong current password; if you forgot it, ask an owner of the club for a link")
        }
        try context.print(Result(server: login.server.origin, wasSet: known), json: options.output.json)
    }

    private static func ask(_ context: Context, hasCurrent: Bool) throws -> (current: String?, new: String) {
        let current = hasCurrent ? try context.input.readSecret("Current password: ") : nil
        let new = try context.input.readSecret("New password: ")
        guard try context.input.readSecret("Repeat new password: ") == new else {
            throw Failure(.badData, "the passwords do not match; nothing was changed")
        }
        return (current, new)
    }

    private static func read(_ context: Context, hasCurrent: Bool) throws -> (current: String?, new: String) {
        let text = String(decoding: try context.input.readAll(4096), as: UTF8.self)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        guard lines.count == (hasCurrent ? 2 : 1), let new = lines.last else {
            throw Failure(
                .usage,
                hasCurrent
                    ? "give two lines, your current password and the new one"
                    : "give one line with the new password: you have none yet")
        }
        return (hasCurrent ? lines.first : nil, new)
    }
}
