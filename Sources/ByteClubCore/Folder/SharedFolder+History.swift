extension SharedFolder {
    /// The most versions that one page is made of, however few changes they are.
    private static let mostVersions = 50_000

    /// The changes of members, the newest first: after one number and before another, at most `limit`.
    ///
    /// Moving or removing a folder is one change, that of the folder. Forgotten history is left out.
    public func history(before: Int64?, after: Int64, limit: Int) throws -> HistoryPage {
        var page = HistoryPage(sequence: try state.lastRevision(), before: nil, changes: [])
        // A move makes two versions: the one at the new place comes first here, then the tombstone at the old one.
        var move: FolderEntry?
        var count = 0
        var start: Int64? = before ?? .max
        while let next = start {
            start = nil
            try state.forEachChange(before: next) { entry in
                count += 1
                if let moved = move {
                    if entry.isDeleted, entry.modified == moved.modified, entry.author == moved.author {
                        if entry.node == moved.node {
                            page.changes.append(try change(moved, .moved, from: entry.path))
                            move = nil
                            return true
                        }
                        // The entries of a moved folder leave tombstones there too, which come before the folder's.
                        if let left = try folder(leftBy: moved, above: entry) {
                            page.changes.append(try change(moved, .moved, from: left.path))
                            move = nil
                            start = left.revision
                            return false
                        }
                        if count > Self.mostVersions { page.before = entry.revision }
                        return page.before == nil
                    }
                    move = nil
                    page.changes.append(try change(moved, .moved))
                }
                if entry.revision <= after { return false }
                if page.changes.count >= limit || count > Self.mostVersions {
                    page.before = entry.revision + 1
                    return false
                }
                if try !entry.isDeleted && isMove(entry) {
                    move = entry
                } else if let action = try action(of: entry) {
                    let earlier = action == .moved ? try state.version(entry.path.key, before: entry.revision) : nil
                    page.changes.append(try change(entry, action, from: earlier?.path))
                }
                return true
            }
        }
        if let move { page.changes.append(try change(move, .moved)) }
        return page
    }

    /// The tombstone that a moved folder left, above one of its entries; nil when it was removed.
    private func folder(leftBy moved: FolderEntry, above entry: FolderEntry) throws -> FolderEntry? {
        guard moved.isFolder else { return nil }
        var above = entry.path.key.parent
        while let key = above, key != .root {
            let left = try state.version(key, before: moved.revision)
            if let left, left.isDeleted, left.node == moved.node, left.modified == moved.modified { return left }
            above = key.parent
        }
        return nil
    }

    private func change(
        _ entry: FolderEntry, _ action: HistoryChange.Action, from origin: RemotePath? = nil
    ) throws -> HistoryChange {
        HistoryChange(entry, action, from: origin, by: try name(of: entry))
    }

    /// Whether a version is an entry's first one at another key, which leaves one at the old key.
    private func isMove(_ entry: FolderEntry) throws -> Bool {
        guard entry.contentRevision < entry.revision else { return false }
        let before = try state.version(entry.path.key, before: entry.revision)
        return before?.node != entry.node || before?.isDeleted != false
    }

    /// The action of a version; nil when it only follows that of the folder.
    private func action(of entry: FolderEntry) throws -> HistoryChange.Action? {
        if entry.isDeleted {
            guard let above = entry.path.key.parent, above != .root else { return .removed }
            // A deleted folder is empty: the entry went with it.
            return try state.version(above, before: entry.revision)?.isDeleted == true ? nil : .removed
        }
        if entry.node.number == entry.revision { return .added }
        if entry.contentRevision < entry.revision { return .moved }
        return entry.placeRevision == entry.revision ? .restored : .edited
    }
}
