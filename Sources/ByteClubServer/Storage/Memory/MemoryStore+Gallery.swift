import ByteClubCore

extension MemoryStore {
    func gallery(_ side: GallerySide, limit: Int) async throws -> [GalleryItem] {
        try query { club in
            let items = club.folder.descendants(.root, limit: .max).compactMap { Self.item($0, in: club) }
            let found =
                switch side {
                case .older(let place): items.filter { $0.place < place }.sorted { $0.place > $1.place }
                case .newer(let place): items.filter { $0.place > place }.sorted { $0.place < $1.place }
                }
            return Array(found.prefix(limit))
        }
    }

    private static func item(_ entry: FolderEntry, in club: MemoryClub) -> GalleryItem? {
        guard !entry.isFolder, let kind = GalleryKind(entry.path.name) else { return nil }
        if kind == .note, isCaption(entry, in: club) { return nil }
        let taken = entry.contentHash.flatMap { club.photos[$0]?.taken }
        let told =
            kind == .note ? entry : (try? PhotoCaption.path(of: entry.path)).flatMap { live($0, in: club) }
        let text = told?.contentHash.flatMap { club.contents[$0] }.map { Array($0.prefix(GalleryItem.textLimit)) }
        return GalleryItem(
            entry: entry, date: taken ?? entry.clientModified?.date ?? entry.modified, text: text)
    }

    private static func isCaption(_ entry: FolderEntry, in club: MemoryClub) -> Bool {
        let name = entry.path.name
        guard PathKey.fold(name).hasSuffix(".md"), GalleryKind(String(name.dropLast(3))) == .photo,
            let path = try? (entry.path.parent ?? .root).appending(String(name.dropLast(3)))
        else { return false }
        return live(path, in: club) != nil
    }

    private static func live(_ path: RemotePath, in club: MemoryClub) -> FolderEntry? {
        club.folder.latest(path.key).flatMap { $0.isDeleted || $0.isFolder ? nil : $0 }
    }
}
