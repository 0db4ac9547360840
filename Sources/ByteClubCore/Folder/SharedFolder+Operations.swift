extension SharedFolder {
    /// Makes a folder and its missing parents.
    ///
    /// - Throws: ``APIError`` 403 when a live entry is there, 400 for an ignored name.
    public mutating func createFolder(_ path: RemotePath) throws -> FolderEntry {
        if try live(path) != nil { throw APIError(403, "'\(path)' already exists") }
        try Self.checkWritable(path)
        return try record(.folder(at: prepareParent(of: path)))
    }

    /// Deletes an entry with everything below it; each gets a deleted version.
    ///
    /// With `seen`, a file must still have that version, and nothing in a folder may be newer. Throws ``APIError`` 403
    /// for the root, 404 when it does not exist, 406 over the limit, 409 when it is newer than `seen`.
    public mutating func delete(_ path: RemotePath, seen: JournalRevision?) throws -> FolderEntry {
        if path.isRoot { throw APIError(403, "the root cannot be deleted") }
        let entry = try existing(path)
        let summary = try summary(of: entry, limit: Self.maximumEntries)
        if let seen {
            let newest = entry.isFolder ? summary.newest : entry.revision
            if entry.isFolder ? newest > seen.number : newest != seen.number {
                throw APIError(409, "'\(path)' has changed since \(seen)")
            }
        }
        return try tombstone(entry, summary)
    }

    /// Moves an entry with all below it; a destination that differs in case only renames it in place.
    ///
    /// - Throws: ``APIError`` 403 for the root, a live destination or one inside the source; 404 without a source; 406
    ///   over the limit.
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
        let source = try existing(path)
        try Self.checkWritable(destination)
        let renames = removing && source.path.key == destination.key
        if !renames, try live(destination) != nil { throw APIError(403, "'\(destination)' already exists") }
        if source.isFolder, destination.key.isBelow(source.path.key) {
            throw APIError(403, "'\(path)' cannot be moved into itself")
        }
        if removing {
            let summary = try summary(of: source, limit: Self.maximumEntries)
            return try move(source, summary, to: prepareParent(of: destination))
        }
        let below = try subtree(of: source)
        return try copy(source, below, to: prepareParent(of: destination))
    }

    /// Gives an entry another name or folder; for the entries below it only the path changes.
    mutating func move(_ source: FolderEntry, _ summary: SubtreeSummary, to target: Place) throws -> FolderEntry {
        try Self.checkLength(summary.longestPath, below: source.path, to: target.path)
        var moved = source
        (moved.path, moved.parent, moved.placeRevision) = (target.path, target.parent, 0)
        if source.isFolder { return try record(moved, from: source, summary) }
        if source.path.key != target.path.key { try record(source.tombstone) }
        return try record(moved)
    }

    /// Refuses a place under which something would get a path that is none.
    private static func checkLength(_ longest: Int, below old: RemotePath, to new: RemotePath) throws(APIError) {
        if longest + new.string.utf8.count - old.string.utf8.count > max(longest, NameRules.maximumPathBytes) {
            throw APIError(
                400, "a path in '\(old)' would become longer than \(NameRules.maximumPathBytes) bytes")
        }
    }

    private mutating func copy(_ source: FolderEntry, _ below: [FolderEntry], to target: Place) throws -> FolderEntry {
        let longest = below.lazy.map(\.path.string.utf8.count).max() ?? 0
        try Self.checkLength(longest, below: source.path, to: target.path)
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
    public mutating func restore(_ path: RemotePath, to revision: JournalRevision) throws -> FolderEntry {
        guard let old = try state.version(path.key, revision: revision.number), !old.isFolder else {
            throw APIError(404, "Revision '\(revision)' of '\(path)' not found")
        }
        if old.isDeleted { throw APIError(400, "the revision \(revision) is a deletion", parameter: "rev") }
        let current = try live(path)
        if let current, current.isFolder { throw APIError(403, "'\(path)' is a folder now") }
        let place = try prepareParent(of: old.path, undeleting: true)
        var restored = old.copied(to: place)
        if let current {
            restored.node = current.node
            restored.placeRevision = current.path == place.path ? current.placeRevision : 0
        } else {
            restored.node = try undeletable(old)
        }
        return try record(restored)
    }

    /// Deletes an entry and everything below it.
    mutating func tombstone(_ entry: FolderEntry, _ summary: SubtreeSummary) throws -> FolderEntry {
        try entry.isFolder ? record(nil, from: entry, summary) : record(entry.tombstone)
    }

    private mutating func record(
        _ target: FolderEntry?, from source: FolderEntry, _ summary: SubtreeSummary
    ) throws -> FolderEntry {
        let change = SubtreeChange(source: source, target: target, now: now, author: author)
        let result = change.result(count: summary.count, after: try state.lastRevision())
        try state.record(change)
        return result
    }
}

extension FolderEntry {
    /// A new entry with the same content at another place.
    fileprivate func copied(to place: SharedFolder.Place) -> FolderEntry {
        var copy = self
        (copy.path, copy.parent, copy.node) = (place.path, place.parent, .root)
        (copy.contentRevision, copy.placeRevision) = (0, 0)
        return copy
    }
}

extension SharedFolder {
    /// Stores content under a path, or under another name when the condition does not hold and the policy allows it.
    ///
    /// Content that is already there makes no new version, unless whether it may be executed changes. `modified` is
    /// when the content was made by the uploader's word, `executable` whether it may be executed; nil leaves the latter
    /// as it is.
    ///
    /// - Throws: ``APIError`` 400 for the root, an ignored name or a version that the path never had; 403 for a live
    ///   folder at the path or a file above it; 409 when the condition does not hold and the policy is to fail.
    public mutating func put(
        _ path: RemotePath, bytes: Int64, hash: ContentHash, modified: FileTime? = nil, executable: Bool? = nil,
        condition: WriteCondition, policy: ConflictPolicy
    ) throws -> FolderEntry {
        try Self.checkWritable(path)
        let current = try live(path)
        if case .parent(let revision) = condition, try !mayHaveHad(path, revision) {
            throw APIError(400, "'\(path)' has no revision \(revision)", parameter: "parent_rev")
        }
        if let current, current.isFolder, condition != .create {
            throw APIError(403, "'\(current.path)' is a folder")
        }
        let place = try prepareParent(of: path)
        let store = { (path: RemotePath) in
            FolderEntry.file(
                at: Place(path: path, parent: place.parent), bytes: bytes, hash: hash, modified: modified,
                executable: executable)
        }
        switch (current, condition) {
        case (nil, _): return try record(store(place.path))
        case (let file?, .overwrite):
            return try edit(file, bytes: bytes, hash: hash, modified: modified, executable: executable)
        case (let file?, .parent(let revision)) where file.revision == JournalRevision(revision)?.number:
            return try edit(file, bytes: bytes, hash: hash, modified: modified, executable: executable)
        case (let file?, .parent):
            if file.isSame(hash, executable) { return file }
            return try record(store(freePath(place.path, policy, NumberedName.conflicted, from: 0)))
        case (_?, .create):
            return try record(store(freePath(place.path, policy, NumberedName.numbered, from: 1)))
        }
    }

    /// Gives a live file new content; the same content makes no new version, unless it becomes executable or is no more.
    mutating func edit(
        _ file: FolderEntry, bytes: Int64, hash: ContentHash, modified: FileTime? = nil, executable: Bool? = nil
    ) throws -> FolderEntry {
        if file.isSame(hash, executable) { return file }
        var edited = file
        if file.contentHash != hash { edited.clientModified = modified }
        (edited.bytes, edited.contentHash, edited.contentRevision) = (bytes, hash, 0)
        edited.isExecutable = executable ?? file.isExecutable
        return try record(edited)
    }

    /// Whether a path has a version, or can have had it before it was forgotten: an edit of such a one is a conflict.
    private func mayHaveHad(_ path: RemotePath, _ revision: Revision) throws -> Bool {
        guard let number = JournalRevision(revision)?.number else { return false }
        if try state.version(path.key, revision: number) != nil { return true }
        return try number <= state.forgottenRevision() && state.latest(path.key) != nil
    }

    private func freePath(
        _ path: RemotePath, _ policy: ConflictPolicy, _ naming: (String, Int) -> String, from first: Int
    ) throws -> RemotePath {
        guard policy == .rename, let parent = path.parent else { throw APIError(409, "'\(path)' already exists") }
        for number in first..<(first + 10_000) {
            let candidate = try parent.appending(naming(path.name, number))
            if try live(candidate) == nil { return candidate }
        }
        throw APIError(409, "'\(path)' has too many conflicting copies")
    }
}

extension FolderEntry {
    /// Whether it has this content and this permission to be executed; nil matches any.
    fileprivate func isSame(_ hash: ContentHash, _ executable: Bool?) -> Bool {
        contentHash == hash && (executable == nil || executable == isExecutable ?? false)
    }
}
