import ByteClubCore
import ByteClubMedia

extension WebSite {
    /// Shows the page of a photo, with a caption that is not saved in its form, or with a link that was just made.
    func photo(
        _ path: RemotePath, _ visit: Visit, _ member: Member, _ draft: Draft?, link: MadeLink? = nil
    ) async throws -> Response {
        let isEditor = member.role >= .editor
        let found = try await store.read { try PhotoRecord(path, in: $0, withNeighbours: isEditor) }
        guard let entry = found.entry, let hash = entry.contentHash else {
            if draft != nil { throw APIError.notFound(path) }
            return deletedPhoto(path, found, visit, member)
        }
        let info = try await describe([entry], visit, member).first?.photoInfo
        let told = try await text(at: PhotoCaption.path(of: path), limit: Draft.limit)
        let caption = PhotoCaption(note: told?.text ?? "")
        var photo = PhotoTile(info?.shape, view: caption.view, base: "/photos/\(hash)/", upTo: 2048)
        photo.caption = caption.text
        let place = info?.place.map { "\(Self.degrees($0.latitude)), \(Self.degrees($0.longitude))" }
        photo.alt =
            caption.text.isEmpty
            ? Self.alternative(photo, info?.taken?.clock ?? Self.fileTime(of: entry).onServerClock, place)
            : caption.text
        let at = try await store.galleryPlace(of: entry.revision)
        let spots = caption.spots.prefix(HotSpot.most).map { SpotRow($0, of: path) }
        // Browsers show the time of a file by their own clock, but not the time of a photo.
        let page = (
            name: path.name, photo: photo, facts: try await facts(of: entry, found, info, photo, visit, member),
            back: Self.galleryAddress(at: at, entry.revision),
            rev: JournalRevision(number: entry.revision).revision.description,
            action: Self.url(of: path), address: Self.components(of: path),
            newer: try await neighbour(at.map { .newer(than: $0) }, visit, member),
            older: try await neighbour(at.map { .older(than: $0) }, visit, member),
            spots: spots, hasSpots: !spots.isEmpty,
            versions: found.versions.map { PhotoVersionRow($0, current: entry, mayRestore: isEditor) },
            sharing: isEditor
                ? ShareMenu(
                    what: "photo", action: "/photo/share" + Self.components(of: path), made: link, isOpen: link != nil)
                : nil, isEditor: isEditor, album: Self.album(of: path).nonEmpty, albums: found.albums.map(Self.album),
            names: found.names, views: PhotoViewChoice.all(chosen: caption.view),
            maySpot: isEditor && photo.kind != PhotoShape.Kind.flat.rawValue
                && photo.kind != PhotoShape.Kind.strip.rawValue,
            told: caption.text.nonEmpty,
            form: isEditor ? draft ?? Draft(text: caption.text, revision: told?.revision ?? "") : nil
        )
        return view(
            .photo, page, visit, draft.map { $0.theirs == nil ? 400 : 409 } ?? 200, policy: Self.picturePolicy)
    }

    /// The gallery from a place on.
    private static func galleryAddress(at place: GalleryPlace?, _ revision: Int64) -> String {
        guard let place else { return "/gallery" }
        let after = GalleryPlace(seconds: place.seconds, revision: place.revision + 1)
        return "/gallery?before=\(after)#\(revision)"
    }

    /// The page of a photo that was deleted, from which it can be restored.
    ///
    /// Its status is 410 Gone.
    private func deletedPhoto(
        _ path: RemotePath, _ found: PhotoRecord, _ visit: Visit, _ member: Member
    ) -> Response {
        let newest = found.versions.first
        let page = (
            name: path.name, address: Self.components(of: path), by: newest?.modifier?.displayName,
            deleted: newest?.modified.map(Moment.init),
            rev: member.role >= .editor ? found.versions.first { !$0.isDeleted }?.rev?.description : nil
        )
        return view(.deleted, page, visit, 410, policy: Self.picturePolicy)
    }

    /// What is told beside a photo.
    private func facts(
        of entry: FolderEntry, _ found: PhotoRecord, _ info: MediaInfo?, _ photo: PhotoTile, _ visit: Visit,
        _ member: Member
    ) async throws -> PhotoFacts {
        var facts = PhotoFacts(size: HumanSize.text(entry.bytes), phrase: photo.phrase)
        facts.taken = info?.taken.map(Self.minute)
        facts.changed = info?.taken == nil ? Moment(Self.fileTime(of: entry)) : nil
        facts.added = found.added?.modified.map(Moment.init)
        facts.adder = found.added?.modifier?.displayName
        if let place = info?.place {
            facts.place = "\(Self.degrees(place.latitude)), \(Self.degrees(place.longitude))"
            let (north, east) = (Self.degrees(place.latitude), Self.degrees(place.longitude))
            facts.near = "/gallery?show=photos&near=" + PercentEncoding.encode("\(north), \(east)")
            facts.map = settings.mapLink.map { ($0.url(latitude: north, longitude: east), $0.service) }
        }
        if let shape = photo.shape { facts.pixels = "\(shape.width) × \(shape.height)" }
        do {
            let (media, requester) = (media, visit.requester)
            let details = try await visit.request.whileClientWaits {
                try await media.details(of: entry, for: requester)
            }
            if let details { facts.add(details) }
        } catch let error where !(error is CancellationError) {
            // The page is worth more than its least important lines.
        }
        return facts
    }

    private static func degrees(_ value: Double) -> String {
        let rounded = Int((value * 1e4).rounded())
        let digits = String(abs(rounded) % 10_000)
        return "\(rounded < 0 ? "-" : "")\(abs(rounded) / 10_000)." + String(repeating: "0", count: 4 - digits.count)
            + digits
    }

    /// The folder in which albums are.
    static let photosFolder = "/byteclub/photos"

    /// The album that a photo is in, as it is typed: relative to the photos' folder, empty for that itself, else
    /// absolute.
    static func album(of photo: RemotePath) -> String { album(photo.parent?.string ?? "/") }

    fileprivate static func album(_ folder: String) -> String {
        if PathKey.fold(folder) == photosFolder { return "" }
        let start = folder.prefix(photosFolder.count + 1)
        return PathKey.fold(String(start)) == photosFolder + "/" ? String(folder.dropFirst(start.count)) : folder
    }
}

extension String {
    /// The text; nil when it is empty, which templates do not tell from other texts.
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

/// What the journal knows of a photo.
struct PhotoRecord: Sendable {
    /// The most versions that a page shows.
    private static let mostVersions = 20
    /// The most names of files and of folders that a page suggests.
    private static let mostNames = 200

    /// The live photo; nil when it was deleted.
    private(set) var entry: FolderEntry?
    /// The version with which its content came.
    private(set) var added: Metadata?
    /// Its versions, newest first.
    private(set) var versions: [Metadata] = []
    /// The notes and photos beside it.
    private(set) var names: [String] = []
    /// Folders that it can be moved to.
    private(set) var albums: [String] = []

    /// Reads the journal.
    ///
    /// - Throws: ``APIError`` 404 for a folder and for what never was.
    init(_ path: RemotePath, in folder: SharedFolder, withNeighbours: Bool) throws {
        versions = try folder.revisions(path, limit: Self.mostVersions)
        guard let entry = try folder.live(path) else { return }
        self.entry = entry
        var source = entry
        try folder.state.forEachChange(before: entry.contentRevision + 1) { change in
            // A photo that was moved came under another name.
            if change.revision == entry.contentRevision { source = change }
            return false
        }
        added = try folder.describe(source)
        guard withNeighbours else { return }
        let home = try RemotePath(WebSite.photosFolder)
        let own = path.parent ?? .root
        for place in Set([home, own]) {
            for child in try folder.state.children(place.key, includeDeleted: false, limit: Self.mostNames) {
                if child.isFolder {
                    albums.append(child.path.string)
                } else if place == own, child.path.key != path.key, GalleryKind(child.path.name) != nil,
                    !GalleryKind.isCaption(child.path.name)
                {
                    names.append(child.path.name)
                }
            }
        }
        albums.sort()
    }
}

/// What is told beside a photo; nil is left out.
struct PhotoFacts {
    /// When it was taken, by the clock of its place.
    var taken: String?
    /// When its file was made, where nothing tells when it was taken.
    var changed: Moment?
    /// Degrees north and east.
    var place: String?
    /// The gallery with photos near the place.
    var near: String?
    /// The place on a map service; nil for none.
    var map: (url: String, service: String)?
    var camera: String?
    var exposure: String?
    /// When its content came.
    var added: Moment?
    /// Who added it.
    var adder: String?
    let size: String
    var pixels: String?
    /// Its kind in words.
    let phrase: String

    init(size: String, phrase: String) {
        self.size = size
        self.phrase = phrase
    }

    /// Adds what the camera wrote.
    mutating func add(_ details: PhotoDetails) {
        let words = [details.make, details.model].compactMap { $0 }
        // Most makers begin the name of a model with their own.
        let repeats = words.count == 2 && words[1].lowercased().hasPrefix(words[0].lowercased())
        camera = words.isEmpty ? nil : words.dropFirst(repeats ? 1 : 0).joined(separator: " ")
        let phrases = details.exposure.phrases
        exposure = phrases.isEmpty ? nil : phrases.joined(separator: " · ")
    }
}

/// A version of a photo in the list of them.
private struct PhotoVersionRow {
    let made: Moment?
    let by: String?
    let size: String
    let isDeleted: Bool
    let isCurrent: Bool
    /// The version for the form that restores it; nil where that would change nothing or is not allowed.
    let restorable: String?

    init(_ version: Metadata, current: FolderEntry, mayRestore: Bool) {
        made = version.modified.map(Moment.init)
        by = version.modifier?.displayName
        size = version.size
        isDeleted = version.isDeleted
        isCurrent = version.rev == JournalRevision(number: current.revision).revision
        let isOther = !version.isDeleted && version.contentHash != current.contentHash
        restorable = mayRestore && isOther ? version.rev?.description : nil
    }
}

/// A spot as a link; nil for its address when it leads nowhere.
private struct SpotRow {
    let yaw: String
    let pitch: String
    let text: String
    let url: String?
    /// The line in the note.
    let line: String

    init(_ spot: HotSpot, of photo: RemotePath) {
        (yaw, pitch, line) = ("\(spot.yaw)", "\(spot.pitch)", spot.line)
        let target = spot.path(from: photo)
        let name = target.map { path in
            String(path.name.prefix(upTo: path.name.lastIndex(of: ".") ?? path.name.endIndex))
        }
        text = spot.text.isEmpty ? name ?? spot.target : spot.text
        let isShown = target.map { GalleryKind($0.name) != nil } ?? false
        url =
            isShown
            ? target.map { WebSite.url(of: $0) + (spot.openingView.map { "#view=\($0)" } ?? "") } : nil
    }
}

/// A way to look at a photo in the list to choose from.
private struct PhotoViewChoice {
    let value: String
    let name: String
    let isChosen: Bool

    static func all(chosen: PhotoShape.Kind?) -> [PhotoViewChoice] {
        [PhotoViewChoice(value: "auto", name: "As its tags suggest", isChosen: chosen == nil)]
            + PhotoShape.Kind.allCases.map { kind in
                let name =
                    switch kind {
                    case .sphere: "Whole sphere, 360°"
                    case .partialSphere: "Part of a sphere"
                    case .cylinder: "Cylinder"
                    case .strip: "Long strip"
                    case .flat: "Ordinary photo"
                    }
                return PhotoViewChoice(value: kind.rawValue, name: name, isChosen: kind == chosen)
            }
    }
}
