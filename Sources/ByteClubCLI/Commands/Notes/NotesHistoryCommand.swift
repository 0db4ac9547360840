import ArgumentParser
import ByteClubCore

/// Does what `byteclub notes history NAME` asks for.
struct NotesHistoryCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List a note's versions, newest first: version, size and date.",
        discussion: "Print one with 'notes show NAME --rev VERSION', bring it back with 'notes restore NAME VERSION'.")

    @Argument(help: "The note's name.")
    var name: String

    @Option(help: "The most versions to list, 1 to 1000.")
    var limit = 100

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let path = try EntryPath.note(name, login)
        let limit = limit
        let versions = try await context.withRemote(login) { remote in
            do {
                return try await remote.revisions(of: path, limit: limit)
            } catch let error as RemoteError where error.code == .notFound {
                throw EntryPath.missing("note", path.name)
            }
        }
        try context.print(VersionList(versions: versions), json: outputOptions.json)
    }
}
