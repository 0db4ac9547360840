import ArgumentParser
import ByteClubCore

/// Does what `byteclub notes show NAME` asks for.
struct NotesShowCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print a note, byte for byte.",
        discussion: """
            On a terminal, what would drive it is spelled out, as in ^[; a pipe or a file gets the very bytes.

            Examples:
              byteclub notes show trip.md
              byteclub notes show trip.md --rev 1a00000001
            """)

    @Argument(help: "The note's name.")
    var name: String

    @Option(
        name: .customLong("rev"), help: ArgumentHelp("An older version, see 'notes history'.", valueName: "version"))
    var revision: String?

    @OptionGroup var connection: ConnectionOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let path = try EntryPath.note(name, login)
        let revision = try revision.map(RevisionArgument.read)
        let note = try await context.withRemote(login) {
            try await NoteContent.fetch(path, revision: revision, $0)
        }
        guard let note else {
            if let revision {
                throw Failure(
                    .noInput,
                    "'\(path.name(below: login.notes))' has no version \(revision); see 'byteclub notes history'")
            }
            throw EntryPath.missing("note", path.name(below: login.notes))
        }
        try context.output.write(note.bytes)
    }
}

/// A version as it is typed.
enum RevisionArgument {
    static func read(_ text: String) throws -> Revision {
        guard let revision = Revision(text) else {
            throw Failure(.badData, "'\(text)' is no version; see 'byteclub notes history NAME'")
        }
        return revision
    }

    /// Whether an error tells that there is no such version; a server with numbered versions refuses any other text.
    static func isMissing(_ revision: Revision, _ error: RemoteError) -> Bool {
        error.code == .notFound || error.code == .badRequest && JournalRevision(revision) == nil
    }
}
