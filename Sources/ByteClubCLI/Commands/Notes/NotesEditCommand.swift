import ArgumentParser

/// Does what `byteclub notes edit NAME` asks for.
struct NotesEditCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edit a note in your editor; a new one if there is none.",
        discussion: """
            Runs the command in VISUAL, else EDITOR, else vi. What somebody saved in the meantime is merged with your \
            text line by line. When both changed the same lines your text is stored beside the note as a conflict \
            copy, both names are printed, and the exit code is 75. When the text cannot be saved it is kept on this \
            machine; --recover goes on with it, --discard throws it away and does no more.

            Examples:
              byteclub notes edit trip.md
              VISUAL='code --wait' byteclub notes edit trip.md
              byteclub notes edit trip.md --recover
            """)

    @Argument(help: "The note's name.", completion: .names)
    var name: String

    @Flag(help: "Go on with the text that an earlier edit left on this machine.")
    var recover = false

    @Flag(help: "Throw away the text that an earlier edit left on this machine.")
    var discard = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        if recover, discard { throw ValidationError("--recover and --discard exclude each other") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let path = try EntryPath.note(name, login)
        let start: NoteEditing.Start = recover ? .recover : discard ? .discard : .fresh
        let editing = NoteEditing(context: context, login: login, path: path)
        let result = try await editing.run(start)
        try context.print(result, json: outputOptions.json)
        if case .conflict = result.outcome { throw Failure.silent(.tryAgain) }
    }
}
