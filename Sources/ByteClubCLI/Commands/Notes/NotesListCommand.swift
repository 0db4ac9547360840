import ArgumentParser
import ByteClubCore

/// Does what `byteclub notes list [FOLDER]` asks for.
struct NotesListCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the notes: name, size and date.",
        discussion: """
            Into a pipe or a file goes one line for each note: name, bytes and date (RFC 3339), separated by tabs. \
            \(EntryObject.help)

            Examples:
              byteclub notes list --sort date --limit 10
              byteclub notes list Trips --recursive
              byteclub notes list --deleted
            """)

    @Argument(help: ArgumentHelp("A folder in the shared folder.", valueName: "path"), completion: .names)
    var path: String?

    @OptionGroup var listing: ListingOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let listing = NoteListing(
            path: path, listing: listing.listing, arrangement: listing.arrangement, settings: connection.settings,
            isJSON: outputOptions.json)
        try await listing.show(in: context)
    }
}

/// A list of notes; without more, of all in the notes' folder.
struct NoteListing: Sendable {
    /// Another folder, as it was typed.
    var path: String?
    var listing = FolderListing()
    var arrangement = ListingArrangement()
    var settings = Settings()
    var isJSON = false

    /// Asks the server, and prints what it has.
    func show(in context: Context) async throws {
        // Not '--folder', which is the shared folder.
        let login = try context.login(flags: settings)
        let folder = try path.map { try EntryPath.entry($0, login) } ?? login.notes
        let found = try await context.withRemote(login) { try await entries(of: folder, login, $0) }
        if found == nil, let path { throw Failure(.noInput, "there is no folder '\(Failure.line(path))'") }
        let list = arrangement.list(found ?? [], below: login.notes)
        try context.print(list, json: isJSON)
        if !list.entries.isEmpty { return }
        context.noteEmpty(
            listing.isDeleted ? "no notes were removed" : "no notes yet; 'byteclub notes add NAME' makes one")
    }
    /// What the list has before it is put in order; nil when there is no such folder.
    func entries(of folder: RemotePath, _ login: Login, _ remote: any Remote) async throws -> [Metadata]? {
        let photos = try login.photos
        var listing = listing
        listing.excluded = folder.key == photos.key || folder.key.isBelow(photos.key) ? nil : photos
        return try await listing.entries(of: folder, remote)
    }

    /// How many notes the club has in all folders, as `notes list --recursive` lists them.
    static func count(_ login: Login, _ remote: any Remote) async throws -> Int {
        let all = NoteListing(listing: FolderListing(isRecursive: true))
        return try await all.entries(of: login.notes, login, remote)?.count ?? 0
    }
}
