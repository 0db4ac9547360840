import ArgumentParser

/// Does what `byteclub notes rm NAME...` asks for.
struct NotesRemoveCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove notes; their texts stay in the history.",
        discussion: """
            Example:
              byteclub notes rm old.md
              byteclub notes list --deleted
              byteclub notes restore old.md
            """)

    @Argument(help: "The notes' names.", completion: .names)
    var names: [String]

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let paths = try names.map { try EntryPath.note($0, login) }
        try await context.remove(paths, below: login.notes, kind: "note", login, json: outputOptions.json)
    }
}
