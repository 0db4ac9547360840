/// A member's description of a photo, in a note beside the photo.
///
/// The note has the photo's name with `.md` added, and so reaches mirrors, histories and other clouds like any note.
///
/// A note that begins with a block between two lines of `---` may say in it how the photo should be looked at:
///
///     ---
///     view: sphere
///     ---
///     The ridge, an hour before the storm.
///
/// Lines anywhere in it that are a ``HotSpot`` are places in the photo and no part of the description; they are written
/// behind it.
public struct PhotoCaption: Hashable, Sendable {
    /// How a member wants the photo to be looked at; nil leaves it to the photo's own tags and shape.
    public var view: PhotoShape.Kind?
    /// The description, without the block and the spots.
    public var text: String
    /// The places in the photo that lead elsewhere.
    public var spots: [HotSpot] = []
    /// The other lines of the block, as they were.
    private var otherLines: [Substring] = []
    /// What ends the lines of the block.
    private var lineEnd = "\n"
    /// A byte order mark before the block.
    private var mark = ""

    private static let fence = "---"
    private static let viewName = "view:"

    /// Creates a caption.
    public init(view: PhotoShape.Kind? = nil, text: String = "") {
        self.view = view
        self.text = text
    }

    /// Reads a note; a view that is none is an ordinary line of the block.
    public init(note: String) {
        let unmarked = note.first == "\u{FEFF}" ? note.dropFirst() : note[...]
        // A carriage return and a line feed are one character.
        let lines = unmarked.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        guard lines.first == Self.fence[...], let end = lines.dropFirst().firstIndex(of: Self.fence[...]) else {
            text = note
            takeSpots()
            return
        }
        mark = String(note[..<unmarked.startIndex])
        lineEnd = String(unmarked[lines[0].endIndex...].prefix(1))
        text = String(unmarked[lines[end].endIndex...].dropFirst())
        for line in lines[1..<end] {
            if line.hasPrefix(Self.viewName),
                let kind = PhotoShape.Kind(rawValue: Self.trimmed(line.dropFirst(Self.viewName.count)))
            {
                view = kind
            } else {
                otherLines.append(line)
            }
        }
        takeSpots()
    }

    /// Takes the lines of spots out of the text.
    private mutating func takeSpots() {
        guard text.contains("](") else { return }
        var (kept, found): ([Substring], [HotSpot]) = ([], [])
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for line in lines {
            if let spot = HotSpot(line: line) { found.append(spot) } else { kept.append(line) }
        }
        guard !found.isEmpty else { return }
        spots = found
        let ending = lines.first.flatMap { text[$0.endIndex...].first }.map(String.init) ?? "\n"
        // A block has said already what ends the lines.
        if view == nil, otherLines.isEmpty { lineEnd = ending }
        while kept.last?.isEmpty == true { kept.removeLast() }
        text = kept.joined(separator: ending)
    }

    /// The text of the note; empty without a description.
    public var note: String {
        let block = (view.map { ["\(Self.viewName) \($0.rawValue)"[...]] } ?? []) + otherLines
        if block.isEmpty { return body }
        return mark + ([Self.fence[...]] + block + [Self.fence[...], body[...]]).joined(separator: lineEnd)
    }

    /// The text with the spots behind it.
    private var body: String {
        if spots.isEmpty { return text }
        let ending = text.contains("\r\n") ? "\r\n" : lineEnd
        var description = text[...]
        while description.last?.isNewline == true { description.removeLast() }
        let start = description.isEmpty ? [] : [String(description), ""]
        return (start + spots.map(\.line) + [""]).joined(separator: ending)
    }

    /// Where the caption of a photo is.
    ///
    /// - Throws: ``PathError`` when the name would be too long.
    public static func path(of photo: RemotePath) throws(PathError) -> RemotePath {
        try (photo.parent ?? .root).appending(photo.name + ".md")
    }

    /// The key of the caption of a photo with a key.
    public static func key(of photo: PathKey) -> PathKey { PathKey(folded: photo.string + ".md") }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
