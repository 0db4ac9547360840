import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos albums` asks for.
struct PhotosAlbumsCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "albums", abstract: "List the albums: name, number of photos, and the newest one's date.",
        discussion: """
            An album is a folder of the photos that has photos in it, in whatever depth. Into a pipe or a file goes \
            one line for each: name, number and date (RFC 3339), separated by tabs. With --json an album is an object \
            with name, path, type (folder), count and newest.

            Examples:
              byteclub photos albums
              byteclub photos list 'Trip 2026'
              byteclub photos upload ~/Pictures/trip --album 'Trip 2026'
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let folder = try login.photos
        let photos = try await context.withRemote(login) { remote in
            try await FolderListing(isRecursive: true, hasMediaInfo: true)
                .entries(of: folder, remote, where: \.isPhoto) ?? []
        }
        let list = AlbumList(of: photos, below: folder)
        try context.print(list, json: outputOptions.json)
        if list.albums.isEmpty {
            context.noteEmpty("no albums yet; 'byteclub photos upload DIR --album NAME' makes one")
        }
    }
}

/// The folders that have photos.
struct AlbumList: CommandResult {
    /// A folder with photos in it.
    struct Album: Sendable {
        /// Where it is.
        let path: RemotePath
        /// How many photos are in it, those in its folders not counted.
        var count = 0
        /// The photo that was taken last.
        var newest: Metadata
    }

    /// The albums in the order of their names.
    let albums: [Album]
    /// The folder below which they are named.
    let folder: RemotePath
    var isVisible: Bool { true }

    /// Gathers photos by the folders that they are in, but for those in no folder below `folder`.
    init(of photos: [Metadata], below folder: RemotePath) {
        var albums: [PathKey: Album] = [:]
        for photo in photos {
            guard let path = photo.path.parent, path.key.isBelow(folder.key) else { continue }
            var album = albums[path.key] ?? Album(path: path, newest: photo)
            album.count += 1
            if Self.date(album.newest) < Self.date(photo) { album.newest = photo }
            albums[path.key] = album
        }
        self.folder = folder
        self.albums = albums.values.map { (name: NaturalOrder($0.path.name(below: folder)), album: $0) }
            .sorted { $0.name < $1.name }.map(\.album)
    }

    private static func date(_ photo: Metadata) -> Int64 { EntryDate.taken.of(photo)?.seconds ?? .min }

    /// Name, number and date in columns that fit the terminal; elsewhere separated by tabs.
    func text(_ style: TextStyle) -> String {
        var table = TextTable(.init("NAME", isShortened: true), .init("PHOTOS", .right), .init("NEWEST", rank: 1))
        table.rows = albums.map { album in
            let date =
                style.columns == nil
                ? style.date(EntryDate.taken.of(album.newest)) : PhotoList.date(album.newest, style)
            return [album.path.name(below: folder), String(album.count), date]
        }
        return style.list(table)
    }

    private struct Object: Encodable {
        var name: String
        var path: RemotePath
        var type = EntryObject.Kind.folder
        var count: Int
        var newest: String?
    }

    func encode(to encoder: any Encoder) throws {
        try albums.map { album in
            Object(
                name: album.path.name, path: album.path, count: album.count,
                newest: EntryDate.taken.of(album.newest).map { CalendarTime.utc($0.seconds).rfc3339 })
        }.encode(to: encoder)
    }
}
