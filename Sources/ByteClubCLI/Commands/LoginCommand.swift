import ArgumentParser
import ByteClubCore
import ByteClubHTTP

/// The command `byteclub login URL`.
struct LoginCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in to a club's server, and remember it.",
        discussion: """
            Opens the server's page in a browser, where you sign in and allow this machine; with an invitation you \
            join first. Without a browser here, open the page on another machine and type a short code there; with an \
            older server, paste the code that the page shows. A token that the club's owner created with 'byteclub \
            members add' is read at the terminal or from standard input. The part of a link after '#sha256=' is the \
            server's key: from then on the server is recognised by it, whatever its certificate.

            Examples:
              byteclub login https://club.example
              byteclub login https://club.example/invite/8c365b1f0d2e47a9
              byteclub login https://club.example --no-browser
              byteclub login https://club.example --token-stdin < token.txt
            """)

    @Argument(help: ArgumentHelp("The server's address, or an invitation link.", valueName: "url"))
    var server: String

    @Flag(help: "Prompt for a token, or read it from standard input.")
    var tokenStdin = false

    @Flag(help: "Print a page's address and a short code, for a browser on another machine.")
    var noBrowser = false

    @OptionGroup var trust: TrustOptions

    @OptionGroup var outputOptions: OutputOptions

    /// The stored login.
    struct Result: CommandResult {
        var server: String
        var member: String
        var uid: Int64
        /// The club's name; nil when the server does not send it.
        var club: String?

        init(server: String, account: Account) {
            (self.server, member, uid) = (server, account.displayName, account.uid)
            club = account.extensions?.club
        }

        func text(_ style: TextStyle) -> String {
            let place = club.map { "\(Failure.line($0)) (\(server))" } ?? server
            return "signed in to \(place) as \(Failure.line(member))"
        }
    }

    func run(in context: Context) async throws {
        let (server, invitation, pin) = try Self.parts(of: server)
        let flags = Settings(
            server: server,
            certificateAuthorityFile: try trust.certificateAuthorityFile.map { try LocalFile.absolute($0) },
            pin: trust.pin ?? pin, allowsInsecureHTTP: trust.allowsInsecureHTTP ? true : nil)
        var settings = try context.settings(flags: flags)
        // Checked before the user enters a token.
        let address = try ServerAddress(server, allowsInsecureHTTP: settings.allowsInsecureHTTP ?? false)
        if settings.pin == nil, settings.certificateAuthorityFile == nil {
            // A second login to the same server keeps its pinned key.
            let stored = try? context.credentials.load()
            if stored?.server == address.origin { settings.pin = stored?.pin }
        }
        let signIn = SignIn(context: context, server: address, trust: settings, invitation: invitation)
        settings.token = try await token(context, signIn)
        let login = try Login(settings: settings, credentials: nil)
        let account = try await account(login, context)
        try context.credentials.save(
            Credentials(
                server: address.origin, token: login.token, member: account.displayName,
                certificateAuthorityFile: login.certificateAuthorityFile,
                pin: login.pinnedKeys.first?.description,
                allowsInsecureHTTP: login.allowsInsecureHTTP ? true : nil))
        try context.print(Result(server: address.origin, account: account), json: outputOptions.json)
    }

    /// The account that the token belongs to.
    private func account(_ login: Login, _ context: Context) async throws -> Account {
        do {
            return try await context.withRemote(login) { try await $0.account() }
        } catch let error as RemoteError
            where login.server.hasPath && [.notFound, .forbidden, .protocolViolation].contains(error.code)
        {
            throw Failure(.noInput, "no club at '\(login.server)'; omit the path after the host name")
        }
    }

    /// The server's address, the invitation and the server's key; nil for parts that the link does not have.
    private static func parts(of text: String) throws -> (server: String, invitation: String?, pin: String?) {
        let halves = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (link, pin) = (halves.first ?? "", halves.count > 1 ? halves.last : nil)
        if let pin, PublicKeyPin(pin) == nil {
            throw Failure(.usage, "'#\(pin)' at the end of the link is not a key; copy the whole link")
        }
        guard let path = link.firstRange(of: "/invite/") else { return (link, nil, pin) }
        return (String(link[..<path.lowerBound]), link, pin)
    }

    private func token(_ context: Context, _ signIn: SignIn) async throws -> String {
        if tokenStdin {
            if context.terminal.isInputTerminal {
                return try Token.check(context.input.readSecret("Token: "), "the token")
            }
            let bytes = try context.input.readAll(1 << 16)
            return try Token.check(String(decoding: bytes, as: UTF8.self), "the token on standard input")
        }
        let browser = noBrowser ? nil : context.browser
        let hasTerminal = context.terminal.isInputTerminal
        guard browser != nil || noBrowser || hasTerminal else {
            throw Failure(
                .usage, "no browser and no terminal to sign in with; use --no-browser or --token-stdin")
        }
        try await signIn.look()
        if let browser, let token = try await signIn.through(browser) { return token }
        if let token = try await signIn.byShortCode() { return token }
        guard hasTerminal else {
            throw Failure(.usage, "this server has no short codes and there is no terminal; use --token-stdin")
        }
        return try await signIn.byCode()
    }
}
