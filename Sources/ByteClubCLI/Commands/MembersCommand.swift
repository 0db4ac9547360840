import ArgumentParser

/// Does what `byteclub members …` asks for.
struct MembersCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "members",
        abstract: "Manage members on the server's machine (runs byteclub-server).",
        usage: "byteclub members invite|add|list|remove|role|password [<arguments> ...]",
        discussion: """
            Example:
              byteclub members add ada --data /srv/club
            """)

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Handed on untouched.", valueName: "arguments"))
    var arguments: [String] = []

    func run(in context: Context) async throws {
        try SiblingProgram.server.become(["members"] + arguments, context)
    }
}
