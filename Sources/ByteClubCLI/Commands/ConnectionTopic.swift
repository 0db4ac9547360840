import ArgumentParser

/// The topic `byteclub help connection`: options of all commands that contact the server.
struct ConnectionTopic: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "connection",
        abstract: "Options for connecting to the server, and their environment variables.",
        usage: "byteclub <command> [--server <url>] [--folder <path>] [<trust options>]",
        discussion: """
            Every command that contacts the server takes these options; after 'byteclub login' none is needed. An \
            option overrides its environment variable, which overrides the stored login.

            --server <url>     The server; default: BYTECLUB_SERVER, else the stored login.
            --folder <path>    Its shared folder; default: BYTECLUB_FOLDER, else /byteclub.
            --ca-file <file>   Trust the CAs in this PEM file instead of the system's.
            --pin <key>        Trust only the server with this public key: sha256//…
            --insecure-http    Allow plain HTTP to other machines, readable on the way.

            'login' takes the server as an argument and the last three of these options, and stores them with the \
            login. BYTECLUB_TOKEN is used instead of the stored token.

            Examples:
              byteclub whoami --server https://club.example
              byteclub notes list --server https://192.168.1.5:8443 --ca-file club.pem
            """)

    /// A reference for the help of a command with connection options; nil for other commands.
    static func reference(in arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = RootCommand.self
        for word in arguments where word != "help" {
            guard let next = UnknownCommand.commands(of: command).first(where: { $0.name == word }) else { continue }
            command = next.type
        }
        if command == Self.self || command == RootCommand.self { return nil }
        guard command.helpMessage(includeHidden: true).contains("--insecure-http") else { return nil }
        return "CONNECTION OPTIONS: see 'byteclub help connection'"
    }

    func run(in context: Context) async throws { try context.output.line(Self.helpMessage(columns: 80)) }
}
