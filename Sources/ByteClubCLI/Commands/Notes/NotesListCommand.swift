import ArgumentParser
import ByteClubCore

/// The command `byteclub notes list [FOLDER]`.
struct NotesListCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the notes: name, size and date.",
        discussion: """
            Folders come first, with a trailing slash and, if the server has counted them, the number of notes below \
            them. The date is the note's own, in local time; the time of upload is in 'notes history' and in JSON. To \
            a pipe or file, prints one line for each folder and note: name and, for notes, bytes and date (RFC 3339), \
            separated by tabs. \(EntryObject.help)

            Examples:
              byteclub notes list --sort date --limit 10
              byteclub notes list Trips --recursive
              byteclub notes list --deleted
            """)

    @Argument(help: ArgumentHelp("A folder in the shared folder.", valueName: "path"), completion: .names)
    var path: String?

    @OptionGroup var listing: ListingOptions
    @OptionGroup var options: RemoteOptions

    func run(in context: Context) async throws {
        let listing = NoteListing(
            path: path, listing: listing.listing, arrangement: listing.arrangement,
            settings: options.connection.settings,
            isJSON: options.output.json)
        try await listing.show(in: context)
    }
}

/// A list of notes; by default of the whole notes' folder.
struct NoteListing: Sendable {
    /// Another folder, as typed.
    var path: String?
    var listing = FolderListing(hasFolders: true)
    var arrangement = ListingArrangement()
    var settings = Settings()
    var isJSON = false

    /// Requests and prints the list.
    func show(in context: Context) async throws {
        // The argument, not the option '--folder', which is the shared folder.
        let login = try context.login(flags: settings)
        let folder = try path.map { try EntryPath.entry($0, login) } ?? login.notes
        let isOfPhotos = try Self.isOfPhotos(folder, login)
        let isNote = { @Sendable (entry: Metadata) in entry.isFolder || !isOfPhotos || !entry.isPhoto }
        let listing = try self.listing(of: folder, login)
        let wantsCounts = isJSON || context.terminal.isOutputTerminal
        let (found, counts) = try await context.withRemote(login) { remote in
            let found = try await listing.entries(of: folder, remote, where: isNote)
            if found == nil, let there = try await EntryRemoval.present(folder, remote), !there.isFolder {
                throw Failure(.badData, "'\(Failure.line(path ?? there.path.name))' is a note, not a folder")
            }
            let counts =
                wantsCounts && FolderListing.haveFolders(found)
                ? await listing.counts(in: folder, remote, where: isNote) : nil
            return (found, counts)
        }
        if found == nil, let path { throw Failure(.noInput, "no folder named '\(Failure.line(path))'") }
        let list = arrangement.list(
            found ?? [], below: login.notes, context.calendar, folders: .init(counts: counts, noun: "note"))
        try context.print(list, json: isJSON)
        if list.entries.isEmpty, list.folders.entries.isEmpty { context.noteEmpty(emptiness(isOfPhotos)) }
    }

    /// The note for an empty list.
    private func emptiness(_ isOfPhotos: Bool) -> String {
        if listing.isDeleted { return "no removed notes" + listing.hint }
        if isOfPhotos { return "no notes here; 'byteclub photos list' lists the photos" }
        return path.map { "no notes in '\(Failure.line($0))' yet" }
            ?? "no notes yet; 'byteclub notes add NAME' creates one"
    }

    private static func isOfPhotos(_ folder: RemotePath, _ login: Login) throws -> Bool {
        let photos = try login.photos
        return folder.key == photos.key || folder.key.isBelow(photos.key)
    }

    /// Excludes the photos' folder, unless the listing is of that folder.
    private func listing(of folder: RemotePath, _ login: Login) throws -> FolderListing {
        var listing = listing
        listing.excluded = try Self.isOfPhotos(folder, login) ? nil : login.photos
        return listing
    }

    /// The number of notes in all folders of the club, as in `notes list --recursive`.
    static func count(_ login: Login, _ remote: any Remote) async throws -> Int {
        let all = try NoteListing(listing: FolderListing(isRecursive: true)).listing(of: login.notes, login)
        return try await all.entries(of: login.notes, remote)?.count ?? 0
    }
}
