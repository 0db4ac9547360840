import ArgumentParser
import ByteClubCore

/// The command `byteclub notes mv OLD NEW`.
struct NotesMoveCommand: RemoteCommand {
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

    @OptionGroup var options: RemoteOptions

    func answer(_ login: Login, _ context: Context) async throws -> EntryChange {
        let path = try EntryPath.note(name, login)
        let target = try EntryPath.newNote(
            destination.hasSuffix("/") ? destination + path.name : destination, login)
        let name = path.name(below: login.notes)
        let moved = try await context.withRemote(login) { remote in
            _ = try await EntryRemoval.file(path, named: name, kind: "note", remote)
            return try await EntryMove.move(path, to: target, below: login.notes, kind: "note", remote)
        }
        return EntryChange(verb: "moved '\(name)' to", entry: moved, folder: login.notes)
    }
}
