import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos list` asks for.
struct PhotosListCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the photos: name, kind, pixels, size, date and place.",
        discussion: """
            TAKEN is what the clock of the place showed when the photo was taken, whatever your zone; for photos that \
            do not say it there is CHANGED, the file's time by your clock. Both order photos with --sort date. What \
            the server is still to find out is a dash. Into a pipe or a file goes one line for each photo: name, bytes and the file's date \
            (RFC 3339), separated by tabs, and from servers that tell them kind, pixels, when it was taken, and \
            latitude and longitude; a time has its offset from UTC, or none where the photo says none. \(EntryObject.help) A photo's photo has kind, width, height, hFOV, vFOV, taken, \
            latitude and longitude as far as the server knows them, or pending.

            Examples:
              byteclub photos list --sort date
              byteclub photos list --kind sphere,strip --thumbs
              byteclub photos list --since 2026-08-01 --near 46.02,7.75,5
              byteclub photos list --deleted
            """)

    @OptionGroup var choice: PhotoFilterOptions

    @Flag(help: "Draw each photo below its line, on a terminal.")
    var thumbs = false

    @OptionGroup var listing: ListingOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        if thumbs, outputOptions.json || listing.deleted {
            throw ValidationError("--thumbs goes with neither --json nor --deleted")
        }
        if let name = choice.names.first, listing.deleted {
            throw ValidationError("\(name) does not go with --deleted")
        }
    }

    func run(in context: Context) async throws {
        let filter = try choice.filter(now: context.now(), context.calendar)
        let login = try context.login(flags: connection.settings)
        let photos = try login.photos
        var listing = listing.listing
        listing.hasMediaInfo = true
        let (search, calendar) = (listing, context.calendar)
        let (found, pending) = try await context.withRemote(login) { remote in
            if !filter.isEmpty { return try await search.photos(of: photos, filter, remote, calendar) }
            return (try await search.entries(of: photos, remote) { $0.isFolder || $0.isPhoto } ?? [], 0)
        }
        if pending > 0 {
            context.note("\(pending) more are still to be looked at by the server; list them again later")
        }
        let list = PhotoList(
            photos: self.listing.arrangement.list(found, below: photos, context.calendar).entries, folder: photos)
        let canvas = thumbs ? try await context.pictureCanvas(nil) : nil
        if let canvas, canvas.way != .none {
            try await context.withRemote(login) { remote in
                try await PhotoShow(
                    context: context, remote: remote, folder: photos, canvas: canvas,
                    reporter: ProgressReporter(context, display: .none, .download)
                ).list(list)
            }
        } else {
            try context.print(list, json: outputOptions.json)
        }
        if !list.photos.isEmpty { return }
        context.noteEmpty(
            self.listing.deleted
                ? "no photos were removed"
                : !filter.isEmpty ? "no such photos" : "no photos yet; 'byteclub photos upload FILE' sends one")
    }
}
