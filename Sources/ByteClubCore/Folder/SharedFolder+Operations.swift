extension SharedFolder {
    /// Makes a folder and its missing parents.
    ///
    /// - Throws: ``APIError`` 403 when a live entry is there, 400 for an ignored name.
    public mutating func createFolder(_ path: RemotePath) throws -> FolderEntry {
        if try live(path) != nil { throw APIError(403, "'\(path)' is there already") }
        try Self.checkWritable(path)
        let stored = try prepareParent(of: path)
        return try record(FolderEntry(path: stored, isFolder: true, revision: 0, modified: now, author: author))
    }

    /// Deletes an entry with all below it; each gets a version that says so.
    ///
    /// With `seen`, a file must still have that version, and nothing that is left in a folder may be newer.
    /// Throws ``APIError`` 403 for the root, 404 when it is gone, 406 over the limit, 409 when it is newer than `seen`.
    public mutating func delete(_ path: RemotePath, seen: Revision?) throws -> FolderEntry {
        if path.isRoot { throw APIError(403, "the root cannot be deleted") }
        guard let entry = try live(path) else { throw APIError.notFound(path) }
        let below = try subtree(of: entry)
        if let seen {
            let newest = entry.isFolder ? below.lazy.map(\.revision).max() ?? 0 : entry.revision
            if entry.isFolder ? newest > seen.number : newest != seen.number {
                throw APIError(409, "'\(path)' has changed since \(seen)")
            }
        }
        let gone = try bury(entry)
        for child in below { _ = try bury(child) }
        return gone
    }

    /// Moves an entry with all below it; a destination that differs in case only renames it in place.
    ///
    /// - Throws: ``APIError`` 403 for the root, a live destination or one inside the source; 404 when the source is
    ///   gone; 406 over the limit.
    public mutating func move(_ path: RemotePath, to destination: RemotePath) throws -> FolderEntry {
        try transfer(path, to: destination, removing: true)
    }

    /// Copies an entry with all below it; the copies start new histories.
    ///
    /// - Throws: As ``move(_:to:)``.
    public mutating func copy(_ path: RemotePath, to destination: RemotePath) throws -> FolderEntry {
        try transfer(path, to: destination, removing: false)
    }

    private mutating func transfer(
        _ path: RemotePath, to destination: RemotePath, removing: Bool
    ) throws -> FolderEntry {
        if path.isRoot || destination.isRoot { throw APIError(403, "the root cannot be moved or copied") }
        guard let source = try live(path) else { throw APIError.notFound(path) }
        try Self.checkWritable(destination)
        let renames = removing && source.path.key == destination.key
        if !renames, try live(destination) != nil { throw APIError(403, "'\(destination)' is there already") }
        if source.isFolder, destination.key.isBelow(source.path.key) {
            throw APIError(403, "'\(path)' cannot go into itself")
        }
        let below = try subtree(of: source)
        let target = try prepareParent(of: destination)
        if removing, !renames {
            _ = try bury(source)
            for child in below { _ = try bury(child) }
        }
        var moved = source
        moved.path = target
        let result = try record(moved)
        for child in below {
            guard let place = child.path.rebased(from: source.path, to: target) else { continue }
            var moved = child
            moved.path = place
            try record(moved)
        }
        return result
    }

    /// Makes a new version of a file with the content of an old one; works on a deleted file too.
    ///
    /// - Throws: ``APIError`` 404 for a version that the path never had, 400 for one that is a deletion, 403 when a
    ///   folder is there now.
    public mutating func restore(_ path: RemotePath, to revision: Revision) throws -> FolderEntry {
        guard let old = try state.version(path.key, revision: revision.number), !old.isFolder else {
            throw APIError(404, "Revision '\(revision)' of '\(path)' not found")
        }
        if old.isDeleted { throw APIError(400, "the revision \(revision) is a deletion", parameter: "rev") }
        if let current = try live(path), current.isFolder { throw APIError(403, "'\(path)' is a folder now") }
        var restored = old
        restored.path = try prepareParent(of: old.path)
        return try record(restored)
    }

    private mutating func bury(_ entry: FolderEntry) throws -> FolderEntry {
        var gone = entry
        gone.isDeleted = true
        gone.bytes = 0
        gone.contentHash = nil
        return try record(gone)
    }
}
