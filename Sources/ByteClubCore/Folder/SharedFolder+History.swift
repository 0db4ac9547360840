extension SharedFolder {
    /// The most versions that one page is made of, however few changes they are.
    private static var mostVersions: Int { 50_000 }

    /// What members did, the newest first: changes after one number and before another, at most `limit`.
    ///
    /// Moving or removing a folder is one change, that of the folder. What is forgotten of the history is not told.
    public func history(before: Int64?, after: Int64, limit: Int) throws -> HistoryPage {
        var page = HistoryPage(sequence: try state.lastRevision(), before: nil, changes: [])
        // A move is told by two versions: the one at the new place comes first here, then what is left at the old one.
        var move: FolderEntry?
        var count = 0
        try state.forEachChange(before: before ?? .max) { entry in
            if let moved = move {
                if entry.isDeleted, entry.modified == moved.modified, entry.author == moved.author {
                    // What was in a moved folder is left there too, and comes before the folder.
                    if entry.node != moved.node { return true }
                    move = nil
                    page.changes.append(try change(moved, .moved, from: entry.path))
                    return true
                }
                move = nil
                page.changes.append(try change(moved, .moved))
            }
            if entry.revision <= after { return false }
            count += 1
            if page.changes.count >= limit || count > Self.mostVersions {
                page.before = entry.revision + 1
                return false
            }
            if try !entry.isDeleted && isMove(entry) {
                move = entry
            } else if let action = try action(of: entry) {
                let origin = action == .moved ? try state.version(entry.path.key, before: entry.revision)?.path : nil
                page.changes.append(try change(entry, action, from: origin))
            }
            return true
        }
        if let move { page.changes.append(try change(move, .moved)) }
        return page
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

    /// What a version did; nil when it came of what was done to the folder.
    private func action(of entry: FolderEntry) throws -> HistoryChange.Action? {
        if entry.isDeleted {
            guard let above = entry.path.key.parent, above != .root else { return .removed }
            // Nothing can be removed from a folder that is gone: it went with that.
            return try state.version(above, before: entry.revision)?.isDeleted == true ? nil : .removed
        }
        if entry.node.number == entry.revision { return .added }
        if entry.contentRevision < entry.revision { return .moved }
        return entry.placeRevision == entry.revision ? .restored : .edited
    }
}
