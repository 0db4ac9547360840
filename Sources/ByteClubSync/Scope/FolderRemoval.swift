import ByteClubCore

/// What is on disk in a folder that is to be left out.
struct FolderRemoval {
    /// A file, with how it looked when the server was known to have it.
    struct File {
        var item: ItemID
        var path: String
        var name: String
        var look: DiskLook?
        var hash: ContentHash?
    }

    private let store: any TreeStore
    private(set) var files: [File] = []
    /// The folders' paths, what is in a folder before it.
    private(set) var folders: [String] = []

    init(_ store: any TreeStore) { self.store = store }

    /// Gathers what the server shows of a folder.
    mutating func gatherRemote(_ folder: ItemID, at path: String) throws {
        for child in try store.children(of: folder, on: .remote) {
            guard let remote = child.remote else { continue }
            let name = remote.place.name.text
            let inner = LocalPath.join(path, name)
            if child.isFolder {
                try gatherRemote(child.id, at: inner)
            } else {
                files.append(File(item: child.id, path: inner, name: name, hash: remote.hash))
            }
        }
        folders.append(path)
    }

    /// The same with those files alone of which a look is known.
    func confirmed(_ look: (File) throws -> DiskLook?) rethrows -> Self {
        var other = self
        other.files = try files.compactMap { file in
            try look(file).map { look in
                var file = file
                file.look = look
                return file
            }
        }
        return other
    }

    /// Gathers all of a folder; false when the server does not have everything yet.
    mutating func gather(_ folder: ItemID, at path: String) throws -> Bool {
        guard let item = try store.item(folder), item.isSettled, item.remote != nil, !item.isFrozen else {
            return false
        }
        for child in try store.children(of: folder, on: .local) {
            guard let local = child.local else { continue }
            let name = local.place.name.text
            let inner = LocalPath.join(path, name)
            if child.isFolder {
                guard try gather(child.id, at: inner) else { return false }
                continue
            }
            guard child.isSettled, !child.isFrozen, let hash = local.hash, child.remote?.hash == hash else {
                return false
            }
            files.append(File(item: child.id, path: inner, name: name, look: local.look, hash: hash))
        }
        folders.append(path)
        return true
    }
}
