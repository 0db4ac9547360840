import ByteClubCore

/// A note behind a link with the photos that it shows: those, and no other file, the link of a note opens too.
///
/// They are what the note's present text has as pictures, `![…](ridge.jpg)`, as far as they are photos of the folder. A
/// link that only names a photo does not show it.
struct SharedStory: Sendable {
    /// The most pictures of a note that are looked for.
    static let mostPhotos = 200
    /// The longest note that is shown, in bytes.
    static let longestNote = 64 << 10

    /// The note.
    let note: Markdown
    /// The photos with the targets in the text, in its order.
    let photos: [(target: String, entry: FolderEntry)]

    /// Reads a note and finds its photos; nil for a file that is no note, or too long.
    ///
    /// - Parameters:
    ///   - entry: The note, to whose folder targets are relative.
    ///   - root: The folder below which photos are, for a note in a shared folder; nil for a shared note.
    ///   - store: Where the files are.
    /// - Throws: ``StorageError`` when the note's bytes are lost.
    init?(of entry: FolderEntry, below root: RemotePath?, in store: any FolderStore) async throws {
        guard !entry.isFolder, GalleryKind(entry.path.name) == .note, entry.bytes <= Int64(Self.longestNote),
            case .bytes(let bytes) = try await store.content(of: entry),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        note = Markdown(text)
        var known: Set<String> = []
        var wanted: [(target: String, path: RemotePath)] = []
        note.forEachInline { inline in
            guard case .image(_, let target) = inline, wanted.count < Self.mostPhotos, known.insert(target).inserted,
                let path = Self.path(of: target, beside: entry.path), GalleryKind(path.name) == .photo,
                root.map({ path.key.isBelow($0.key) }) ?? true
            else { return }
            wanted.append((target, path))
        }
        let pictures = wanted
        photos =
            pictures.isEmpty
            ? []
            : try await store.read { folder in
                try pictures.compactMap { target, path in
                    guard let found = try folder.live(path), !found.isFolder, found.contentHash != nil,
                        found.bytes <= PictureStore.sourceLimit
                    else { return nil }
                    return (target, found)
                }
            }
    }

    /// The photo with a content; nil when the note shows none.
    func photo(with hash: ContentHash) -> FolderEntry? { photos.first { $0.entry.contentHash == hash }?.entry }

    /// The file that a target names, relative to the note's folder or, with a slash before it, to the club's.
    static func path(of target: String, beside note: RemotePath) -> RemotePath? {
        Markdown.hasScheme(target) || target.hasPrefix("//") ? nil : NoteTargets.path(of: target, in: note)
    }
}

extension Markdown {
    /// Takes out the heading with which the note begins, and tells its text; nil when it begins otherwise.
    ///
    /// A heading with a picture in it stays.
    mutating func takeTitle() -> String? {
        guard let inlines = title, !Self.hasPicture(inlines) else { return nil }
        let text = Self.plain(inlines)
        if text.allSatisfy(\.isWhitespace) { return nil }
        blocks.removeFirst()
        return text
    }

    private static func hasPicture(_ inlines: [Inline]) -> Bool {
        inlines.contains { inline in
            switch inline {
            case .image: true
            case .emphasis(let inner), .strong(let inner), .strike(let inner), .link(let inner, _): hasPicture(inner)
            case .text, .code, .lineBreak, .softBreak: false
            }
        }
    }

    private static func plain(_ inlines: [Inline]) -> String {
        inlines.map { inline in
            switch inline {
            case .text(let text), .code(let text): text
            case .emphasis(let inner), .strong(let inner), .strike(let inner), .link(let inner, _): plain(inner)
            case .image(let text, _): text
            case .lineBreak, .softBreak: " "
            }
        }.joined()
    }
}
