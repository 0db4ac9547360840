import ByteClubCore
import TestSupport

@testable import ByteClubServer

extension MemoryStore {
    func gallery(_ side: GallerySide, matching filter: GalleryFilter, limit: Int) async throws -> GalleryPage {
        try query { club in
            let items = try matching(filter, in: club)
            let found =
                switch side {
                case .older(let place): items.filter { $0.place < place }.sorted { $0.place > $1.place }
                case .newer(let place): items.filter { $0.place > place }.sorted { $0.place < $1.place }
                }
            return GalleryPage(
                items: Array(found.prefix(limit)), months: Self.months(in: club),
                members: club.people.map(\.member).filter { !$0.isDisabled }.map { ($0.uid, $0.name) },
                revision: club.folder.lastRevision())
        }
    }

    func galleryIndex(matching filter: GalleryFilter, newSince revision: Int64?) async throws -> GalleryIndex {
        try query { club in
            var index = GalleryIndex()
            index.revision = club.folder.lastRevision()
            for item in try matching(filter, in: club).sorted(by: { $0.place > $1.place }) {
                let ratio = GalleryIndex.ratio(width: item.shape?.width, height: item.shape?.height)
                index.add(item.place, ratio: !item.isPhoto ? 0 : item.isPending ? GalleryIndex.unknown : ratio)
                guard let revision, item.entry.node.number > revision else { continue }
                if item.isPhoto { index.newPhotos += 1 } else { index.newNotes += 1 }
            }
            return index
        }
    }

    func albums(limit: Int) async throws -> [Album] {
        try query { club in
            let photos = Self.items(in: club).filter(\.isPhoto).sorted { $0.place > $1.place }
            let folders = Dictionary(grouping: photos) { $0.entry.path.parent ?? .root }
            let albums = folders.compactMap { path, photos in
                photos.first.map { Album(path: path, count: photos.count, cover: $0) }
            }
            return Array(albums.sorted { $0.cover.place > $1.cover.place }.prefix(limit))
        }
    }

    private func matching(_ filter: GalleryFilter, in club: MemoryClub) throws -> [GalleryItem] {
        let folder = SharedFolder(state: club.folder, now: now, author: 0, names: club.name)
        let place = try folder.existing(filter.folder).path.key
        return Self.items(in: club).filter { item in
            let kind = Self.kind(of: item.entry, in: club)
            let isOfKind =
                switch filter.content {
                case .all: true
                case .photos: item.isPhoto
                case .panoramas: kind.map(PhotoShape.Kind.panoramas.contains) ?? false
                case .notes: !item.isPhoto
                }
            let photo = item.entry.contentHash.flatMap { club.photos[$0] }
            let name = FoldedText(item.entry.path.name)
            let text = item.text.map { FoldedText(String(decoding: $0, as: UTF8.self)) }
            return isOfKind && item.entry.path.key.isBelow(place)
                && PhotoFilter(since: filter.since, until: filter.until, near: filter.near)
                    .matches(kind: kind, date: item.date, place: photo?.place)
                && filter.author.map { $0 == item.entry.author } ?? true
                && filter.words?.matches(name: name, text: text) ?? true
        }
    }

    func withoutPlaceholders(_ hashes: [ContentHash]) async throws -> [ContentHash] {
        try query { club in
            hashes.filter { club.photos[$0]?.shape != nil && club.placeholders[$0] == nil }
        }
    }

    func keep(placeholders: [ContentHash: [UInt8]]) async throws {
        try change { $0.placeholders.merge(placeholders) { $1 } }
    }

    func notes(limit: Int) async throws -> [NoteItem] {
        try query { club in
            Self.items(in: club).filter { !$0.isPhoto }.sorted { $0.place > $1.place }.prefix(limit)
                .map { NoteItem(entry: $0.entry, date: $0.date, text: $0.text) }
        }
    }

    func galleryPlace(of revision: Int64) async throws -> GalleryPlace? {
        try query { club in Self.items(in: club).first { $0.entry.revision == revision }?.place }
    }

    private static func months(in club: MemoryClub) -> [APIDate] {
        var months: [String: APIDate] = [:]
        for date in items(in: club).map(\.date) {
            let month = String(date.rfc3339.prefix(7))
            months[month] = max(months[month] ?? date, date)
        }
        return months.values.sorted(by: >)
    }

    func photos(
        below path: RemotePath, matching filter: PhotoFilter, named name: SearchQuery?, limit: Int
    ) async throws -> [Metadata] {
        let now = now
        return try query { club in
            let folder = SharedFolder(state: club.folder, now: now, author: 0, names: club.name)
            let place = try folder.existing(path)
            let found = Self.items(in: club).filter { item in
                item.isPhoto && item.entry.path.key.isBelow(place.path.key)
                    && name?.matches(item.entry.path.name) ?? true
                    && filter.matches(
                        kind: Self.kind(of: item.entry, in: club), date: item.date,
                        place: item.entry.contentHash.flatMap { club.photos[$0]?.place })
            }
            return try found.sorted { $0.place > $1.place }.prefix(limit).map { try folder.describe($0.entry) }
        }
    }

    func unreadPhotos(below path: RemotePath, limit: Int) async throws -> [FolderEntry] {
        try query { club in
            let unread = Self.items(in: club).map(\.entry).filter { entry in
                GalleryKind(entry.path.name) == .photo && entry.path.key.isBelow(path.key)
                    && entry.contentHash.map { club.photos[$0] == nil } ?? false
            }
            return Array(unread.sorted { $0.revision > $1.revision }.prefix(limit))
        }
    }

    func captions(of photos: [PathKey]) async throws -> [PathKey: [UInt8]] {
        try query { club in
            Dictionary(
                photos.compactMap { photo in Self.caption(of: photo, in: club).map { (photo, $0) } },
                uniquingKeysWith: { $1 })
        }
    }

    func captionViews(of photos: [PathKey]) async throws -> [PathKey: PhotoShape.Kind] {
        try await captions(of: photos).compactMapValues { Self.view($0) }
    }

    private static func items(in club: MemoryClub) -> [GalleryItem] {
        club.folder.descendants(.root, limit: .max).compactMap { item($0, in: club) }
    }

    private static func item(_ entry: FolderEntry, in club: MemoryClub) -> GalleryItem? {
        guard !entry.isFolder, let kind = GalleryKind(entry.path.name) else { return nil }
        if kind == .note, isCaption(entry, in: club) { return nil }
        let hash = kind == .photo ? entry.contentHash : nil
        let photo = hash.flatMap { club.photos[$0] }
        let text =
            kind == .note
            ? entry.contentHash.flatMap { club.contents[$0] } : caption(of: entry.path.key, in: club)
        return GalleryItem(
            entry: entry, date: photo?.taken?.clock ?? (entry.clientModified?.date ?? entry.modified).onServerClock,
            shape: photo?.shape, isPending: kind == .photo && photo == nil,
            placeholder: hash.flatMap { club.placeholders[$0] },
            text: text.map { Array($0.prefix(GalleryItem.textLimit)) })
    }

    private static func kind(of entry: FolderEntry, in club: MemoryClub) -> PhotoShape.Kind? {
        guard GalleryKind(entry.path.name) == .photo, let hash = entry.contentHash,
            let shape = club.photos[hash]?.shape
        else { return nil }
        return caption(of: entry.path.key, in: club).flatMap { view($0) } ?? shape.kind
    }

    private static func caption(of photo: PathKey, in club: MemoryClub) -> [UInt8]? {
        live(PhotoCaption.key(of: photo), in: club)?.contentHash.flatMap { club.contents[$0] }
    }

    private static func view(_ caption: [UInt8]) -> PhotoShape.Kind? {
        PhotoCaption(note: String(decoding: caption, as: UTF8.self)).view
    }

    private static func isCaption(_ entry: FolderEntry, in club: MemoryClub) -> Bool {
        GalleryKind.isCaption(entry.path.name)
            && live(PathKey(folded: String(entry.path.key.string.dropLast(3))), in: club) != nil
    }

    private static func live(_ key: PathKey, in club: MemoryClub) -> FolderEntry? {
        club.folder.latest(key).flatMap { $0.isDeleted || $0.isFolder ? nil : $0 }
    }
}
