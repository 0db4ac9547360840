import ArgumentParser
import ByteClubCore

/// Does what `byteclub notes mv OLD NEW` asks for.
struct NotesMoveCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "mv",
        abstract: "Rename or move a note.",
        discussion: """
            Nothing is replaced. What ends in '/' is a folder, which the note goes into under its own name.

            Examples:
              byteclub notes mv trip.md 'Trip 2026.md'
              byteclub notes mv trip.md Trips/
            """)

    @Argument(help: "The note's name.", completion: .names)
    var name: String

    @Argument(
        help: ArgumentHelp("Its new name, or a folder with '/' at the end.", valueName: "new-name"),
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
                if current.isFolder {
                    throw Failure(.badData, "'\(path.name(below: login.notes))' is a folder, not a note")
                }
                return try await remote.move(path, to: target)
            } catch let error as RemoteError where error.code == .notFound {
                throw EntryPath.missing("note", path.name(below: login.notes))
            } catch let error as RemoteError where error.code == .forbidden && !error.isOfRole {
                throw Failure(.cannotCreate, "there is a note '\(target.name(below: login.notes))' already")
            }
        }
        try context.print(
            EntryChange(verb: "moved '\(path.name(below: login.notes))' to", entry: moved, folder: login.notes),
            json: outputOptions.json)
    }
}
