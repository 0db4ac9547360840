extension SharedFolder {
    /// Stores content under a path, or under another name when the condition does not hold and the policy allows it.
    ///
    /// Content that is there already makes no new version. `modified` is when the uploader says that it was made.
    ///
    /// - Throws: ``APIError`` 400 for the root, an ignored name or a version that the path never had; 403 for a live
    ///   folder at the path or a file above it; 409 when the condition does not hold and the policy is to fail.
    public mutating func put(
        _ path: RemotePath, bytes: Int64, hash: ContentHash, modified: FileTime? = nil, condition: WriteCondition,
        policy: ConflictPolicy
    ) throws -> FolderEntry {
        try Self.checkWritable(path)
        let current = try live(path)
        if case .parent(let revision) = condition, try !mayHaveHad(path, revision) {
            throw APIError(400, "'\(path)' never had the revision \(revision)", parameter: "parent_rev")
        }
        if let current, current.isFolder, condition != .create {
            throw APIError(403, "'\(current.path)' is a folder")
        }
        let place = try prepareParent(of: path)
        switch (current, condition) {
        case (nil, _): return try record(.file(at: place, bytes: bytes, hash: hash, modified: modified))
        case (let file?, .overwrite): return try edit(file, bytes: bytes, hash: hash, modified: modified)
        case (let file?, .parent(let revision)) where file.revision == JournalRevision(revision)?.number:
            return try edit(file, bytes: bytes, hash: hash, modified: modified)
        case (let file?, .parent):
            if file.contentHash == hash { return file }
            let free = try freePath(place.path, policy, NumberedName.conflicted, from: 0)
            return try record(
                .file(
                    at: Place(path: free, parent: place.parent), bytes: bytes, hash: hash, modified: modified))
        case (_?, .create):
            let free = try freePath(place.path, policy, NumberedName.numbered, from: 1)
            return try record(
                .file(
                    at: Place(path: free, parent: place.parent), bytes: bytes, hash: hash, modified: modified))
        }
    }

    /// Gives a live file new content; the same content makes no new version.
    mutating func edit(
        _ file: FolderEntry, bytes: Int64, hash: ContentHash, modified: FileTime? = nil
    ) throws -> FolderEntry {
        if file.contentHash == hash { return file }
        var edited = file
        (edited.bytes, edited.contentHash, edited.contentRevision) = (bytes, hash, 0)
        edited.clientModified = modified
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
        guard policy == .rename, let parent = path.parent else { throw APIError(409, "'\(path)' is there already") }
        for number in first..<(first + 10_000) {
            let candidate = try parent.appending(naming(path.name, number))
            if try live(candidate) == nil { return candidate }
        }
        throw APIError(409, "'\(path)' has too many conflicting copies")
    }
}
