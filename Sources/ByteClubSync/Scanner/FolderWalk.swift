import Glibc

/// Opens folders of the tree from the root down, and keeps a few open.
///
/// It lives as long as a batch of work. Names are the tree's: a folder that was renamed meanwhile is not found, or
/// another one is, so callers that must be sure compare handles.
final class FolderWalk {
    /// How many folders are kept before the older half is closed.
    private static let capacity = 96

    private let root: any DiskFolder
    private let tree: any TreeView
    private var open: [ItemID: any DiskFolder] = [:]
    /// Those that were opened before.
    private var older: [ItemID: any DiskFolder] = [:]

    init(root: any DiskFolder, tree: any TreeView) {
        self.root = root
        self.tree = tree
    }

    /// Opens a folder of the tree.
    ///
    /// - Throws: ``FileError``, with `ENOENT` when the tree has no such folder on disk.
    func folder(_ item: ItemID) throws -> any DiskFolder {
        if item == .root { return root }
        if let known = open[item] ?? older[item] { return known }
        guard let chain = try LocalPath.chain(of: item, in: tree) else {
            throw FileError(operation: "open", path: "\(item)", code: ENOENT)
        }
        var current = root
        for step in chain { current = try current.folder(step.state.location.name.text) }
        keep(current, item)
        return current
    }

    /// Opens a folder that was open before, while it is where the tree has it.
    ///
    /// - Throws: ``FileError``, with `ENOENT` when it is there no more.
    func again(_ item: ItemID) throws -> any DiskFolder {
        if item == .root { return root }
        if let known = open[item] ?? older[item] { return known }
        guard let found = try verified(item), found.item == item else {
            throw FileError(operation: "open", path: "\(item)", code: ENOENT)
        }
        return found.folder
    }

    /// The entry at a location of the tree; nil when there is none, or its folder is not where the tree has it.
    func entry(at location: Location) throws -> DiskEntry? {
        do {
            return try folder(location.parent).entry(location.name.text)
        } catch let error as FileError where error.isMissing {
            return nil
        }
    }

    /// Opens a folder while each one on the path is the one that the tree knows.
    ///
    /// - Returns: The folder, or the one above it below which the tree is out of date.
    func verified(_ item: ItemID) throws -> (item: ItemID, folder: any DiskFolder)? {
        guard let chain = try LocalPath.chain(of: item, in: tree) else { return nil }
        var (current, reached) = (root, ItemID.root)
        for step in chain {
            do {
                let next = try current.folder(step.state.location.name.text)
                if let known = step.state.stat?.handle, try next.stat().handle != known { return (reached, current) }
                (current, reached) = (next, step.item)
            } catch {
                return (reached, current)
            }
        }
        keep(current, item)
        return (reached, current)
    }

    /// Drops all cached folders, because folders were renamed.
    func forget() { (open, older) = ([:], [:]) }

    /// Keeps a folder open that was just opened.
    func keep(_ folder: any DiskFolder, _ item: ItemID) {
        if open.count >= Self.capacity / 2 { (open, older) = ([:], open) }
        open[item] = folder
    }
}
