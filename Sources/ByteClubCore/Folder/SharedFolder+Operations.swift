extension SharedFolder {
    /// Makes a folder and its missing parents.
    ///
    /// - Throws: ``APIError`` 403 when a live entry is there, 400 for an ignored name.
    public mutating func createFolder(_ path: RemotePath) throws -> FolderEntry {
        if try live(path) != nil { throw APIError(403, "'\(path)' is there already") }
        try Self.checkWritable(path)
        return try record(.folder(at: prepareParent(of: path)))
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
        return try bury(entry, below)
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
        return try removing ? move(source, below, to: target) : copy(source, below, to: target)
    }

    /// Gives an entry another name or folder; what is below it keeps both, and only its path changes.
    mutating func move(_ source: FolderEntry, _ below: [FolderEntry], to target: Place) throws -> FolderEntry {
        try Self.checkLengths(below, from: source.path, to: target.path)
        if source.path.key != target.path.key { _ = try bury(source, below) }
        var moved = source
        (moved.path, moved.parent, moved.placeRevision) = (target.path, target.parent, 0)
        let result = try record(moved)
        for child in below {
            guard let path = child.path.rebased(from: source.path, to: target.path) else { continue }
            var child = child
            child.path = path
            try record(child)
        }
        return result
    }

    /// Refuses a place under which something would get a path that is none.
    private static func checkLengths(_ below: [FolderEntry], from old: RemotePath, to new: RemotePath) throws(APIError)
    {
        let growth = new.string.utf8.count - old.string.utf8.count
        guard growth > 0 else { return }
        for child in below where child.path.string.utf8.count + growth > NameRules.maximumPathBytes {
            throw APIError(400, "'\(child.path)' would get a path longer than \(NameRules.maximumPathBytes) bytes")
        }
    }

    private mutating func copy(_ source: FolderEntry, _ below: [FolderEntry], to target: Place) throws -> FolderEntry {
        try Self.checkLengths(below, from: source.path, to: target.path)
        let result = try record(source.copied(to: target))
        var copies = [source.node: result.node]
        for child in below {
            guard let path = child.path.rebased(from: source.path, to: target.path), let parent = copies[child.parent]
            else { continue }
            copies[child.node] = try record(child.copied(to: Place(path: path, parent: parent))).node
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
        let current = try live(path)
        if let current, current.isFolder { throw APIError(403, "'\(path)' is a folder now") }
        let place = try prepareParent(of: old.path, reviving: true)
        var restored = old.copied(to: place)
        if let current {
            restored.node = current.node
            restored.placeRevision = current.path == place.path ? current.placeRevision : 0
        } else {
            restored.node = try revivable(old)
        }
        return try record(restored)
    }

    /// Deletes an entry and what is below it.
    mutating func bury(_ entry: FolderEntry, _ below: [FolderEntry]) throws -> FolderEntry {
        let gone = try record(entry.buried)
        for child in below { try record(child.buried) }
        return gone
    }
}

extension FolderEntry {
    /// The version that says that the entry is gone.
    fileprivate var buried: FolderEntry {
        var gone = self
        (gone.isDeleted, gone.bytes, gone.contentHash, gone.contentRevision) = (true, 0, nil, 0)
        return gone
    }

    /// A new entry with the same content at another place.
    fileprivate func copied<State>(to place: SharedFolder<State>.Place) -> FolderEntry {
        var copy = self
        (copy.path, copy.parent, copy.node) = (place.path, place.parent, .root)
        (copy.contentRevision, copy.placeRevision) = (0, 0)
        return copy
    }
}
