import ArgumentParser
import ByteClubCore

/// The command `byteclub whoami`.
struct WhoAmICommand: RemoteCommand, QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami", abstract: "Show which member of which club you are, and your role.")

    @OptionGroup var options: RemoteOptions

    /// The member and the server.
    struct Result: CommandResult {
        var server: String
        var account: Account
        /// The club's name; nil when the server does not send it.
        var club: String?

        init(server: String, account: Account) {
            (self.server, self.account, club) = (server, account, account.extensions?.club)
        }

        func text(_ style: TextStyle) -> String {
            let used = HumanSize.shown(account.quotaInfo.used)
            let isLimited = 1..<Account.Quota.unlimited ~= account.quotaInfo.quota
            let of = isLimited ? " of \(HumanSize.shown(account.quotaInfo.quota))" : ""
            let role = account.role.map { " (\($0))" } ?? ""
            let club = club.map { " of \($0)" } ?? ""
            return style.lines(["\(account.displayName)\(role)\(club) at \(server), \(used)\(of) used"])
        }
    }

    func answer(_ login: Login, _ context: Context) async throws -> Result {
        let account = try await context.withRemote(login) { try await $0.account() }
        return Result(server: login.server.origin, account: account)
    }
}

/// The command `byteclub logout`.
struct LogoutCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Sign out on this machine, and revoke its token.",
        discussion: """
            If the server cannot be reached, the token stays valid there: revoke it on your account page, at the \
            server's address in a browser. Other machines stay signed in.
            """)

    @OptionGroup var outputOptions: OutputOptions

    /// Whether a login was stored.
    struct Result: CommandResult {
        var wasLoggedIn: Bool

        private enum CodingKeys: String, CodingKey { case wasLoggedIn = "was_logged_in" }

        func text(_ style: TextStyle) -> String { wasLoggedIn ? "signed out" : "you were not signed in" }
    }

    func run(in context: Context) async throws {
        let stored = try? context.credentials.load()
        // Removed before the request, so that the token is gone even if the server cannot be reached.
        let wasLoggedIn = try context.credentials.remove()
        if let stored { await Self.disable(stored, context) }
        try context.print(Result(wasLoggedIn: wasLoggedIn), json: outputOptions.json)
    }

    private static func disable(_ stored: Credentials, _ context: Context) async {
        do {
            let login = try Login(settings: Settings(), credentials: stored)
            try await context.interrupts.cancelling { try await context.connector.disable(login) }
        } catch let error as RemoteError where error.code == .unauthorized {
            // It was useless already.
        } catch {
            let advice = "revoke it at \(stored.server)"
            context.note("the token is still valid on the server: \(Failure(error).message); \(advice)")
        }
    }
}
