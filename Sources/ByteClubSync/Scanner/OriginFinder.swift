/// Determines whether a new entry is one that the tree knows from another location.
///
/// It is, when its handle is known and the item has left the location that the tree has. A hard link has not left.
/// Neither has a file whose name is now another, unknown file's: then the item stays with the name, and the old file,
/// wherever it is, is an editor's backup.
struct OriginFinder {
    private let handles: FolderHandles
    private let store: any TreeStore
    private let folder: ItemID
    /// The current folder's listing, which is consistent, unlike another stat.
    private let here: [EntryName: DiskEntry]

    init(_ handles: FolderHandles, _ store: any TreeStore, folder: ItemID, _ entries: [DiskEntry]) {
        self.handles = handles
        self.store = store
        self.folder = folder
        here = Dictionary(
            entries.filter(\.isDecodable).map { (EntryName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The item that an entry was before; nil when it is unknown.
    ///
    /// `owner` is the item that the tree has under the entry's name, of the same kind. It yields only to an item that
    /// the server knows: what an editor wrote beside it and renamed over it is its new content.
    ///
    /// - Throws: ``FileError`` when it cannot be determined now.
    func origin(of entry: DiskEntry, owner: Item?) throws -> Item? {
        var asked: Set<ItemID> = []
        return try origin(of: entry, owner: owner, &asked)
    }

    private func origin(of entry: DiskEntry, owner: Item?, _ asked: inout Set<ItemID>) throws -> Item? {
        for item in try store.items(handle: entry.stat.handle) {
            guard let local = item.local, !item.isExcluded, item.isFolder == (entry.kind == .folder) else { continue }
            if item.id == owner?.id { continue }
            // It was found there already.
            if let owner, local.location == owner.local?.location { return item }
            if owner != nil, item.remote == nil, item.synced == nil { continue }
            if try hasLeft(item, &asked) { return item }
        }
        return nil
    }

    /// Whether an item is no longer where the tree has it.
    private func hasLeft(_ item: Item, _ asked: inout Set<ItemID>) throws -> Bool {
        // Items that were exchanged refer to each other.
        guard asked.insert(item.id).inserted, let local = item.local else { return true }
        let found: DiskEntry?
        do {
            found = try local.location.parent == folder ? here[local.location.name] : handles.entry(at: local.location)
        } catch let error as FileError {
            // Nothing is moved out of a folder that stays unreadable.
            guard try isFrozen(local.location.parent) else { throw error }
            return false
        }
        guard let found, (found.kind == .folder) == item.isFolder else { return true }
        if case .other = found.kind { return true }
        if found.stat.handle == local.stat?.handle { return false }
        return try origin(of: found, owner: item, &asked) != nil
    }

    /// Whether a folder, or one above it, was found to be unreadable.
    private func isFrozen(_ folder: ItemID) throws -> Bool {
        var next = folder
        while next != .root, let item = try store.item(next) {
            if item.isFrozen { return true }
            guard let parent = item.local?.location.parent else { return false }
            next = parent
        }
        return false
    }
}
