import ArgumentParser

/// Does what `byteclub serve …` asks for.
struct ServeCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Host a club on this machine (runs byteclub-server).",
        usage: "byteclub serve [<arguments of byteclub-server> ...]",
        discussion: """
            Example:
              byteclub serve --data /srv/club --listen 127.0.0.1:8080
            """)

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Handed on untouched.", valueName: "arguments"))
    var arguments: [String] = []

    func run(in context: Context) async throws {
        try SiblingProgram.server.become(["serve"] + arguments, context)
    }
}
