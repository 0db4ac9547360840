import ArgumentParser
import ByteClubCore

/// The command `byteclub notes …`.
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

/// The command `byteclub notes rm NAME...`.
struct NotesRemoveCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove notes; their texts stay in the history.",
        discussion: """
            Example:
              byteclub notes rm old.md
              byteclub notes list --deleted
              byteclub notes restore old.md
            """)

    @Argument(help: "The notes' names.", completion: .names)
    var names: [String]

    @OptionGroup var options: RemoteOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: options.connection.settings)
        let paths = try names.map { try EntryPath.note($0, login) }
        try await context.remove(paths, below: login.notes, kind: "note", login, json: options.output.json)
    }
}

/// The command `byteclub notes restore NAME [VERSION]`.
struct NotesRestoreCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a removed note or an older version, as a new version.",
        discussion: """
            List removed notes with 'byteclub notes list --deleted', versions with 'byteclub notes history NAME'.
            """)

    @Argument(help: "The note's name.", completion: .names)
    var name: String

    @Argument(
        help: ArgumentHelp("The version; default: the last one of a removed note.", valueName: "version"))
    var revision: String?

    @OptionGroup var options: RemoteOptions

    func answer(_ login: Login, _ context: Context) async throws -> EntryChange {
        let note = try EntryVersions(ofNote: name, login)
        let revision = try revision.map(RevisionArgument.read)
        let restored = try await context.withRemote(login) { try await note.restore(revision, $0) }
        return EntryChange(verb: "restored", entry: restored, folder: note.folder)
    }
}

/// The command `byteclub notes history NAME`.
struct NotesHistoryCommand: HistoryCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List a note's versions, newest first: version, size, date and author.",
        discussion: """
            Print a version with 'notes show NAME --rev VERSION', restore it with 'notes restore NAME VERSION'. \
            \(EntryObject.help)
            """)

    @Argument(help: "The name of a note, existing or removed, as in Trips/plan.md.", completion: .names)
    var name: String

    @Option(help: "List at most this many versions, 1 to 1000.")
    var limit = 100

    @OptionGroup var options: RemoteOptions

    func entry(_ login: Login) throws -> EntryVersions { try EntryVersions(ofNote: name, login) }
}

/// A command that lists the versions of an entry.
protocol HistoryCommand: RemoteCommand, QueryCommand {
    /// The most versions to list.
    var limit: Int { get }

    /// The entry.
    func entry(_ login: Login) throws -> EntryVersions
}

extension HistoryCommand {
    func validate() throws {
        guard (1...EntryVersions.most).contains(limit) else { throw ValidationError("--limit must be 1 to 1000") }
    }

    func answer(_ login: Login, _ context: Context) async throws -> VersionList {
        let (entry, limit) = (try entry(login), limit)
        return VersionList(versions: try await context.withRemote(login) { try await entry.list($0, limit: limit) })
    }
}
