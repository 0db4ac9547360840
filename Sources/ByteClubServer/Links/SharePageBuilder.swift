import ByteClubCore

/// Makes the page behind a link.
struct SharePageBuilder: Sendable {
    private static let mostEntries = 1000

    let store: any FolderStore & GalleryStore
    let reader: FolderReader
    let media: MediaInfoReader
    let settings: ClubAPI.Settings

    /// The page of a file or a folder behind a link.
    ///
    /// - Throws: ``APIError`` 429 or 503 when too many requests wait for the folder; `CancellationError` when the
    ///   client hangs up.
    func page(of entry: FolderEntry, _ link: Link, _ request: RoutedRequest) async throws -> SharePage {
        entry.isFolder
            ? try await page(ofFolder: entry, link, request) : try await page(ofFile: entry, link, request)
    }

    private func page(ofFile entry: FolderEntry, _ link: Link, _ request: RoutedRequest) async throws -> SharePage {
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
                (page.summary, page.changed) = ("\(size), \(WebSite.minute(taken))", nil)
            }
            // A caption is another file: it is shared only where the whole folder is.
            let key = entry.path.key
            let caption = request.tail.count > 2 ? try await store.captions(of: [key])[key] : nil
            page.figure = Self.figure(entry, photo?.photoInfo, caption, link, url: "")
        }
        if type.isText, case .bytes(let bytes) = content {
            page.text = String(validating: bytes, as: UTF8.self)
        }
        return page
    }

    private func page(ofFolder entry: FolderEntry, _ link: Link, _ request: RoutedRequest) async throws -> SharePage {
        let children = try await reader.read(for: request) { folder in
            try folder.state.children(entry.path.key, includeDeleted: false, limit: Self.mostEntries + 1)
        }
        let shown = Array(children.prefix(Self.mostEntries))
        let described = try await media.describe(shown.map { Metadata($0) }, for: request)
        let captions = try await store.captions(of: shown.filter(Self.isPhoto).map(\.path.key))
        let notes = Set(captions.keys.map { PhotoCaption.key(of: $0) })
        let place =
            ["s"] + request.tail.prefix(1) + (request.tail.count > 1 ? request.tail.dropFirst() : [entry.path.name])
        var page = SharePage(title: entry.path.name, summary: "")
        for (child, told) in zip(shown, described) where !notes.contains(child.path.key) {
            let url = request.url(place + [child.path.name], settings)
            if Self.isPhoto(child) {
                if let figure = Self.figure(child, told.photoInfo, captions[child.path.key], link, url: url) {
                    page.photos.append(figure)
                }
            } else {
                let size = child.isFolder ? "folder" : HumanSize.text(child.bytes)
                page.rows.append(SharePage.Row(name: child.path.name, url: url, size: size))
            }
        }
        let count = page.photos.count + page.rows.count
        let text = "\(count) \(count == 1 ? "entry" : "entries")"
        page.summary = children.count > Self.mostEntries ? "the first \(text)" : text
        return page
    }

    private static func isPhoto(_ entry: FolderEntry) -> Bool {
        !entry.isFolder && MediaType(name: entry.path.name).hasThumbnail && entry.bytes <= PictureStore.sourceLimit
    }

    private static func figure(
        _ photo: FolderEntry, _ info: MediaInfo?, _ caption: [UInt8]?, _ link: Link, url: String
    ) -> PhotoTile? {
        guard let hash = photo.contentHash else { return nil }
        var tile = PhotoTile(info?.shape, view: nil, base: "/s/\(link.secret)/-/\(hash)/")
        let text = caption.map { PhotoCaption(note: String(decoding: $0, as: UTF8.self)).text }.flatMap {
            $0.isEmpty ? nil : $0
        }
        let word = tile.isWide ? "Panorama" : "Photo"
        tile.alt = text ?? info?.taken.map { "\(word), \(WebSite.minute($0))" } ?? word
        (tile.caption, tile.name, tile.url) = (text, photo.path.name, url)
        // The page has room for wide pictures alone in a row, of whatever kind they are.
        tile.isWide = tile.shape.map { $0.width >= 2 * $0.height } ?? false
        return tile
    }
}
