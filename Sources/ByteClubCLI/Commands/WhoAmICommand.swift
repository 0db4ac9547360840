import ArgumentParser
import ByteClubCore

/// Does what `byteclub whoami` asks for.
struct WhoAmICommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami", abstract: "Tell which member of which club you are.")

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    /// Who one is, and where.
    struct Result: CommandResult {
        var server: String
        var account: Account

        func text(_ style: TextStyle) -> String {
            let used = HumanSize.text(account.quotaInfo.used)
            let isLimited = 1..<Account.Quota.unlimited ~= account.quotaInfo.quota
            let of = isLimited ? " of \(HumanSize.text(account.quotaInfo.quota))" : ""
            return "\(Failure.line(account.displayName)) at \(server), \(used)\(of) used"
        }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let account = try await context.withRemote(login) { try await $0.account() }
        try context.print(Result(server: login.server.origin, account: account), json: outputOptions.json)
    }
}
