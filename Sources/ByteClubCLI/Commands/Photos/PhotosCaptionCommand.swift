import ArgumentParser
import ByteClubCore

/// The command `byteclub photos caption NAME [TEXT]`.
struct PhotosCaptionCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "caption", abstract: "Show or set a photo's caption.",
        discussion: """
            The caption is a note beside the photo, with the photo's name and .md appended, and syncs as notes do. An \
            empty text removes it.

            Examples:
              byteclub photos caption ridge.jpg "An hour before the storm."
              byteclub photos caption ridge.jpg --edit
            """)

    @Argument(help: "The photo's name.", completion: .names)
    var name: String

    @Argument(help: "The caption; printed if omitted.")
    var text: String?

    @Flag(help: "Edit the caption's note in your editor, as 'byteclub notes edit' does.")
    var edit = false

    @OptionGroup var options: RemoteOptions

    func validate() throws {
        if edit, text != nil { throw ValidationError("--edit and a text cannot be combined") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: options.connection.settings)
        let path = try EntryPath.photo(name, login)
        if edit {
            _ = try await context.withRemote(login) { try await PhotoShow.metadata(of: path, $0) }
            let note = try PhotoCaption.path(of: path)
            let result = try await NoteEditing(context: context, login: login, path: note).run(.fresh)
            try context.print(result, json: options.output.json)
            if case .conflict = result.outcome { throw Failure.silent(.tryAgain) }
            return
        }
        let text = text
        let note = try await context.withRemote(login) { remote in
            var note = try await PhotoNote(ofExisting: path, remote)
            if let text {
                note.caption.text = text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
                try await note.save(remote)
            }
            return note
        }
        let name = path.name(below: try login.photos)
        let done = text.map { $0.isEmpty ? "removed the caption of '\(name)'" : "saved the caption of '\(name)'" }
        try context.print(PhotoNoteResult(photo: path, note: note, done: done), json: options.output.json)
        if text == nil, note.text.isEmpty { context.noteEmpty("'\(name)' has no caption") }
    }
}

/// A photo's caption and view; as JSON an object with path, caption and view.
struct PhotoNoteResult: CommandResult {
    var photo: RemotePath
    var note: PhotoNote
    /// The change; nil when the caption was only read.
    var done: String?

    func text(_ style: TextStyle) -> String { done.map { Failure.line($0) } ?? note.text }

    private enum CodingKeys: String, CodingKey { case path, caption, view }

    func encode(to encoder: any Encoder) throws {
        var box = encoder.container(keyedBy: CodingKeys.self)
        try box.encode(photo, forKey: .path)
        try box.encode(note.text, forKey: .caption)
        try box.encodeIfPresent(note.caption.view?.rawValue, forKey: .view)
    }
}
