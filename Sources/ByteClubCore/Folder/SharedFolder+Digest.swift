extension SharedFolder {
    /// The digest of a folder and of the folders directly in it.
    ///
    /// - Throws: ``APIError`` 404 when there is no such folder.
    public func digest(_ path: RemotePath) throws -> SyncDigest {
        guard let folder = try live(path), folder.isFolder else { throw APIError.notFound(path) }
        var children: [PathKey: TreeDigest] = [:]
        var digester = TreeDigester(at: folder.path) { path, digest in
            if path.key.parent == folder.path.key { children[path.key] = digest }
        }
        var folders: [FolderEntry] = []
        for entry in try state.descendants(folder.path.key, limit: .max) {
            if let hash = entry.contentHash {
                digester.add(file: entry.path, hash: hash)
            } else {
                digester.add(folder: entry.path)
                if entry.parent == folder.node { folders.append(entry) }
            }
        }
        let whole = digester.finish()
        return SyncDigest(
            node: folder.node, sequence: try state.lastRevision(), digest: whole,
            folders: folders.compactMap { entry in
                children[entry.path.key].map {
                    SyncDigest.Folder(node: entry.node, name: entry.path.name, digest: $0)
                }
            })
    }
}
