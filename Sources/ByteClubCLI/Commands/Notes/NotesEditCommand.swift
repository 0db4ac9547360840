import ArgumentParser

/// The command `byteclub notes edit NAME`.
struct NotesEditCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edit a note in your editor; a new one if there is none.",
        discussion: """
            Runs the command in VISUAL, else EDITOR, else vi. What somebody else saved in the meantime is merged with \
            your text line by line. If both changed the same lines, your text is stored beside the note as a conflict \
            copy, both names are printed, and the exit code is 75. Text that cannot be saved is kept on this machine: \
            --recover resumes editing it, --discard deletes it.

            Examples:
              byteclub notes edit trip.md
              VISUAL='code --wait' byteclub notes edit trip.md
              byteclub notes edit trip.md --recover
            """)

    @Argument(help: "The note's name.", completion: .names)
    var name: String

    @Flag(help: "Resume editing the text that an earlier edit left on this machine.")
    var recover = false

    @Flag(help: "Delete the text that an earlier edit left on this machine.")
    var discard = false

    @OptionGroup var options: RemoteOptions

    func validate() throws {
        if recover, discard { throw ValidationError("--recover and --discard cannot be combined") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: options.connection.settings)
        let path = try EntryPath.newNote(name, login)
        let start: NoteEditing.Start = recover ? .recover : discard ? .discard : .fresh
        let editing = NoteEditing(context: context, login: login, path: path)
        let result = try await editing.run(start)
        try context.print(result, json: options.output.json)
        if case .conflict = result.outcome { throw Failure.silent(.tryAgain) }
    }
}
