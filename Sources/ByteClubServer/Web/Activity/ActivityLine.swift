import ByteClubCore

/// A group of changes as the page of the activity shows it.
struct ActivityLine {
    /// The most pictures of a line.
    static let mostPictures = 6
    /// The most entries that a line lists by name.
    static let mostNames = 60

    /// An entry that changed.
    struct Item {
        let name: String
        /// Where it was moved from.
        let origin: String?
        /// Its page; nil when it is not there any more, or has none.
        let url: String?
        let picture: Picture?
    }

    /// A photo that is still there.
    struct Picture {
        let url: String
        let src: String
        let srcset: String
        let alt: String
    }

    /// A folder.
    struct Place {
        let word: String
        let name: String
        /// The album, for a folder with photos.
        let url: String?
    }

    let author: String
    let initial: String
    let verb: String
    /// The only entry; nil for several.
    let only: Item?
    /// What the only entry is, when its name does not tell.
    let kind: String?
    /// How many entries there are, when there are several.
    let phrase: String?
    let places: [Place]
    let moment: Moment
    let pictures: [Picture]
    /// How many photos have no picture here.
    let morePictures: String?
    /// The entries by name, when there are several.
    let items: [Item]
    let hasItems: Bool
    /// How many are not listed.
    let moreItems: String?
    /// The address of the club before it.
    let before: String

    /// A group of changes, with what is now at its places.
    init(_ group: ActivityGroup, in folder: SharedFolder) throws {
        let entries = group.entries
        let items = try entries.prefix(Self.mostNames).map { change -> Item in
            let now = try folder.live(change.path)
            return Item(change, now, isAlone: entries.count == 1)
        }
        author = group.newest.authorName ?? "A former member"
        initial = author.first.map { $0.uppercased() } ?? ""
        verb = group.verb
        only = entries.count == 1 ? items.first : nil
        kind = group.newest.isFolder ? "the folder " : nil
        phrase = entries.count == 1 ? nil : group.phrase
        places = Self.places(of: group)
        moment = Moment(APIDate(seconds: group.newest.modified))
        pictures = Array(items.compactMap(\.picture).prefix(Self.mostPictures))
        let photos = entries.count { !$0.isFolder && GalleryKind($0.path.name) == .photo }
        morePictures = pictures.isEmpty || photos <= pictures.count ? nil : "+\(photos - pictures.count)"
        self.items = entries.count == 1 ? [] : items
        hasItems = entries.count > 1
        moreItems = entries.count > items.count ? "and \(entries.count - items.count) more" : nil
        before = "/activity/restore?at=\(group.before)"
    }

    private static func places(of group: ActivityGroup) -> [Place] {
        let word =
            switch group.action {
            case .added, .restored: "to"
            case .removed: "from"
            case .edited: "in"
            case .moved: group.verb == "renamed" ? "in" : "to"
            }
        let folders = group.folders
        guard folders.count <= 2 else { return [Place(word: word, name: "\(folders.count) folders", url: nil)] }
        return folders.enumerated().compactMap { index, folder in
            if folder == .root { return nil }
            let hasPhotos = group.changes.contains { change in
                change.path.parent?.key == folder.key && GalleryKind(change.path.name) == .photo
            }
            return Place(
                word: index == 0 ? word : "and", name: String(folder.string.dropFirst()),
                url: hasPhotos && group.action != .removed ? "/albums" + WebSite.components(of: folder) : nil)
        }
    }
}

extension ActivityLine.Item {
    fileprivate init(_ change: HistoryChange, _ now: FolderEntry?, isAlone: Bool) {
        let path = now?.path ?? change.path
        name = isAlone || change.action == .moved ? change.path.name : String(change.path.string.dropFirst())
        origin = change.origin.map { $0.parent?.key == path.parent?.key ? $0.name : String($0.string.dropFirst()) }
        let kind = change.isFolder ? nil : GalleryKind(path.name)
        switch kind {
        case .photo?: url = WebSite.url(of: path)
        case .note?:
            url = now == nil ? "/notes/history" + WebSite.components(of: path) : WebSite.url(of: path)
        case nil: url = nil
        }
        guard kind == .photo, let url, let hash = now?.contentHash, change.action != .removed else {
            picture = nil
            return
        }
        let base = "/photos/\(hash)/"
        picture = ActivityLine.Picture(
            url: url, src: base + "256.jpg", srcset: "\(base)256.jpg 256w, \(base)512.jpg 512w", alt: path.name)
    }
}
