import ArgumentParser
import ByteClubCore

/// The command `byteclub notes show NAME`.
struct NotesShowCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print a note, byte for byte.",
        discussion: """
            On a terminal, headings are bold, control characters are made visible, as in ^[, and the photos that the \
            note shows, as in ![The ridge](photos/ridge.jpg), are drawn in their places, the first 20 of them, without \
            a pager; see 'byteclub photos show --help'. --as none prints the text only. A pipe or file gets the exact \
            bytes, unless --as is given. With -o the file gets the note's date, and its name is printed.

            Examples:
              byteclub notes show trip.md
              byteclub notes show trip.md --rev 1a00000001
              byteclub notes show trip.md --as none
              byteclub notes show trip.md -o ~/trip.md
            """)

    @Argument(help: "The note's name.", completion: .names)
    var name: String

    @Option(
        name: .customLong("rev"), help: ArgumentHelp("An older version; see 'notes history'.", valueName: "version"))
    var revision: String?

    @Option(
        name: [.short, .customLong("output")], help: ArgumentHelp("Write to this file.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "With -o, replace an existing file.")
    var force = false

    @Option(help: "How to draw photos; default: what this terminal supports.")
    var `as`: PictureWay?

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if self.as != nil, output != nil { throw ValidationError("--as cannot be combined with -o") }
        if force, output == nil { throw ValidationError("--force requires -o") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let path = try EntryPath.note(name, login)
        let revision = try revision.map(RevisionArgument.read)
        let file = try output.map { try OutputFile($0, isForced: force) }
        let (note, remote) = try await context.withRemote(login) { remote in
            if let note = try await NoteContent.fetch(path, revision: revision, remote) { return (note, remote) }
            guard let revision else {
                throw await EntryPath.refusal("note", path, below: login.notes, remote)
            }
            let name = path.name(below: login.notes)
            throw Failure(
                .noInput,
                "no version \(revision) of '\(Failure.line(name))'; see "
                    + ShellWord.command("byteclub notes history", name))
        }
        guard let file else { return try await show(note.bytes, at: path, login, remote, context) }
        try await file.write { temporary in
            try LocalFile.createSynced(temporary, note.bytes, mode: 0o644)
            try LocalFile.complete(temporary, as: note.metadata)
        }
        try context.output.line(file.path)
    }

    private func show(
        _ bytes: [UInt8], at path: RemotePath, _ login: Login, _ remote: any Remote, _ context: Context
    ) async throws {
        guard context.terminal.isOutputTerminal || self.as != nil else {
            return try context.showing { try context.output.write(bytes) }
        }
        let note = ShownNote(bytes, at: path)
        if note.hasPictures {
            let canvas = try await context.pictureCanvas(self.as)
            if canvas.way != .none {
                return try await context.using(remote, of: login, mayTakeLong: true) { remote in
                    try await note.draw(in: context, canvas, remote)
                }
            }
        }
        try context.showing { try note.write(in: context) }
    }
}

/// A version as typed.
enum RevisionArgument {
    static func read(_ text: String) throws -> Revision {
        guard let revision = Revision(text) else {
            throw Failure(.badData, "'\(text)' is not a version; see 'byteclub notes history NAME'")
        }
        return revision
    }

    /// Whether an error means that there is no such version; a server with numbered versions rejects other texts.
    static func isMissing(_ revision: Revision, _ error: RemoteError) -> Bool {
        error.code == .notFound || error.code == .badRequest && JournalRevision(revision) == nil
    }
}
