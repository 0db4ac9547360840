import ArgumentParser
import ByteClubCore

/// Does what `byteclub notes restore NAME [VERSION]` asks for.
struct NotesRestoreCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a removed note or an older version, as a new version.",
        discussion: """
            List removed notes with 'byteclub notes list --deleted', versions with 'byteclub notes history NAME'.
            """)

    @Argument(help: "The note's name.", completion: .names)
    var name: String

    @Argument(
        help: ArgumentHelp("The version; default: the last one of a removed note.", valueName: "version"))
    var revision: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let note = EntryVersions(path: try EntryPath.note(name, login), folder: login.notes, kind: "note")
        let revision = try revision.map(RevisionArgument.read)
        let restored = try await context.withRemote(login) { try await note.restore(revision, $0) }
        try context.print(EntryChange(verb: "restored", entry: restored, folder: note.folder), json: outputOptions.json)
    }
}
