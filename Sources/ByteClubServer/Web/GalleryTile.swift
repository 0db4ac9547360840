import ByteClubCore
import FoundationEssentials

/// An item of the gallery as its page shows it: a photo or a line of a note.
struct GalleryTile {
    /// A note as one line.
    struct Note {
        let url: String
        let title: String
        let text: String
    }

    /// The days since 1970.
    let day: Int64
    /// The ratio of the index (``GalleryIndex``).
    let ratio: Int
    /// The photo; nil for a note.
    let photo: PhotoTile?
    /// The note; nil for a photo.
    let note: Note?
    private let hash: ContentHash?
    /// The photo's placeholder in Base64; nil where there is none.
    private let colours: String?

    /// An item as a tile.
    init(_ item: GalleryItem, isEager: Bool = false) {
        day = Int64((Double(item.date.seconds) / 86_400).rounded(.down))
        let (url, name) = (WebSite.url(of: item.entry.path), item.entry.path.name)
        let text = item.text.map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard item.isPhoto, let hash = item.entry.contentHash else {
            let lines = NoteLines(text)
            note = Note(url: url, title: lines.first ?? name, text: lines.second ?? "")
            (ratio, photo, self.hash, colours) = (0, nil, nil, nil)
            return
        }
        let caption = PhotoCaption(note: text)
        var photo = PhotoTile(item.shape, view: caption.view, base: "/photos/\(hash)/", upTo: 1024, orWhenWide: 2048)
        photo.url = url
        photo.name = name
        photo.caption = String(caption.text.prefix(300))
        photo.alt = caption.text.isEmpty ? WebSite.alternative(photo, item.date, nil) : String(caption.text.prefix(300))
        photo.isEager = isEager
        ratio =
            item.isPending
            ? GalleryIndex.unknown : GalleryIndex.ratio(width: item.shape?.width, height: item.shape?.height)
        (self.photo, note, self.hash) = (photo, nil, hash)
        colours = item.placeholder.map { Data($0).base64EncodedString() }
    }

    /// Writes the tile for the page's script.
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("day", day)
            json.member("ratio", Int64(ratio))
            if let note {
                json.member("url", note.url)
                json.member("title", note.title)
                json.member("text", note.text)
            }
            if let photo {
                json.member("url", photo.url)
                json.member("hash", hash)
                json.member("width", photo.width.map { Int64($0) })
                json.member("height", photo.height.map { Int64($0) })
                json.member("badge", photo.badge)
                json.member("alt", photo.alt)
                if photo.caption?.isEmpty == false { json.member("caption", photo.caption) }
                json.member("colours", colours)
            }
        }
    }
}

/// The first two lines of a note that have words, without the marks of Markdown.
struct NoteLines {
    /// The first line; nil for a note without words.
    let first: String?
    /// The line after it; nil when there is none.
    let second: String?

    private static let longest = 200

    /// The lines of a text.
    init(_ text: String) {
        let lines = text.split(whereSeparator: \.isNewline).lazy.map { Self.plain($0.prefix(Self.longest)) }
            .filter { !$0.isEmpty }.prefix(2)
        let found = Array(lines)
        first = found.first
        second = found.dropFirst().first
    }

    private static func plain(_ line: Substring) -> String {
        var words = line.drop { "#>-+*=|~ \t".contains($0) }
        // A task.
        for box in ["[ ] ", "[x] ", "[X] "] where words.hasPrefix(box) { words = words.dropFirst(box.count) }
        let linkless = words.replacing(/!?\[([^\[\]]*)\]\([^()]*\)/) { $0.output.1 }
        let text = linkless.filter { !"*`".contains($0) }
        return String(text.reversed().drop { $0.isWhitespace || $0 == "#" }.reversed())
    }
}
