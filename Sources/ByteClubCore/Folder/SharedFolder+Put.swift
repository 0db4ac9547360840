extension SharedFolder {
    /// Stores content under a path, or under another name when the condition does not hold and the policy allows it.
    ///
    /// Content that is there already makes no new version.
    ///
    /// - Throws: ``APIError`` 400 for the root, an ignored name or a version that the path never had; 403 for a live
    ///   folder at the path or a file above it; 409 when the condition does not hold and the policy is to fail.
    public mutating func put(
        _ path: RemotePath, bytes: Int64, hash: ContentHash, condition: WriteCondition, policy: ConflictPolicy
    ) throws -> FolderEntry {
        try Self.checkWritable(path)
        let current = try live(path)
        if case .parent(let revision) = condition, try state.version(path.key, revision: revision.number) == nil {
            throw APIError(400, "'\(path)' never had the revision \(revision)", parameter: "parent_rev")
        }
        if let current, current.isFolder, condition != .create {
            throw APIError(403, "'\(current.path)' is a folder")
        }
        let stored = try prepareParent(of: path)
        let target: RemotePath
        switch (current, condition) {
        case (nil, _): target = stored
        case (let file?, .overwrite): target = file.path
        case (let file?, .parent(let revision)) where file.revision == revision.number: target = file.path
        case (let file?, .parent):
            if file.contentHash == hash { return file }
            target = try freePath(stored, policy, NumberedName.conflicted, from: 0)
        case (_?, .create): target = try freePath(stored, policy, NumberedName.numbered, from: 1)
        }
        if let current, current.path == target, current.contentHash == hash { return current }
        return try record(
            FolderEntry(
                path: target, isFolder: false, revision: 0, bytes: bytes, contentHash: hash, modified: now,
                author: author))
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
