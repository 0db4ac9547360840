import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos list` asks for.
struct PhotosListCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the photos: name, kind, pixels, size, date and place.",
        discussion: """
            The date is when the photo was taken, else that of the file that was uploaded. What the server is still to \
            find out is a dash. Into a pipe or a file goes one line for each photo: name, bytes and the file's date \
            (RFC 3339), separated by tabs, and from servers that tell them kind, pixels, when it was taken, and \
            latitude and longitude. \(EntryObject.help) A photo's photo has kind, width, height, hFOV, vFOV, taken, \
            latitude and longitude as far as the server knows them, or pending.

            Examples:
              byteclub photos list --sort date
              byteclub photos list --kind sphere,strip --thumbs
              byteclub photos list --deleted
            """)

    @Option(
        help: ArgumentHelp("Only photos of these kinds: \(PhotoKindFilter.words).", valueName: "kinds"))
    var kind: PhotoKindFilter?

    @Flag(help: "Draw each photo below its line, on a terminal.")
    var thumbs = false

    @OptionGroup var listing: ListingOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        if thumbs, outputOptions.json || listing.deleted {
            throw ValidationError("--thumbs goes with neither --json nor --deleted")
        }
        if kind != nil, listing.deleted { throw ValidationError("--kind does not go with --deleted") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let photos = try login.photos
        var listing = listing.listing()
        listing.hasMediaInfo = true
        let search = listing
        var found = try await context.withRemote(login) { remote in
            try await search.entries(of: photos, remote) { $0.isFolder || $0.isPhoto } ?? []
        }
        if let kind {
            let kept = try kind.filter(found)
            if kept.pending > 0 {
                context.note("\(kept.pending) more are still to be looked at by the server; list them again later")
            }
            found = kept.photos
        }
        let list = PhotoList(photos: self.listing.list(found, below: photos, dates: .taken).entries, folder: photos)
        let canvas = thumbs ? try await context.pictureCanvas(nil) : nil
        if let canvas, canvas.way != .none {
            try await context.withRemote(login) { remote in
                try await PhotoShow(context: context, remote: remote, folder: photos, canvas: canvas).list(list)
            }
        } else {
            try context.print(list, json: outputOptions.json)
        }
        if !list.photos.isEmpty { return }
        context.noteEmpty(
            self.listing.deleted
                ? "no photos were removed"
                : kind != nil ? "no photos of this kind" : "no photos yet; 'byteclub photos upload FILE' sends one")
    }
}
