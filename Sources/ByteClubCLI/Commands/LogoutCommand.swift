import ArgumentParser

/// Does what `byteclub logout` asks for.
struct LogoutCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Forget the token on this machine.",
        discussion: "The club's owner can make it useless everywhere with 'byteclub members remove'.")

    @OptionGroup var outputOptions: OutputOptions

    /// What was forgotten.
    struct Result: CommandResult {
        var wasLoggedIn: Bool

        private enum CodingKeys: String, CodingKey { case wasLoggedIn = "was_logged_in" }

        func text(_ style: TextStyle) -> String { wasLoggedIn ? "logged out" : "you were not logged in" }
    }

    func run(in context: Context) async throws {
        try context.print(Result(wasLoggedIn: context.credentials.remove()), json: outputOptions.json)
    }
}
