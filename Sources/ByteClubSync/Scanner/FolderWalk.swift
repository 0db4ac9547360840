import Glibc

/// Opens items' folders by going down to them from the root, and keeps a few open.
///
/// It lives as long as a batch of work. Names are the tree's: a folder that was renamed meanwhile is not found, or
/// another one is, so whoever needs to be sure compares handles.
final class FolderWalk {
    private static let capacity = 32

    private let root: any DiskFolder
    private let tree: any TreeView
    private var open: [ItemID: any DiskFolder] = [:]

    init(root: any DiskFolder, tree: any TreeView) {
        self.root = root
        self.tree = tree
    }

    /// Opens a folder of the tree.
    ///
    /// - Throws: ``FileError``, with `ENOENT` when the tree has no such folder on disk.
    func folder(_ item: ItemID) throws -> any DiskFolder {
        if item == .root { return root }
        if let known = open[item] { return known }
        guard let chain = try LocalPath.chain(of: item, in: tree) else {
            throw FileError(operation: "open", path: "\(item)", code: ENOENT)
        }
        var current = root
        for step in chain { current = try current.folder(step.state.place.name.text) }
        keep(current, item)
        return current
    }

    /// What is at a place of the tree; nil when nothing is, or when its folder is not where the tree has it.
    func entry(at place: Place) throws -> DiskEntry? {
        do {
            return try folder(place.parent).entry(place.name.text)
        } catch let error as FileError where error.isMissing {
            return nil
        }
    }

    /// Goes down to a folder as long as each one on the way is the one that the tree knows.
    ///
    /// - Returns: The folder, or the one above it below which the tree is out of date.
    func verified(_ item: ItemID) throws -> (item: ItemID, folder: any DiskFolder)? {
        guard let chain = try LocalPath.chain(of: item, in: tree) else { return nil }
        var (current, reached) = (root, ItemID.root)
        for step in chain {
            do {
                let next = try current.folder(step.state.place.name.text)
                if let known = step.state.look?.handle, try next.look().handle != known { return (reached, current) }
                (current, reached) = (next, step.item)
            } catch {
                return (reached, current)
            }
        }
        return (reached, current)
    }

    /// Forgets all, because folders were renamed.
    func forget() { open.removeAll() }

    private func keep(_ folder: any DiskFolder, _ item: ItemID) {
        if open.count >= Self.capacity { open.removeAll() }
        open[item] = folder
    }
}
