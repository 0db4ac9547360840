import ByteClubCore

/// Makes the page behind a link.
struct SharePageBuilder {
    /// The most entries of a folder that its pages show.
    private static let mostEntries = 10_000
    /// The photos of one page.
    private static let photosOfPage = 100
    /// The most entries whose sizes are added up for a page.
    private static let mostCounted = 2000
    /// The most folders with a picture.
    private static let mostCovers = 60
    /// The longest text that is shown.
    private static let longestText = 64 << 10

    let store: any FolderStore & GalleryStore
    let reader: FolderReader
    let media: MediaInfoReader
    let settings: ClubAPI.Settings
    let link: Link
    let request: RoutedRequest
    let club: String?

    /// The page of a file or a folder behind the link.
    ///
    /// - Throws: ``APIError`` 429 or 503 when too many requests wait for the folder; `CancellationError` when the
    ///   client hangs up.
    func page(of entry: FolderEntry) async throws -> SharePage {
        var page =
            entry.isFolder ? try await page(ofFolder: entry) : try await page(ofFile: entry, hasCaption: isBelow)
        if isBelow, page.figure != nil {
            try await addNeighbours(of: entry, to: &page)
            try await addSpots(of: entry, to: &page)
        }
        page.giver = link.member
        if isBelow {
            // The names between the shared folder and the entry are those of the address, which the visitor knows.
            let above = place.dropLast()
            page.back = SharePage.Turn(name: above.count > 3 ? above.last ?? "" : rootName, url: url(Array(above)))
        }
        if link.password == nil { page.preview = preview(of: page) }
        return page
    }

    /// The page of a photo that a shared note shows.
    ///
    /// - Throws: As ``page(of:)``.
    func page(of photo: FolderEntry, in story: SharedStory) async throws -> SharePage {
        var page = try await page(ofFile: photo, hasCaption: false)
        page.giver = link.member
        page.back = SharePage.Turn(name: rootName, url: url(["s", link.secret, rootName]))
        var hashes: Set<ContentHash> = []
        let photos = story.photos.map(\.entry).filter { $0.contentHash.map { hashes.insert($0).inserted } ?? false }
        if photos.count > 1, let index = photos.firstIndex(where: { $0.contentHash == photo.contentHash }) {
            let turn = { (index: Int) in
                photos.indices.contains(index)
                    ? SharePage.Turn(name: photos[index].path.name, url: address(of: photos[index])) : nil
            }
            page.turns = SharePage.Turns(previous: turn(index - 1), next: turn(index + 1))
        }
        try await addSpots(of: photo, in: story, to: &page)
        if link.password == nil { page.preview = preview(of: page) }
        return page
    }

    /// The page of a photo of a shared note.
    func address(of photo: FolderEntry) -> String {
        "/s/\(link.secret)/-/" + (photo.contentHash?.description ?? "")
    }

    // MARK: - Addresses

    /// The components of the page's address.
    private var place: [String] {
        ["s", link.secret] + (request.tail.count > 1 ? Array(request.tail.dropFirst()) : [rootName])
    }
    private var rootName: String { link.path.name }
    private var isBelow: Bool { request.tail.count > 2 }

    func url(_ components: [String]) -> String {
        components.map { "/" + PercentEncoding.encode($0) }.joined()
    }

    // MARK: - Files

    private func page(ofFile entry: FolderEntry, hasCaption: Bool) async throws -> SharePage {
        let type = MediaType(name: entry.path.name)
        let size = HumanSize.text(entry.bytes)
        let changed = Moment(entry.clientModified?.date ?? entry.modified)
        var page = SharePage(title: entry.path.name, summary: size, changed: changed, download: "?dl=1")
        let content = try await store.content(of: entry)
        if !link.keepsLocation, try await PlacelessForm(of: entry, content) == .none {
            page.download = nil
            page.remark = "no download, since it may reveal where it was taken"
            return page
        }
        if Self.isPhoto(entry) {
            let photo = try await media.describe([Metadata(entry)], for: request).first
            if let taken = photo?.photoInfo?.taken {
                (page.summary, page.changed) = ("\(WebSite.minute(taken)) · \(size)", nil)
            } else if entry.clientModified == nil {
                // When it was sent says nothing about the photo.
                page.changed = nil
            }
            // A caption is another file: it is shared only where the whole folder is.
            let key = entry.path.key
            let caption = hasCaption ? try await store.captions(of: [key])[key] : nil
            page.figure = figure(entry, photo?.photoInfo, caption, url: "", isWhole: true)
        } else if let story = try await SharedStory(of: entry, below: isBelow ? link.path : nil, in: store) {
            try await show(story, on: &page)
        } else if type.isText, case .bytes(let bytes) = content, bytes.count <= Self.longestText {
            page.text = String(validating: bytes, as: UTF8.self)
        }
        return page
    }

    /// Adds the text of a note with its photos.
    private func show(_ story: SharedStory, on page: inout SharePage) async throws {
        var note = story.note
        if let title = note.takeTitle() { page.title = title }
        let described = try await media.describe(story.photos.map { Metadata($0.entry) }, for: request)
        var tiles: [String: PhotoTile] = [:]
        for ((target, photo), told) in zip(story.photos, described) {
            let url =
                isBelow
                ? url(["s", link.secret, rootName] + photo.path.components.dropFirst(link.path.components.count))
                : address(of: photo)
            let tile = figure(photo, told.photoInfo, nil, url: url, isWhole: false)
            tiles[target] = tile
            if page.cover == nil { page.cover = tile }
        }
        page.html = NoteHTML(note) { [tiles] target in tiles[target].map { .photo($0) } }.html
    }

    /// Adds the photos before and after one of a folder.
    private func addNeighbours(of entry: FolderEntry, to page: inout SharePage) async throws {
        guard let folder = entry.path.parent else { return }
        let names = try await reader.read(for: request) { shared in
            try shared.state.children(folder.key, includeDeleted: false, limit: Self.mostEntries)
                .filter(Self.isPhoto).map(\.path.name)
        }
        guard let index = names.firstIndex(of: entry.path.name) else { return }
        let above = Array(place.dropLast())
        let turn = { (index: Int) in
            names.indices.contains(index)
                ? SharePage.Turn(name: names[index], url: url(above + [names[index]])) : nil
        }
        if names.count > 1 { page.turns = SharePage.Turns(previous: turn(index - 1), next: turn(index + 1)) }
    }

    // MARK: - Folders

    /// The entries of a folder, and what stands for the folders in it.
    private struct Listing: Sendable {
        let children: [FolderEntry]
        /// The contents of photos by the keys of their folders.
        let covers: [PathKey: ContentHash]
        /// The bytes of all that is in it; nil when there is too much to add up.
        let bytes: Int64?
    }

    private func list(_ folder: FolderEntry) async throws -> Listing {
        try await reader.read(for: request) { shared in
            let state = shared.state
            let children = try state.children(folder.path.key, includeDeleted: false, limit: Self.mostEntries)
            var covers: [PathKey: ContentHash] = [:]
            for child in children.lazy.filter(\.isFolder).prefix(Self.mostCovers) {
                covers[child.path.key] = try state.descendants(child.path.key, limit: 40).first(where: Self.isPhoto)?
                    .contentHash
            }
            let all = try state.descendants(folder.path.key, limit: Self.mostCounted + 1)
            let bytes = all.count > Self.mostCounted ? nil : all.reduce(0) { $0 + $1.bytes }
            return Listing(children: children, covers: covers, bytes: bytes)
        }
    }

    private func page(ofFolder folder: FolderEntry) async throws -> SharePage {
        let listing = try await list(folder)
        let photos = listing.children.filter(Self.isPhoto)
        let number = try request.parameters.integer("page", in: 1...Int64(Self.mostEntries)) ?? 1
        let pages = max(1, (photos.count + Self.photosOfPage - 1) / Self.photosOfPage)
        let index = Int(min(number, Int64(pages)))
        let shown = Array(photos.dropFirst((index - 1) * Self.photosOfPage).prefix(Self.photosOfPage))
        let described = try await media.describe(shown.map { Metadata($0) }, for: request)
        let captions = try await store.captions(of: photos.map(\.path.key))
        let notes = Set(captions.keys.map { PhotoCaption.key(of: $0) })
        var page = SharePage(title: folder.path.name, summary: "")
        for (child, told) in zip(shown, described) {
            let tile = figure(
                child, told.photoInfo, captions[child.path.key], url: url(place + [child.path.name]), isWhole: false)
            if let tile { page.photos.append(SharePage.Tile(tile)) }
        }
        let rest = listing.children.filter { !Self.isPhoto($0) && !notes.contains($0.path.key) }
        for child in rest {
            let url = url(place + [child.path.name])
            if child.isFolder {
                if index > 1 { continue }
                let cover = listing.covers[child.path.key].map { "/s/\(link.secret)/-/\($0)/" }
                page.folders.append(SharePage.Row(name: child.path.name, url: url, cover: cover))
            } else if index == pages {
                page.rows.append(
                    SharePage.Row(
                        name: child.path.name, url: url, size: HumanSize.text(child.bytes),
                        isNote: GalleryKind(child.path.name) == .note))
            }
        }
        if index > 1 { page.earlier = index == 2 ? url(place) : "?page=\(index - 1)" }
        if index < pages { page.more = "?page=\(index + 1)" }
        let folders = rest.filter(\.isFolder).count
        let isCut = listing.children.count == Self.mostEntries
        let counts = [(folders, "folder"), (photos.count, "photo"), (rest.count - folders, "file")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        let dates = pages == 1 ? Self.days(described.compactMap { $0.photoInfo?.taken }) : nil
        let size = listing.bytes.map(HumanSize.text)
        page.summary = ((isCut ? ["the first \(Self.mostEntries) entries"] : counts) + [dates, size].compactMap { $0 })
            .joined(separator: " · ")
        if listing.children.isEmpty { page.summary = "nothing in it yet" }
        if !listing.children.isEmpty {
            page.download = "?dl=1"
            (page.downloadName, page.isArchive) = ("Download all", true)
        }
        return page
    }

    /// The first and the last day of some times, as in `06 Aug 2013 – 09 Aug 2013`; nil for none.
    private static func days(_ times: [TakenTime]) -> String? {
        let clocks = times.map(\.clock).sorted { $0.seconds < $1.seconds }
        guard let first = clocks.first.map(WebSite.day), let last = clocks.last.map(WebSite.day) else { return nil }
        return first == last ? first : "\(first) – \(last)"
    }

    // MARK: - Photos

    private static func isPhoto(_ entry: FolderEntry) -> Bool {
        !entry.isFolder && MediaType(name: entry.path.name).hasThumbnail && entry.bytes <= PictureStore.sourceLimit
            && entry.contentHash != nil
    }

    private func figure(
        _ photo: FolderEntry, _ info: MediaInfo?, _ caption: [UInt8]?, url: String, isWhole: Bool
    ) -> PhotoTile? {
        guard let hash = photo.contentHash else { return nil }
        var tile = PhotoTile(
            info?.shape, view: nil, base: "/s/\(link.secret)/-/\(hash)/", upTo: isWhole ? .max : 1024,
            orWhenWide: isWhole ? nil : 2048)
        let text = caption.map { PhotoCaption(note: String(decoding: $0, as: UTF8.self)).text }.flatMap {
            $0.isEmpty ? nil : $0
        }
        let word = tile.isWide ? "Panorama" : "Photo"
        tile.alt = text ?? info?.taken.map { "\(word), \(WebSite.minute($0))" } ?? word
        (tile.caption, tile.name, tile.url) = (text, photo.path.name, url)
        return tile
    }

    // MARK: - What messengers show

    /// What messengers show, with the page's true address: any name is good for the shared entry itself.
    private func preview(of page: SharePage) -> SharePage.Preview {
        let from = "Shared by \(link.member)" + (club.map { " of \($0)" } ?? "")
        let origin = String(request.url([], settings))
        var preview = SharePage.Preview(
            url: request.url(isBelow ? place : ["s", link.secret, rootName], settings), title: page.title,
            description: [page.figure?.caption, page.summary.isEmpty ? nil : page.summary, from].compactMap { $0 }
                .joined(separator: " · "))
        let photo = page.figure ?? page.cover ?? page.photos.first?.photo
        if let photo {
            let size = photo.isWide ? 2048 : 1024
            preview.image = origin + photo.base + "\(size).jpg"
            if let width = photo.width, let height = photo.height, width > 0, height > 0 {
                let scale = min(1, Double(size) / Double(max(width, height)))
                preview.width = max(1, Int((Double(width) * scale).rounded()))
                preview.height = max(1, Int((Double(height) * scale).rounded()))
            }
        } else if let cover = page.folders.first(where: { $0.cover != nil })?.cover {
            preview.image = origin + cover + "1024.jpg"
        }
        return preview
    }
}
