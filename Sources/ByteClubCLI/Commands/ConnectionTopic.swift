import ArgumentParser

/// What `byteclub help connection` tells: the options of all commands that speak with a server.
struct ConnectionTopic: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "connection",
        abstract: "The options with which commands reach the server, and the variables for them.",
        usage: "byteclub <command> [--server <url>] [--folder <path>] [<trust options>]",
        discussion: """
            Every command that speaks with a server takes these options. After 'byteclub login' none is needed. An \
            option beats the variable, which beats what the login stored.

            --server <url>     The server; else BYTECLUB_SERVER, else where you logged in.
            --folder <path>    Its shared folder; else BYTECLUB_FOLDER, else /byteclub.
            --ca-file <file>   Trust the authorities in this PEM file, not the system's.
            --pin <key>        Trust the server with this public key alone: sha256//…
            --insecure-http    Allow http to other machines: everyone on the way sees all.

            'login' takes the server as an argument, and of these the last three; it stores them with the login. \
            BYTECLUB_TOKEN is a token in place of the stored one.

            Examples:
              byteclub whoami --server https://club.example
              byteclub notes list --server https://192.168.1.5:8443 --ca-file club.pem
            """)

    /// The line of a help whose command takes the options; nil for one that does not.
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
