import Glibc

/// A cache of the mirror's open folders by item; each is checked to be the folder that the tree knows.
final class FolderHandles {
    /// The most open folders: with the folders of a scan, and the database, far below 256 descriptors.
    private static let capacity = 64

    /// The end of the way from the root to a folder.
    struct Reach {
        /// The wanted folder, or the last one above it for which disk and tree agree.
        var item: ItemID
        var folder: any DiskFolder
        /// Why the next folder could not be opened; nil when it is another than the tree's.
        var failure: FileError?
    }

    private let root: any DiskFolder
    private let tree: any TreeView
    private var open: [ItemID: any DiskFolder] = [:]
    /// Those that were opened before, to be closed next.
    private var older: [ItemID: any DiskFolder] = [:]

    init(root: any DiskFolder, tree: any TreeView) {
        self.root = root
        self.tree = tree
    }

    /// Opens the folders from the root down to an item while each is the one that the tree knows.
    ///
    /// - Returns: How far that was possible; nil for an item that is not in the local tree.
    func reach(_ id: ItemID) throws -> Reach? {
        if let known = known(id) { return Reach(item: id, folder: known) }
        guard let chain = try tree.localChain(of: id) else { return nil }
        var reached = Reach(item: .root, folder: root)
        var rest = chain[...]
        if let nearest = chain.lastIndex(where: { known($0.item) != nil }), let known = known(chain[nearest].item) {
            reached = Reach(item: chain[nearest].item, folder: known)
            rest = chain[(nearest + 1)...]
        }
        for step in rest {
            do throws(FileError) {
                let next = try reached.folder.folder(step.state.location.name.text)
                guard try next.stat().handle == step.state.stat?.handle else { return reached }
                keep(next, step.item)
                reached = Reach(item: step.item, folder: next)
            } catch {
                reached.failure = error
                return reached
            }
        }
        return reached
    }

    /// Opens the folder of an item.
    ///
    /// - Throws: ``FileError``, with `ENOENT` when it is not where the tree has it; the store's errors.
    func folder(_ id: ItemID) throws -> any DiskFolder {
        let reached = try reach(id)
        if let reached, reached.item == id { return reached.folder }
        throw reached?.failure ?? FileError(operation: "open", path: "\(id)", code: ENOENT)
    }

    /// Opens the folder of an item; nil when it is not where the tree has it, and then a rescan is requested.
    ///
    /// - Throws: ``FileError`` when the disk refuses; the store's errors.
    func folder(_ id: ItemID, _ report: inout SyncReport) throws -> (any DiskFolder)? {
        guard let reached = try reach(id) else { return nil }
        if reached.item == id { return reached.folder }
        if let failure = reached.failure, !failure.isMissing { throw failure }
        report.rescans.insert(reached.item)
        return nil
    }

    /// The entry at a location of the tree; nil when there is none.
    ///
    /// The folders above it count by their names: a folder that was rebuilt under its name still has the entry.
    func entry(at location: Location) throws -> DiskEntry? {
        do {
            if let reached = try reach(location.parent), reached.item == location.parent {
                return try reached.folder.entry(location.name.text)
            }
            guard let chain = try tree.localChain(of: location.parent) else { return nil }
            var folder = root
            for step in chain { folder = try folder.folder(step.state.location.name.text) }
            return try folder.entry(location.name.text)
        } catch let error as FileError where error.isMissing {
            return nil
        }
    }

    /// Keeps a folder that was just opened.
    func keep(_ folder: any DiskFolder, _ id: ItemID) {
        if open.count >= Self.capacity / 2 { (open, older) = ([:], open) }
        open[id] = folder
    }

    /// Drops a folder that was deleted or replaced.
    func forget(_ id: ItemID) { (open[id], older[id]) = (nil, nil) }

    /// Drops all folders, since some may have been renamed.
    func forgetAll() { (open, older) = ([:], [:]) }

    private func known(_ id: ItemID) -> (any DiskFolder)? { id == .root ? root : open[id] ?? older[id] }
}
