import ByteClubCore

/// The part of the gallery that a page shows.
struct GalleryFilter: Hashable, Sendable {
    /// The kinds of items.
    enum Content: String, CaseIterable, Sendable {
        case all, photos, panoramas, notes
    }

    /// The kinds of items.
    var content = Content.all
    /// The folder in or below which they are.
    var folder = RemotePath.root
    /// The first time that a clock shows; nil for any.
    var since: APIDate?
    /// The time that no clock shows yet; nil for any.
    var until: APIDate?
    /// Around where; nil for anywhere.
    var near: GeographicCircle?
    /// The member who stored the last version; nil for all.
    var author: Int64?
    /// The words in names, captions and texts; nil for any.
    var words: TextQuery?
}

/// Items of the gallery, with what the page shows beside them.
struct GalleryPage: Sendable {
    /// The items, the nearest to the place first.
    var items: [GalleryItem] = []
    /// The newest date of each month of the whole gallery, the newest month first.
    var months: [APIDate] = []
    /// The members, by name.
    var members: [(uid: Int64, name: String)] = []
    /// The last change that the page contains.
    var revision: Int64 = 0
}

/// The days and shapes of all items, by which a page knows its height before it has the items.
struct GalleryIndex: Sendable {
    /// The items of one day, the newest first.
    struct Day: Hashable, Sendable {
        /// Days since 1970.
        let number: Int64
        /// Their ratios (``GalleryIndex/ratio(width:height:)``); 0 for a note.
        var ratios: [Int]
    }

    /// How many items there are between two ``marks``.
    static let step = 60
    /// The ratio of a photo that has not been read yet.
    static let unknown = -100

    /// The days, the newest first.
    var days: [Day] = []
    /// The place of each item before which ``step`` more have been counted.
    var marks: [GalleryPlace] = []
    /// The last change that it contains.
    var revision: Int64 = 0
    /// How many photos were added after the revision that was asked for.
    var newPhotos = 0
    /// How many notes were added after it.
    var newNotes = 0

    private var count = 0

    /// Adds the next older item.
    mutating func add(_ place: GalleryPlace, ratio: Int) {
        let number = Int64((Double(place.seconds) / 86_400).rounded(.down))
        if days.last?.number == number {
            days[days.count - 1].ratios.append(ratio)
        } else {
            days.append(Day(number: number, ratios: [ratio]))
        }
        count += 1
        if count % Self.step == 0 { marks.append(place) }
    }

    /// The width of a photo in hundredths of its height, at least a quarter of it and at most four times as long; 100
    /// when unknown.
    static func ratio(width: Int?, height: Int?) -> Int {
        guard let width, let height, width > 0, height > 0 else { return 100 }
        return min(400, max(25, Int((100 * Double(width) / Double(height)).rounded())))
    }
}

/// A folder that contains photos.
struct Album: Sendable {
    /// The folder.
    let path: RemotePath
    /// How many photos are directly in it.
    let count: Int
    /// The newest of them.
    let cover: GalleryItem
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
    /// The shape of a photo by its own metadata; nil for a note and for a photo whose shape is unknown.
    let shape: PhotoShape?
    /// Whether it is a photo that has not been read yet.
    let isPending: Bool
    /// The placeholder of a photo (``Placeholder``); nil where there is none.
    let placeholder: [UInt8]?
    /// The beginning of a note, or of a photo's caption; nil where there is none, and for a text that is too large for
    /// the database.
    let text: [UInt8]?

    /// Its place in the gallery.
    var place: GalleryPlace { GalleryPlace(seconds: date.seconds, revision: entry.revision) }
    /// Whether it is a photo.
    var isPhoto: Bool { GalleryKind(entry.path.name) == .photo }
}
