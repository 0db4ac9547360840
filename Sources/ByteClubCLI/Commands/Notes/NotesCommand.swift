import ArgumentParser

/// Does what `byteclub notes …` asks for.
struct NotesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes",
        abstract: "List, read, edit and find notes.",
        discussion: """
            Notes are the files in the shared folder; name those in folders by path, as in Trips/plan.md.

            Examples:
              byteclub notes list
              byteclub notes add trip.md < trip.md
              EDITOR=nano byteclub notes edit trip.md
            """,
        subcommands: [
            NotesListCommand.self, NotesShowCommand.self, NotesAddCommand.self, NotesEditCommand.self,
            NotesRemoveCommand.self, NotesSearchCommand.self, NotesHistoryCommand.self, NotesRestoreCommand.self,
            NotesAppendCommand.self, NotesMoveCommand.self,
        ])
}
