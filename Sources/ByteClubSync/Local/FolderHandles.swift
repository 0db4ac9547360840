/// A cache of the mirror's open folders by item; each is checked to be the one that the tree knows.
final class FolderHandles {
    /// How many are open at once: with what a scan and the database have open, far below 256 descriptors.
    private static let capacity = 64

    private let root: any DiskFolder
    private let store: any TreeStore
    private var open: [ItemID: any DiskFolder] = [:]

    init(root: any DiskFolder, store: any TreeStore) {
        self.root = root
        self.store = store
    }

    /// Opens the folder of an item; nil when it is not where the tree says, and then a rescan is requested.
    ///
    /// - Throws: The store's errors.
    func folder(_ id: ItemID, _ report: inout SyncReport) throws -> (any DiskFolder)? {
        if id == .root { return root }
        if let known = open[id] { return known }
        guard let local = try store.item(id)?.local, local.isFolder,
            let parent = try folder(local.location.parent, &report)
        else { return nil }
        do throws(FileError) {
            let found = try parent.folder(local.location.name.text)
            guard try found.stat().handle == local.stat?.handle else {
                report.rescans.insert(local.location.parent)
                return nil
            }
            if open.count >= Self.capacity { open.removeAll(keepingCapacity: true) }
            open[id] = found
            return found
        } catch {
            guard error.isMissing else { throw error }
            report.rescans.insert(local.location.parent)
            return nil
        }
    }

    /// Drops a folder that is gone or replaced.
    func forget(_ id: ItemID) { open[id] = nil }

    /// Drops all, since folders may have been renamed.
    func forgetAll() { open.removeAll(keepingCapacity: true) }
}
