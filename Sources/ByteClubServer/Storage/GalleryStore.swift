import ByteClubCore

/// The notes and photos of the folder in the order of their dates, and photos by kind, date and place; with the details
/// that were read from photos, by content, so that none is read twice.
///
/// The date of a photo is that of a clock at its place, if known (``mediaInfo(of:)``). All other dates are file dates
/// by the server's clock. A caption can set the kind of its photo. A database answers from indexes, without a look at
/// the whole folder.
protocol GalleryStore: Sendable {
    /// The notes and photos before or after a place, at most `limit`, the nearest first.
    ///
    /// A caption comes with its photo and not as a note of its own. With `kinds` there are only photos of these.
    func gallery(_ side: GallerySide, of kinds: Set<PhotoShape.Kind>?, limit: Int) async throws -> [GalleryItem]

    /// The place of a version of a note or a photo; nil for one that is not in the gallery.
    func galleryPlace(of revision: Int64) async throws -> GalleryPlace?

    /// The newest date of each month that has some, the newest month first, at most `limit`.
    func galleryMonths(limit: Int) async throws -> [APIDate]

    /// The photos below a folder that match a filter and a name, the newest first, at most `limit`.
    ///
    /// - Throws: As ``SharedFolder/existing(_:)`` when there is no such folder.
    func photos(
        below path: RemotePath, matching filter: PhotoFilter, named name: SearchQuery?, limit: Int
    ) async throws -> [Metadata]

    /// The photos below a folder of which nothing is known yet, the last stored first, at most `limit`.
    func unreadPhotos(below path: RemotePath, limit: Int) async throws -> [FolderEntry]

    /// The bytes of the captions of photos, by the photos' keys; those that lie in files are left out.
    func captions(of photos: [PathKey]) async throws -> [PathKey: [UInt8]]

    /// The kinds that captions set for their photos, by the photos' keys.
    func captionViews(of photos: [PathKey]) async throws -> [PathKey: PhotoShape.Kind]

    /// The details that ``keep(_:)`` has stored for contents in this ``MediaInfo/version``.
    func mediaInfo(of hashes: [ContentHash]) async throws -> [ContentHash: MediaInfo]

    /// Stores the details of contents.
    func keep(_ found: [ContentHash: MediaInfo]) async throws

    /// The live files that are photos by their names and have a content, at most `limit`.
    func photos(with hash: ContentHash, limit: Int) async throws -> [FolderEntry]

    /// The contents, of these, that no version of a photo has, live or not.
    func withoutPhotos(_ hashes: [ContentHash]) async throws -> [ContentHash]
}

/// A place in the gallery: a date and the revision of an item, which no two share.
struct GalleryPlace: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Seconds since 1970, by the clock of the item's place.
    let seconds: Int64
    /// The number of the version.
    let revision: Int64

    /// The place in a URL, as in `1375780500.17`.
    var description: String { "\(seconds).\(revision)" }

    /// Behind which everything is.
    static let newest = GalleryPlace(seconds: .max, revision: .max)

    static func < (one: GalleryPlace, other: GalleryPlace) -> Bool {
        (one.seconds, one.revision) < (other.seconds, other.revision)
    }
}

extension GalleryPlace {
    /// Reads ``description``; nil when the text is anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 2, let seconds = parts[0], let revision = parts[1] else { return nil }
        self.init(seconds: seconds, revision: revision)
    }
}

/// The items before or after a place.
enum GallerySide: Hashable, Sendable {
    /// Items with older dates.
    case older(than: GalleryPlace)
    /// Items with newer dates.
    case newer(than: GalleryPlace)
}

/// A note or a photo, with the beginning of its text.
struct GalleryItem: Hashable, Sendable {
    /// The most bytes of a text that an item has.
    static let textLimit = 2048

    /// The file.
    let entry: FolderEntry
    /// The date of the photo or of the file, by a clock at the place of the photo or by the server's.
    let date: APIDate
    /// The beginning of a note, or of a photo's caption; nil where there is none, and for a text that is too large for
    /// the database.
    let text: [UInt8]?

    /// Its place in the gallery.
    var place: GalleryPlace { GalleryPlace(seconds: date.seconds, revision: entry.revision) }
    /// Whether it is a photo.
    var isPhoto: Bool { GalleryKind(entry.path.name) == .photo }
}

/// The kinds of files that the gallery shows.
enum GalleryKind: Hashable, Sendable {
    case photo, note

    /// The ends of the names of photos, folded.
    static let photos = ["jpg", "jpeg", "png"].filter { MediaType(name: "a." + $0).hasThumbnail }
    /// The ends of the names of notes, folded.
    static let notes = ["md", "markdown", "txt"]

    /// The kind of a file by its name; nil for a file that the gallery does not show.
    init?(_ name: String) {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let end = PathKey.fold(String(name[name.index(after: dot)...]))
        if Self.photos.contains(end) {
            self = .photo
        } else if Self.notes.contains(end) {
            self = .note
        } else {
            return nil
        }
    }

    /// Whether a file of this name is the caption of a photo, if there is such a one beside it.
    static func isCaption(_ name: String) -> Bool {
        PathKey.fold(name).hasSuffix(".md") && GalleryKind(String(name.dropLast(3))) == .photo
    }
}

extension MediaInfo {
    /// The version of the reader whose findings a store keeps: what another version found counts as unknown.
    ///
    /// Raise it with every change of what ``MediaInfoReader`` finds. A migration must delete what older versions found,
    /// so that searches read it again (``Schema/keepClocks(_:)``).
    static let version = 4
}
