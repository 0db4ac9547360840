import ArgumentParser
import ByteClubCore

/// The command `byteclub notes mv OLD NEW`.
struct NotesMoveCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "mv",
        abstract: "Rename or move a note.",
        discussion: """
            Never replaces a note. A new name that ends in '/' is a folder: the note moves there and keeps its name.

            Examples:
              byteclub notes mv trip.md 'Trip 2026.md'
              byteclub notes mv trip.md Trips/
            """)

    @Argument(help: "The note's name.", completion: .names)
    var name: String

    @Argument(
        help: ArgumentHelp("The new name, or a folder with a trailing '/'.", valueName: "new-name"),
        completion: .names)
    var destination: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let path = try EntryPath.note(name, login)
        let target = try EntryPath.newNote(
            destination.hasSuffix("/") ? destination + path.name : destination, login)
        let moved = try await context.withRemote(login) { remote in
            do {
                let current = try await remote.metadata(at: path)
                if current.isDeleted { throw EntryPath.missing("note", path.name(below: login.notes)) }
                if current.isFolder { throw EntryPath.folder("note", path.name(below: login.notes)) }
            } catch let error as RemoteError where error.code == .notFound {
                throw EntryPath.missing("note", path.name(below: login.notes))
            }
            return try await EntryMove.move(path, to: target, below: login.notes, kind: "note", remote)
        }
        try context.print(
            EntryChange(verb: "moved '\(path.name(below: login.notes))' to", entry: moved, folder: login.notes),
            json: outputOptions.json)
    }
}
