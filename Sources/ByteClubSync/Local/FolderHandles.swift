/// The mirror's folders that are open, by their items; each is checked to be the one that the tree knows.
final class FolderHandles {
    private static let capacity = 128

    private let root: any DiskFolder
    private let store: any TreeStore
    private var open: [ItemID: any DiskFolder] = [:]

    init(root: any DiskFolder, store: any TreeStore) {
        self.root = root
        self.store = store
    }

    /// Opens the folder of an item; nil when it is not where the tree says, and is to be scanned again.
    func folder(_ id: ItemID, _ report: inout SyncReport) throws -> (any DiskFolder)? {
        if id == .root { return root }
        if let known = open[id] { return known }
        guard let local = try store.item(id)?.local, local.isFolder,
            let parent = try folder(local.place.parent, &report)
        else { return nil }
        do throws(FileError) {
            let found = try parent.folder(local.place.name.text)
            guard try found.look().handle == local.look?.handle else {
                report.rescans.insert(local.place.parent)
                return nil
            }
            if open.count >= Self.capacity { open.removeAll(keepingCapacity: true) }
            open[id] = found
            return found
        } catch {
            guard error.isMissing else { throw error }
            report.rescans.insert(local.place.parent)
            return nil
        }
    }

    /// Forgets a folder that is gone or another one.
    func forget(_ id: ItemID) { open[id] = nil }

    /// Forgets all, since folders may have been renamed.
    func forgetAll() { open.removeAll(keepingCapacity: true) }
}
