import ArgumentParser
import ByteClubCore

/// Does what `byteclub notes search WORDS` asks for.
struct NotesSearchCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find notes whose names hold all of some words.",
        discussion: """
            Example:
              byteclub notes search trip 2026
            """)

    @Argument(help: "The words, in any order and case.")
    var words: [String]

    @Option(help: "The most notes to list, 1 to 1000.")
    var limit = 1000

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000") }
    }

    func run(in context: Context) async throws {
        let query = words.joined(separator: " ")
        guard query.utf8.contains(where: { $0 > 0x20 }) else { throw Failure(.usage, "there is no word to search for") }
        let login = try context.login(flags: connection.settings)
        let limit = limit
        let found = try await context.withRemote(login) { remote in
            try await remote.search(login.notes, query: query, limit: limit)
        }
        let notes = found.filter { !$0.isFolder && !$0.isDeleted && $0.path.parent?.key == login.notes.key }
        if notes.isEmpty { context.noteEmpty("no note has '\(query)' in its name") }
        try context.print(EntryList(entries: notes, folder: login.notes), json: outputOptions.json)
    }
}
