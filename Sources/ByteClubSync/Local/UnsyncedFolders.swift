/// The folders in which names were changed that are not durable yet.
///
/// A few stay open and are synced one by one; of more, none is kept, and their whole file system is synced.
struct UnsyncedFolders {
    private var open: [ItemID: any DiskFolder] = [:]
    private var areMany = false

    /// Notes that names were changed in the folder of an item.
    mutating func insert(_ folder: any DiskFolder, _ item: ItemID) {
        if areMany { return }
        open[item] = folder
        if open.count > SyncContext.fewFiles { (open, areMany) = ([:], true) }
    }

    /// Drops the folder of an item that is gone itself.
    mutating func remove(_ item: ItemID) { open[item] = nil }

    /// Makes the names durable; `root` is on the same file system.
    func sync(in root: any DiskFolder) throws(FileError) {
        if areMany { return try root.syncFileSystem() }
        for (_, folder) in open.sorted(by: { $0.key < $1.key }) { try folder.sync() }
    }
}
