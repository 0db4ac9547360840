import ByteClubCore
import TestSupport

@testable import ByteClubServer

extension MemoryStore {
    func gallery(_ side: GallerySide, of kinds: Set<PhotoShape.Kind>?, limit: Int) async throws -> [GalleryItem] {
        try query { club in
            let items = Self.items(in: club).filter { item in
                guard let kinds else { return true }
                return Self.kind(of: item.entry, in: club).map(kinds.contains) ?? false
            }
            let found =
                switch side {
                case .older(let place): items.filter { $0.place < place }.sorted { $0.place > $1.place }
                case .newer(let place): items.filter { $0.place > place }.sorted { $0.place < $1.place }
                }
            return Array(found.prefix(limit))
        }
    }

    func galleryPlace(of revision: Int64) async throws -> GalleryPlace? {
        try query { club in Self.items(in: club).first { $0.entry.revision == revision }?.place }
    }

    func galleryMonths(limit: Int) async throws -> [APIDate] {
        try query { club in
            var months: [String: APIDate] = [:]
            for date in Self.items(in: club).map(\.date) {
                let month = String(date.rfc3339.prefix(7))
                months[month] = max(months[month] ?? date, date)
            }
            return Array(months.values.sorted(by: >).prefix(limit))
        }
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
        let taken = kind == .photo ? entry.contentHash.flatMap { club.photos[$0]?.taken?.clock } : nil
        let text =
            kind == .note
            ? entry.contentHash.flatMap { club.contents[$0] } : caption(of: entry.path.key, in: club)
        return GalleryItem(
            entry: entry, date: taken ?? (entry.clientModified?.date ?? entry.modified).onServerClock,
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
