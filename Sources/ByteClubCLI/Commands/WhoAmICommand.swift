import ArgumentParser
import ByteClubCore

/// Does what `byteclub whoami` asks for.
struct WhoAmICommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami", abstract: "Show which member of which club you are, and your role.")

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    /// Who one is, and where.
    struct Result: CommandResult {
        var server: String
        var account: Account
        /// The club's name; nil where the server tells none.
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

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let account = try await context.withRemote(login) { try await $0.account() }
        try context.print(Result(server: login.server.origin, account: account), json: outputOptions.json)
    }
}
