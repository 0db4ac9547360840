import ByteClubCore
import HTTPTypes
import NIOCore

/// The pages of the gallery and of albums, and what their script asks for.
extension WebSite {
    /// The items of one page.
    private static let pageSize = 60
    /// The most items that a script gets at once.
    private static let mostItems: Int64 = 200
    /// The most photos that are looked into while a page is waited for.
    private static let mostLookedInto = 8
    /// The most albums.
    private static let mostAlbums = 2000

    /// Shows a page of notes and photos by day, or one of them.
    func gallery(_ visit: Visit, _ member: Member) async throws -> Response {
        if !visit.request.tail.isEmpty { return try await item(visit, member) }
        return try await timeline(visit, member, in: .root)
    }

    /// Shows the folders that contain photos, or the part of the gallery in one of them.
    func albums(_ visit: Visit, _ member: Member) async throws -> Response {
        let path = try Self.path(of: visit)
        if path != .root { return try await timeline(visit, member, in: path) }
        let store = store
        let albums = try await visit.request.inTurn(of: shares.listings, for: .member(member.uid)) {
            try await store.albums(limit: Self.mostAlbums)
        }
        let page = (
            albums: albums.map { album in
                (
                    url: album.path == .root ? "/gallery?show=photos" : "/albums" + Self.components(of: album.path),
                    name: album.path == .root ? "Photos in no folder" : album.path.name,
                    above: album.path.parent.flatMap { $0 == .root ? nil : $0.string.dropFirst() }.map { String($0) },
                    count: album.count == 1 ? "1 photo" : "\(album.count) photos",
                    cover: GalleryTile(album.cover).photo
                )
            }, isEmpty: albums.isEmpty
        )
        return view(.albums, page, visit, policy: Self.picturePolicy)
    }

    /// The values of a page of the gallery.
    private struct Page {
        let title: String
        let isAlbum: Bool
        let album: String?
        let isEmpty: Bool
        let isFiltered: Bool
        let mayWrite: Bool
        let days: [(number: Int64, day: String, tiles: [GalleryTile])]
        let revision: Int64
        let query: String
        let base: String
        let choices: [(name: String, url: String, isChosen: Bool)]
        let removals: [(name: String, url: String)]
        let all: String
        let hidden: [(name: String, value: String)]
        let near: String?
        let from: String?
        let to: String?
        let words: String?
        let people: [(uid: Int64, name: String, isChosen: Bool)]
        let years: [(year: String, months: [(name: String, url: String)])]
        let newer: String?
        let older: String?
        let sharing: ShareMenu?
        let welcome: Welcome?
    }

    /// Shows the notes and photos of a folder by day, perhaps with a link to it that was just made.
    func timeline(
        _ visit: Visit, _ member: Member, in folder: RemotePath, link: MadeLink? = nil
    ) async throws -> Response {
        let choice = try GalleryChoice(visit, in: folder)
        let side = try Self.side(visit)
        func listed() async throws -> GalleryPage {
            try await list(visit, member, side, matching: choice.filter, limit: Self.pageSize + 1)
        }
        var found = try await listed()
        // The newest ones are looked into at once, and may be of another day then.
        let fresh = found.items.filter(\.isPending).map(\.entry)
        if !fresh.isEmpty {
            let now = fresh.prefix(Self.mostLookedInto)
            _ = try await describe(Array(now), visit, member)
            lookInto(Array(fresh.dropFirst(now.count)), for: member)
            found = try await listed()
        }
        let hasMore = found.items.count > Self.pageSize
        var items = Array(found.items.prefix(Self.pageSize))
        var (hasNewer, hasOlder) = (visit["before"] != nil, hasMore)
        if case .newer = side {
            items.reverse()
            (hasNewer, hasOlder) = (hasMore, true)
        }
        let page = Page(
            title: folder == .root ? "Photos" : folder.name, isAlbum: folder != .root,
            album: folder == .root ? nil : folder.name, isEmpty: items.isEmpty, isFiltered: !choice.fields.isEmpty,
            mayWrite: member.role >= .editor, days: Self.days(items), revision: found.revision,
            query: choice.scriptQuery, base: choice.base, choices: choice.contents,
            removals: choice.removals(found.members), all: choice.base,
            hidden: choice.fields.filter { ["show", "q"].contains($0.name) }, near: choice["near"],
            from: choice["from"], to: choice["to"], words: choice["q"],
            people: found.members.map { ($0.uid, $0.name, $0.uid == choice.filter.author) },
            years: folder == .root ? choice.years(found.months) : [],
            newer: hasNewer ? items.first.map { choice.address(at: ("after", $0.place)) } ?? choice.address() : nil,
            older: hasOlder ? items.last.map { choice.address(at: ("before", $0.place)) } : nil,
            sharing: folder != .root && member.role >= .editor
                ? ShareMenu(
                    what: "album", action: "/share" + Self.components(of: folder), made: link, isOpen: link != nil)
                : nil,
            welcome: folder == .root ? welcome(visit, member) : nil)
        return view(.gallery, page, visit, policy: Self.picturePolicy)
    }

    /// Where a page begins, or ends.
    private static func side(_ visit: Visit) throws(APIError) -> GallerySide {
        let places = ["before", "after"].map { name in visit[name].map { GalleryPlace($0) } }
        switch (places[0], places[1]) {
        case (nil, nil): return .older(than: .newest)
        case (.some(.some(let place)), nil): return .older(than: place)
        case (nil, .some(.some(let place))): return .newer(than: place)
        default: throw APIError(404, "Page not found.")
        }
    }

    private static func days(_ items: [GalleryItem]) -> [(number: Int64, day: String, tiles: [GalleryTile])] {
        var days: [(number: Int64, day: String, tiles: [GalleryTile])] = []
        for (index, item) in items.enumerated() {
            // Browsers load the first row at once.
            let tile = GalleryTile(item, isEager: index < 4)
            if days.last?.number != tile.day { days.append((tile.day, day(item.date), [])) }
            days[days.count - 1].tiles.append(tile)
        }
        return days
    }

    /// Answers `GET /gallery/index`: the days and the shapes of all items, for the script of a page.
    func galleryIndex(_ visit: Visit, _ member: Member) async throws -> Response {
        let choice = try GalleryChoice(visit, in: Self.folder(visit))
        let since = visit["since"].flatMap { Int64($0) }
        let store = store
        let index = try await visit.request.inTurn(of: shares.listings, for: .member(member.uid)) {
            try await store.galleryIndex(matching: choice.filter, newSince: since)
        }
        var json = JSONText()
        json.object { json in
            json.member("revision", index.revision)
            json.member("step", Int64(GalleryIndex.step))
            json.member("photos", Int64(index.newPhotos))
            json.member("notes", Int64(index.newNotes))
            json.key("days")
            json.array { json in
                for day in index.days {
                    json.value(day.number)
                    json.array { json in
                        for ratio in day.ratios { json.value(Int64(ratio)) }
                    }
                }
            }
            json.key("marks")
            json.array { json in
                for mark in index.marks { json.value("\(mark)") }
            }
        }
        return Self.script(json)
    }

    /// Answers `GET /gallery/items`: some items before a place, for the script of a page.
    func galleryItems(_ visit: Visit, _ member: Member) async throws -> Response {
        let choice = try GalleryChoice(visit, in: Self.folder(visit))
        let limit = try visit.request.parameters.integer("limit", in: 1...Self.mostItems) ?? Int64(GalleryIndex.step)
        let page = try await list(visit, member, Self.side(visit), matching: choice.filter, limit: Int(limit))
        lookInto(page.items.filter(\.isPending).map(\.entry), for: member)
        var json = JSONText()
        json.object { json in
            json.member("revision", page.revision)
            json.key("items")
            json.array { json in
                for item in page.items { GalleryTile(item).write(to: &json) }
            }
        }
        return Self.script(json)
    }

    private static func folder(_ visit: Visit) throws(APIError) -> RemotePath {
        try visit.request.parameters.path("in") ?? .root
    }

    private static func script(_ json: JSONText) -> Response {
        var response = Response.json(json.bytes)
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Reads a part of the gallery when it is the member's turn.
    private func list(
        _ visit: Visit, _ member: Member, _ side: GallerySide, matching filter: GalleryFilter, limit: Int
    ) async throws -> GalleryPage {
        let store = store
        return try await visit.request.inTurn(of: shares.listings, for: .member(member.uid)) {
            try await store.gallery(side, matching: filter, limit: limit)
        }
    }

    /// The items of the whole gallery before or after a place.
    func listing(
        _ visit: Visit, _ member: Member, _ side: GallerySide, limit: Int
    ) async throws -> [GalleryItem] {
        try await list(visit, member, side, matching: GalleryFilter(), limit: limit).items
    }
}
