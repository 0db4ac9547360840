import ArgumentParser
import ByteClubCore

/// The command `byteclub notes show NAME`.
struct NotesShowCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print a note, byte for byte.",
        discussion: """
            On a terminal, control characters are made visible, as in ^[; a pipe or file gets the exact bytes. With \
            -o the file gets the note's date, and its name is printed.

            Examples:
              byteclub notes show trip.md
              byteclub notes show trip.md --rev 1a00000001
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

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if force, output == nil { throw ValidationError("--force requires -o") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let path = try EntryPath.note(name, login)
        let revision = try revision.map(RevisionArgument.read)
        let file = try output.map { try OutputFile($0, isForced: force) }
        let note = try await context.withRemote(login) { remote in
            if let note = try await NoteContent.fetch(path, revision: revision, remote) { return note }
            guard let revision else {
                throw await EntryPath.refusal("note", path, below: login.notes, remote)
            }
            let name = path.name(below: login.notes)
            throw Failure(
                .noInput,
                "no version \(revision) of '\(Failure.line(name))'; see "
                    + ShellWord.command("byteclub notes history", name))
        }
        guard let file else { return try context.showing { try context.output.write(note.bytes) } }
        try await file.write { temporary in
            try LocalFile.createSynced(temporary, note.bytes, mode: 0o644)
            try LocalFile.complete(temporary, as: note.metadata)
        }
        try context.output.line(file.path)
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
