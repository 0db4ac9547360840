extension SharedFolder {
    /// Stores content under a path, or under another name when the condition does not hold and the policy allows it.
    ///
    /// The content that a file already has makes no new version, unless the executable bit changes. `modified` is the
    /// content's time by its uploader, `executable` the executable bit; an edit with nil leaves the bit.
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

    /// Gives a live file new content; the same content makes no new version, unless the executable bit changes.
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
    /// Whether it has this content and this executable bit, where nil equals any.
    fileprivate func isSame(_ hash: ContentHash, _ executable: Bool?) -> Bool {
        contentHash == hash && (executable == nil || executable == isExecutable ?? false)
    }
}
