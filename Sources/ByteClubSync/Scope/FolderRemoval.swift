import ByteClubCore

/// The files and folders on disk in a folder that is being deselected.
struct FolderRemoval {
    /// A file, with its stat when the server was known to have its content.
    struct File {
        var item: ItemID
        var path: String
        var name: String
        var stat: FileStat?
        var hash: ContentHash?
    }

    private let store: any TreeStore
    private(set) var files: [File] = []
    /// The folders' paths, children before their folder.
    private(set) var folders: [String] = []

    init(_ store: any TreeStore) { self.store = store }

    /// Collects a folder's files by the remote tree.
    mutating func gatherRemote(_ folder: ItemID, at path: String) throws {
        for child in try store.children(of: folder, on: .remote) {
            guard let remote = child.remote else { continue }
            let name = remote.location.name.text
            let inner = LocalPath.join(path, name)
            if child.isFolder {
                try gatherRemote(child.id, at: inner)
            } else {
                files.append(File(item: child.id, path: inner, name: name, hash: remote.hash))
            }
        }
        folders.append(path)
    }

    /// The same with only those files for which `stat` returns one.
    func confirmed(_ stat: (File) throws -> FileStat?) rethrows -> Self {
        var other = self
        other.files = try files.compactMap { file in
            try stat(file).map { stat in
                var file = file
                file.stat = stat
                return file
            }
        }
        return other
    }

    /// Collects all of a folder; false when the server does not have everything yet.
    mutating func gather(_ folder: ItemID, at path: String) throws -> Bool {
        guard let item = try store.item(folder), item.isSettled, item.remote != nil, !item.isFrozen else {
            return false
        }
        for child in try store.children(of: folder, on: .local) {
            guard let local = child.local else { continue }
            let name = local.location.name.text
            let inner = LocalPath.join(path, name)
            if child.isFolder {
                guard try gather(child.id, at: inner) else { return false }
                continue
            }
            guard child.isSettled, !child.isFrozen, let hash = local.hash, child.remote?.hash == hash else {
                return false
            }
            files.append(File(item: child.id, path: inner, name: name, stat: local.stat, hash: hash))
        }
        folders.append(path)
        return true
    }
}
