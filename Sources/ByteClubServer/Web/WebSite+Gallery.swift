import ByteClubCore
import HTTPTypes
import NIOCore

extension WebSite {
    /// The items of one page.
    private static let pageSize = 60
    /// The most photos that are looked into while a page is waited for.
    private static let mostLookedInto = 8
    /// The most months that a page has links to.
    private static let mostMonths = 600
    /// How long `GET /gallery/events` waits for a change.
    private static let wait = Duration.seconds(25)

    /// Shows a page of notes and photos by day, or one of them.
    func gallery(_ visit: Visit, _ member: Member) async throws -> Response {
        if !visit.request.tail.isEmpty { return try await item(visit, member) }
        let start = visit["before"].map { GalleryPlace($0) } ?? .newest
        let choice = visit["show"].map { GalleryChoice(rawValue: $0) } ?? .all
        guard let start, let choice else { throw APIError(404, "Page not found.") }
        // Read first: after a change in between the page asks for news once too often, and not too late.
        let revision = try await store.read { try $0.state.lastRevision() }
        func listed() async throws -> (items: [GalleryItem], known: [ContentHash: MediaInfo]) {
            let items = try await listing(
                visit, member, .older(than: start), of: choice.kinds, limit: Self.pageSize + 1)
            return (items, try await store.mediaInfo(of: items.filter(\.isPhoto).compactMap(\.entry.contentHash)))
        }
        var (items, known) = try await listed()
        // The newest ones are looked into at once, and may be of another day then.
        let fresh = items.filter { $0.isPhoto && $0.entry.contentHash.map { known[$0] == nil } ?? false }.map(\.entry)
        if !fresh.isEmpty {
            let now = fresh.prefix(Self.mostLookedInto)
            _ = try await describe(Array(now), visit, member)
            lookInto(Array(fresh.dropFirst(now.count)), for: member)
            (items, known) = try await listed()
        }
        let hasMore = items.count > Self.pageSize
        if hasMore { items.removeLast() }
        let page = (
            days: Self.days(items, known), isEmpty: items.isEmpty, mayWrite: member.role >= .editor,
            revision: revision, isFirst: start == .newest, newest: choice.address(before: nil),
            older: hasMore ? items.last.map { choice.address(before: $0.place) } : nil,
            choices: GalleryChoice.allCases.map {
                (name: $0.name, url: $0.address(before: nil), isChosen: $0 == choice)
            },
            years: choice.years(try await store.galleryMonths(limit: Self.mostMonths))
        )
        return view(.gallery, page, visit, policy: Self.picturePolicy)
    }

    /// Reads a part of the gallery when it is the member's turn.
    func listing(
        _ visit: Visit, _ member: Member, _ side: GallerySide, of kinds: Set<PhotoShape.Kind>? = nil, limit: Int
    ) async throws -> [GalleryItem] {
        let store = store
        return try await visit.request.inTurn(of: shares.listings, for: .member(member.uid)) {
            try await store.gallery(side, of: kinds, limit: limit)
        }
    }

    /// Reads the metadata of some photos while the member waits.
    func describe(_ photos: [FolderEntry], _ visit: Visit, _ member: Member) async throws -> [Metadata] {
        let (media, entries) = (media, photos.map { Metadata($0) })
        return try await visit.request.whileClientWaits {
            try await media.describe(entries, for: .member(member.uid))
        }
    }

    /// Reads the metadata of photos in the background, when it is the member's turn, for the next page.
    func lookInto(_ photos: [FolderEntry], for member: Member) {
        if photos.isEmpty { return }
        let media = media
        Task { _ = try? await media.describe(photos.map { Metadata($0) }, for: .member(member.uid)) }
    }

    private typealias Tile = (photo: PhotoTile?, note: (url: String, title: String, text: String)?)
    private typealias Day = (day: String, tiles: [Tile])

    private static func days(_ items: [GalleryItem], _ known: [ContentHash: MediaInfo]) -> [Day] {
        var days: [Day] = []
        for (index, item) in items.enumerated() {
            let name = day(item.date)
            if days.last?.day != name { days.append((name, [])) }
            // Browsers load the first row at once.
            days[days.count - 1].tiles.append(tile(item, known, isEager: index < 4))
        }
        return days
    }

    private static func tile(
        _ item: GalleryItem, _ known: [ContentHash: MediaInfo], isEager: Bool
    ) -> Tile {
        let (url, name) = (url(of: item.entry.path), item.entry.path.name)
        let text = item.text.map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard item.isPhoto, let hash = item.entry.contentHash else {
            let lines = text.split(whereSeparator: \.isNewline).map { $0.drop { "#> ".contains($0) } }
            let rest = lines.dropFirst().prefix(6).map { String($0.prefix(200)) }.joined(separator: "\n")
            return (nil, (url, lines.first.map { String($0.prefix(120)) } ?? name, rest))
        }
        let caption = PhotoCaption(note: text)
        var photo = PhotoTile(
            known[hash]?.shape, view: caption.view, base: "/photos/\(hash)/", upTo: 1024, orWhenWide: 2048)
        photo.url = url
        photo.caption = String(caption.text.prefix(300))
        photo.alt = caption.text.isEmpty ? alternative(photo, item.date, nil) : String(caption.text.prefix(300))
        photo.isEager = isEager
        return (photo, nil)
    }

    /// The text for a photo without a caption.
    static func alternative(_ photo: PhotoTile, _ date: APIDate, _ place: String?) -> String {
        ([photo.isWide ? "Panorama" : "Photo", day(date)] + (place.map { [$0] } ?? [])).joined(separator: ", ")
    }

    /// Where the page of a file is.
    static func url(of path: RemotePath) -> String {
        "/gallery" + path.string.split(separator: "/").map { "/" + PercentEncoding.encode(String($0)) }.joined()
    }

    /// Reports a change to a page by one server-sent event, after which the browser asks again.
    ///
    /// So it costs the server no more than a long poll, and works behind proxies that buffer answers.
    func events(_ visit: Visit, _: Member) async throws -> Response {
        let told = HTTPField.Name("Last-Event-ID").flatMap { visit.request.headers[$0] } ?? visit["after"]
        let start = told.flatMap { Int64($0) } ?? 0
        let hasChanged = try await visit.request.waitForChange(in: store, after: start, atMost: Self.wait)
        try Task.checkCancellation()
        var text = "retry: 200\n"
        if hasChanged {
            let last = try await store.read { try $0.state.lastRevision() }
            text += "id: \(last)\nevent: change\ndata: \(last)\n\n"
        } else {
            text += ": no change\nid: \(start)\n\n"
        }
        return Response(
            .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: .bytes(ByteBuffer(string: text)))
    }
}

/// The items that the gallery shows, from `show` in its address.
enum GalleryChoice: String, CaseIterable {
    case all, panoramas

    /// The link to it.
    var name: String { self == .all ? "All" : "Panoramas" }

    /// The kinds of photos; nil for all there is.
    var kinds: Set<PhotoShape.Kind>? { self == .all ? nil : PhotoShape.Kind.panoramas }

    /// The address of the page with the items before a place; of the first page for nil.
    func address(before place: GalleryPlace?) -> String {
        let fields = (self == .all ? [] : ["show=\(rawValue)"]) + (place.map { ["before=\($0)"] } ?? [])
        return "/gallery" + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }

    /// Links to months, under their years, by the newest date of each.
    func years(_ months: [APIDate]) -> [(year: String, months: [(name: String, url: String)])] {
        var years: [(year: String, months: [(name: String, url: String)])] = []
        for newest in months {
            // As in `2026-08-05T16:40:12Z`, and in `05 Aug 2026`.
            let year = String(newest.rfc3339.prefix { $0 != "-" })
            if years.last?.year != year { years.append((year, [])) }
            let place = GalleryPlace(seconds: newest.seconds + 1, revision: 0)
            years[years.count - 1].months.append(
                (String(WebSite.day(newest).dropFirst(3).prefix(3)), address(before: place)))
        }
        return years
    }
}
