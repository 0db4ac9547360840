import ArgumentParser
import ByteClubCore

/// Does what `byteclub login URL` asks for.
struct LoginCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Remember a club's server and your token for it.",
        discussion: """
            The token is the one that the club's owner made with 'byteclub members add'. It is asked for on the \
            terminal, without being shown, or read from standard input; it is checked before it is stored.

            Examples:
              byteclub login https://club.example
              byteclub login https://club.example --token-stdin < token.txt
            """)

    @Argument(help: ArgumentHelp("The server's address.", valueName: "url"))
    var server: String

    @Flag(help: "Read the token from standard input.")
    var tokenStdin = false

    @OptionGroup var trust: TrustOptions

    @OptionGroup var outputOptions: OutputOptions

    /// What was stored.
    struct Result: CommandResult {
        var server: String
        var member: String
        var uid: Int64

        func text(_ style: TextStyle) -> String { "logged in to \(server) as \(Failure.line(member))" }
    }

    func run(in context: Context) async throws {
        var flags = Settings()
        flags.server = server
        flags.allowsInsecureHTTP = trust.allowsInsecureHTTP ? true : nil
        flags.certificateAuthorityFile = try trust.certificateAuthorityFile.map(LocalFile.absolute)
        var settings = try context.settings(flags: flags)
        // Checked before the token is asked for.
        let address = try ServerAddress(server, allowsInsecureHTTP: settings.allowsInsecureHTTP ?? false)
        settings.token = try token(context)
        let login = try Login(settings: settings, credentials: nil)
        let account = try await context.withRemote(login) { try await $0.account() }
        try context.credentials.save(
            Credentials(
                server: address.origin, token: login.token, member: account.displayName,
                certificateAuthorityFile: login.certificateAuthorityFile,
                allowsInsecureHTTP: login.allowsInsecureHTTP ? true : nil))
        try context.print(
            Result(server: address.origin, member: account.displayName, uid: account.uid), json: outputOptions.json)
    }

    private func token(_ context: Context) throws -> String {
        if tokenStdin {
            let bytes = try context.input.readAll(1 << 16)
            return try Token.check(String(decoding: bytes, as: UTF8.self), "the token on standard input")
        }
        guard context.terminal.isInputTerminal else {
            throw Failure(.usage, "there is no terminal to ask for the token; use --token-stdin")
        }
        return try Token.check(context.input.readSecret("Token: "), "the token")
    }
}
