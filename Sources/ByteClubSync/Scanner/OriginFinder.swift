/// Finds out whether a file or folder that turns up somewhere is one that the tree knows from another place.
///
/// It is, when its handle is known and the item has left the place at which the tree has it. A hard link has not left.
/// Neither has a file whose name was taken over by one that nobody knows: then the name's item is what has the name, and
/// the old file, under whatever name it now is, is a backup.
struct OriginFinder {
    private let walk: FolderWalk
    private let store: any TreeStore
    private let folder: ItemID
    /// The listing of the folder at hand, which is truer than another look would be.
    private let here: [EntryName: DiskEntry]

    init(_ walk: FolderWalk, _ store: any TreeStore, folder: ItemID, _ entries: [DiskEntry]) {
        self.walk = walk
        self.store = store
        self.folder = folder
        here = Dictionary(
            entries.filter(\.isDecodable).map { (EntryName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The item that an entry was before; nil when nobody knew it.
    ///
    /// `owner` is the item that the tree has under the entry's name, of the same kind. It yields only to an item that
    /// the server knows: what an editor wrote beside it and renamed over it is its new content.
    ///
    /// - Throws: ``FileError`` when nobody can tell now.
    func origin(of entry: DiskEntry, owner: Item?) throws -> Item? {
        var asked: Set<ItemID> = []
        return try origin(of: entry, owner: owner, &asked)
    }

    private func origin(of entry: DiskEntry, owner: Item?, _ asked: inout Set<ItemID>) throws -> Item? {
        for item in try store.items(handle: entry.look.handle) {
            guard let local = item.local, !item.isExcluded, item.isFolder == (entry.kind == .folder) else { continue }
            if item.id == owner?.id { continue }
            // It has been found there already.
            if let owner, local.place == owner.local?.place { return item }
            if owner != nil, item.remote == nil, item.synced == nil { continue }
            if try hasLeft(item, &asked) { return item }
        }
        return nil
    }

    /// Whether something else, or nothing, is where the tree has an item.
    private func hasLeft(_ item: Item, _ asked: inout Set<ItemID>) throws -> Bool {
        // Items that have changed places lead back to each other.
        guard asked.insert(item.id).inserted, let local = item.local else { return true }
        let found: DiskEntry?
        do {
            found = try local.place.parent == folder ? here[local.place.name] : walk.entry(at: local.place)
        } catch let error as FileError {
            // From a folder that cannot be read for long, nothing is taken.
            guard try isFrozen(local.place.parent) else { throw error }
            return false
        }
        guard let found, (found.kind == .folder) == item.isFolder else { return true }
        if case .other = found.kind { return true }
        if found.look.handle == local.look?.handle { return false }
        return try origin(of: found, owner: item, &asked) != nil
    }

    /// Whether a folder, or one above it, was found to be unreadable.
    private func isFrozen(_ folder: ItemID) throws -> Bool {
        var next = folder
        while next != .root, let item = try store.item(next) {
            if item.isFrozen { return true }
            guard let parent = item.local?.place.parent else { return false }
            next = parent
        }
        return false
    }
}
