import ArgumentParser
import ByteClubCore

/// Does what `byteclub login URL` asks for.
struct LoginCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in to a club's server, and remember it.",
        discussion: """
            A browser shows the server's page, where you sign in and allow this machine; by the link of an invitation \
            you join first. Without a browser here, open the page on another machine and paste the code that it \
            shows. A token that the club's owner made with \
            'byteclub members add' can be pasted as well, or read from standard input.

            Examples:
              byteclub login https://club.example
              byteclub login https://club.example/invite/8c365b1f0d2e47a9
              byteclub login https://club.example --token-stdin < token.txt
            """)

    @Argument(help: ArgumentHelp("The server's address, or an invitation to the club.", valueName: "url"))
    var server: String

    @Flag(help: "Read the token from standard input.")
    var tokenStdin = false

    @Flag(help: "Show the page's address, and ask for the code that it gives.")
    var noBrowser = false

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
        let (server, invitation) = Self.parts(of: server)
        var flags = Settings()
        flags.server = server
        flags.allowsInsecureHTTP = trust.allowsInsecureHTTP ? true : nil
        flags.certificateAuthorityFile = try trust.certificateAuthorityFile.map { try LocalFile.absolute($0) }
        var settings = try context.settings(flags: flags)
        // Checked before the token is asked for.
        let address = try ServerAddress(server, allowsInsecureHTTP: settings.allowsInsecureHTTP ?? false)
        let signIn = SignIn(context: context, server: address, trust: settings, invitation: invitation)
        settings.token = try await token(context, signIn)
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

    /// The server's address, and the invitation where that was given.
    private static func parts(of text: String) -> (server: String, invitation: String?) {
        guard let path = text.firstRange(of: "/invite/") else { return (text, nil) }
        return (String(text[..<path.lowerBound]), text)
    }

    private func token(_ context: Context, _ signIn: SignIn) async throws -> String {
        if tokenStdin {
            let bytes = try context.input.readAll(1 << 16)
            return try Token.check(String(decoding: bytes, as: UTF8.self), "the token on standard input")
        }
        let browser = noBrowser ? nil : context.browser
        guard browser != nil || context.terminal.isInputTerminal else {
            throw Failure(.usage, "there is neither a browser nor a terminal to sign in with; use --token-stdin")
        }
        try await signIn.look()
        if let browser { return try await signIn.through(browser) }
        return try await signIn.byCode()
    }
}
