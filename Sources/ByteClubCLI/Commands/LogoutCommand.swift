import ArgumentParser
import ByteClubCore

/// Does what `byteclub logout` asks for.
struct LogoutCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Sign out on this machine, and revoke its token.",
        discussion: """
            If the server cannot be reached, the token stays valid there: revoke it on your account page, at the \
            server's address in a browser. Other machines stay signed in.
            """)

    @OptionGroup var outputOptions: OutputOptions

    /// What was forgotten.
    struct Result: CommandResult {
        var wasLoggedIn: Bool

        private enum CodingKeys: String, CodingKey { case wasLoggedIn = "was_logged_in" }

        func text(_ style: TextStyle) -> String { wasLoggedIn ? "signed out" : "you were not signed in" }
    }

    func run(in context: Context) async throws {
        let stored = try? context.credentials.load()
        // Whatever the server says or not, the token is gone from here.
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
