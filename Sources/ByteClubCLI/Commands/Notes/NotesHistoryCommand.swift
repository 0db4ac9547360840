import ArgumentParser
import ByteClubCore

/// Does what `byteclub notes history NAME` asks for.
struct NotesHistoryCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List a note's versions, newest first: version, size, date and author.",
        discussion: """
            Print a version with 'notes show NAME --rev VERSION', restore it with 'notes restore NAME VERSION'. \
            \(EntryObject.help)
            """)

    @Argument(help: "The name of a note, existing or removed, as in Trips/plan.md.", completion: .names)
    var name: String

    @Option(help: "List at most this many versions, 1 to 1000.")
    var limit = 100

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        guard (1...EntryVersions.most).contains(limit) else { throw ValidationError("--limit must be 1 to 1000") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let note = EntryVersions(path: try EntryPath.note(name, login), folder: login.notes, kind: "note")
        let limit = limit
        let versions = try await context.withRemote(login) { try await note.list($0, limit: limit) }
        try context.print(VersionList(versions: versions), json: outputOptions.json)
    }
}
