import ArgumentParser
import ByteClubCore

/// Does what `byteclub notes restore NAME [VERSION]` asks for.
struct NotesRestoreCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a removed note or an older version, as a new version.",
        discussion: """
            Removed notes are listed by 'byteclub notes list --deleted', versions by 'byteclub notes history NAME'.
            """)

    @Argument(help: "The note's name.", completion: .names)
    var name: String

    @Argument(
        help: ArgumentHelp("The version; else the last one of a note that was removed.", valueName: "version"))
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
