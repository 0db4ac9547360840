import ArgumentParser
import ByteClubCore

/// The command `byteclub photos albums`.
struct PhotosAlbumsCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "albums", abstract: "List the albums: name, number of photos, and the newest one's date.",
        discussion: """
            An album is a folder of photos, at any depth. To a pipe or file, prints one line for each: name, number \
            and date (RFC 3339), separated by tabs. With --json an album is an object with name, path, type (folder), \
            count and newest.

            Examples:
              byteclub photos albums
              byteclub photos list 'Trip 2026'
              byteclub photos upload ~/Pictures/trip --album 'Trip 2026'
            """)

    @OptionGroup var options: RemoteOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: options.connection.settings)
        let folder = try login.photos
        let photos = try await context.withRemote(login) { remote in
            try await FolderListing(isRecursive: true, hasMediaInfo: true)
                .entries(of: folder, remote, where: \.isPhoto) ?? []
        }
        let list = AlbumList(of: photos, below: folder, context.calendar)
        try context.print(list, json: options.output.json)
        if list.albums.isEmpty {
            context.noteEmpty("no albums yet; 'byteclub photos upload DIR --album NAME' creates one")
        }
    }
}

/// The folders that have photos.
struct AlbumList: CommandResult {
    /// A folder that contains photos.
    struct Album: Sendable {
        /// Its path on the server.
        let path: RemotePath
        /// The number of photos directly in it.
        var count = 0
        /// The photo that was taken last.
        var newest: Metadata
        /// When that was, in the local time of its place.
        var day: APIDate?

        /// The same with its offset; else the time of the photo's file.
        var moment: String? { newest.photoInfo?.taken?.description ?? newest.fileDate?.rfc3339 }
    }

    /// The albums, sorted by name.
    let albums: [Album]
    /// The folder that names are relative to.
    let folder: RemotePath
    var isVisible: Bool { true }

    /// Groups photos by folder, without those directly in `folder`.
    init(of photos: [Metadata], below folder: RemotePath, _ calendar: (Int64) -> CalendarTime) {
        var albums: [PathKey: Album] = [:]
        for photo in photos {
            guard let path = photo.path.parent, path.key.isBelow(folder.key) else { continue }
            let date = photo.clock(calendar)
            var album = albums[path.key] ?? Album(path: path, newest: photo, day: date)
            album.count += 1
            if let date, album.day.map({ $0 < date }) ?? true { (album.newest, album.day) = (photo, date) }
            albums[path.key] = album
        }
        self.folder = folder
        self.albums = albums.values.map { (name: NaturalOrder($0.path.name(below: folder)), album: $0) }
            .sorted { $0.name < $1.name }.map(\.album)
    }

    /// Name, count and date in columns that fit the terminal; elsewhere separated by tabs.
    func text(_ style: TextStyle) -> String {
        var table = TextTable(.init("NAME", isShortened: true), .init("PHOTOS", .right), .init("NEWEST", rank: 1))
        table.rows = albums.map { album in
            let day = album.day.map { CalendarTime.utc($0.seconds).date } ?? ""
            return [
                album.path.name(below: folder), String(album.count), style.columns == nil ? album.moment ?? "" : day,
            ]
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
                name: album.path.name, path: album.path, count: album.count, newest: album.moment)
        }.encode(to: encoder)
    }
}
