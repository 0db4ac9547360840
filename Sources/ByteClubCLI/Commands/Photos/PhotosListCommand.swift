import ArgumentParser
import ByteClubCore

/// The command `byteclub photos list [ALBUM]`.
struct PhotosListCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the photos: name, kind, pixels, size, date and place.",
        discussion: """
            Albums, the folders of photos, come first, with a trailing slash and, if the server has counted them, the \
            number of photos below them.

            TAKEN is the local time at the place where the photo was taken, whatever your time zone; photos without \
            it show CHANGED, the file's time in your time zone. --sort date uses the same times. A dash marks what \
            the server has not examined yet. To a pipe or file, prints one line for each photo: name, bytes and the \
            file's date (RFC 3339), separated by tabs, and, if the server supports it, kind, pixels, time taken, \
            latitude and longitude; a time taken has its UTC offset only if the photo has one. \(EntryObject.help) A \
            photo has the object photo, with kind, width, height, hFOV, vFOV, taken, latitude and longitude as far as \
            the server knows them, or pending.

            Examples:
              byteclub photos list --sort date
              byteclub photos list 'Trip 2026'
              byteclub photos list --kind sphere,strip --thumbs
              byteclub photos list --since 2026-08-01 --near 46.02,7.75,5
              byteclub photos list --deleted
            """)

    @Argument(help: ArgumentHelp("The album.", valueName: "album"), completion: .names)
    var album: String?

    @OptionGroup var choice: PhotoFilterOptions

    @Flag(help: "On a terminal, draw each photo below its line.")
    var thumbs = false

    @OptionGroup var listing: ListingOptions
    @OptionGroup var options: RemoteOptions

    func validate() throws {
        if thumbs, options.output.json || listing.deleted {
            throw ValidationError("--thumbs cannot be combined with --json or --deleted")
        }
        if let name = choice.names.first, listing.deleted {
            throw ValidationError("\(name) cannot be combined with --deleted")
        }
    }

    /// Fails for the name of a photo instead of an album.
    private static func checkAlbum(_ path: RemotePath, below photos: RemotePath, _ remote: any Remote) async throws {
        guard let there = try await EntryRemoval.present(path, remote), !there.isFolder, there.isPhoto else { return }
        let name = path.name(below: photos)
        throw Failure(
            .badData,
            "'\(Failure.line(name))' is a photo, not an album; see "
                + ShellWord.command("byteclub photos info", name))
    }

    func run(in context: Context) async throws {
        let filter = try choice.filter(now: context.now(), context.calendar)
        let login = try context.login(flags: options.connection.settings)
        let photos = try login.photos
        let folder = try album.map { try EntryPath.album($0, login) } ?? photos
        var listing = listing.listing
        listing.hasMediaInfo = true
        let (search, calendar) = (listing, context.calendar)
        let wantsCounts = options.output.json || context.terminal.isOutputTerminal
        let (found, pending, counts) = try await context.withRemote(login) { remote in
            if !filter.isEmpty {
                let (found, pending) = try await search.photos(of: folder, filter, remote, calendar)
                if found.isEmpty, album != nil { try await Self.checkAlbum(folder, below: photos, remote) }
                return (found, pending, [PathKey: Int]?.none)
            }
            let found = try await search.entries(of: folder, remote) { $0.isFolder || $0.isPhoto }
            if found == nil, let album {
                try await Self.checkAlbum(folder, below: photos, remote)
                throw Failure(
                    .noInput, "no album named '\(Failure.line(album))'; 'byteclub photos albums' lists all")
            }
            let counts =
                wantsCounts && FolderListing.haveFolders(found)
                ? await search.counts(in: folder, remote, where: \.isPhoto) : nil
            return (found ?? [], 0, counts)
        }
        if pending > 0 {
            context.note("\(pending) more have not been examined by the server yet; list again later")
        }
        let entries = self.listing.arrangement.list(
            found, below: photos, context.calendar, folders: .init(counts: counts, noun: "photo"))
        let list = PhotoList(photos: entries.entries, folder: photos, folders: entries.folders)
        let canvas = thumbs ? try await context.pictureCanvas(nil) : nil
        if let canvas, canvas.way != .none {
            try await context.withRemote(login) { remote in
                try await PhotoShow(
                    context: context, remote: remote, folder: photos, canvas: canvas,
                    reporter: ProgressReporter(context, display: .none, .download)
                ).list(list)
            }
        } else {
            try context.print(list, json: options.output.json)
        }
        if !list.photos.isEmpty || !list.folders.entries.isEmpty { return }
        context.noteEmpty(
            listing.isDeleted
                ? "no removed photos" + listing.hint
                : !filter.isEmpty
                    ? "no matching photos" + listing.hint
                    : album.map { "no photos in '\(Failure.line($0))' yet" }
                        ?? "no photos yet; 'byteclub photos upload FILE' uploads one")
    }
}
