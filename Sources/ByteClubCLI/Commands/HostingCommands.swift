import ArgumentParser

/// Does what `byteclub backup …` asks for.
struct BackupCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a club's data on the server's machine (runs byteclub-server).",
        usage: "byteclub backup --data <dir> <target>",
        discussion: """
            'byteclub-server restore' makes a data directory of such a copy.

            Example:
              byteclub backup --data /srv/club /srv/club-backup
            """)

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Handed on untouched.", valueName: "arguments"))
    var arguments: [String] = []

    func run(in context: Context) async throws {
        try SiblingProgram.server.become(["backup"] + arguments, context)
    }
}

/// Does what `byteclub verify …` asks for.
struct VerifyCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a club's data on the server's machine (runs byteclub-server).",
        usage: "byteclub verify --data <dir> [--json]",
        discussion: "'byteclub sync verify' compares a mirror with the server.")

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Handed on untouched.", valueName: "arguments"))
    var arguments: [String] = []

    func run(in context: Context) async throws {
        try SiblingProgram.server.become(["verify"] + arguments, context)
    }
}

/// Does what `byteclub apps …` asks for.
struct AppsCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "Register programs that ask members for access (runs byteclub-server).",
        usage: "byteclub apps add|list|remove [<arguments> ...]")

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Handed on untouched.", valueName: "arguments"))
    var arguments: [String] = []

    func run(in context: Context) async throws {
        try SiblingProgram.server.become(["apps"] + arguments, context)
    }
}
