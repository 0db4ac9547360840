import ByteClubCore

/// Changes of one kind that a member made close in time.
struct ActivityGroup: Hashable, Sendable {
    /// The most seconds between two changes of a group.
    static let gap: Int64 = 15 * 60

    /// The changes, the newest first; never empty.
    private(set) var changes: [HistoryChange]

    /// The kind of the changes.
    var action: HistoryChange.Action { changes[0].action }
    /// The newest change.
    var newest: HistoryChange { changes[0] }
    /// The last change before the group: the club as it was before all of it.
    var before: Int64 { changes[changes.count - 1].sequence - 1 }

    /// The entries that it is about, each with its newest change, the newest first.
    ///
    /// A folder above another one of them goes without saying.
    var entries: [HistoryChange] {
        var (seen, above): (Set<PathKey>, Set<PathKey>) = ([], [])
        for change in changes {
            var folder = change.path.key.parent
            while let key = folder, above.insert(key).inserted { folder = key.parent }
        }
        return changes.filter { !($0.isFolder && above.contains($0.path.key)) && seen.insert($0.path.key).inserted }
    }

    private init(_ change: HistoryChange) { changes = [change] }

    /// Groups changes that are in the order of the journal, the newest first; the group with the newest change is first.
    ///
    /// A group ends with the day in UTC, under which it is listed.
    static func groups(of changes: [HistoryChange]) -> [ActivityGroup] {
        struct Kind: Hashable {
            let author: Int64
            let action: HistoryChange.Action
        }
        var groups: [ActivityGroup] = []
        var open: [Kind: Int] = [:]
        for change in changes {
            let kind = Kind(author: change.author, action: change.action)
            if let index = open[kind], groups[index].takes(change) {
                groups[index].changes.append(change)
            } else {
                open[kind] = groups.count
                groups.append(ActivityGroup(change))
            }
        }
        return groups
    }

    private func takes(_ change: HistoryChange) -> Bool {
        let last = changes[changes.count - 1].modified
        return abs(last - change.modified) <= Self.gap && Self.day(last) == Self.day(change.modified)
    }

    /// Days since 1970.
    private static func day(_ seconds: Int64) -> Int64 { Int64((Double(seconds) / 86_400).rounded(.down)) }
}

extension ActivityGroup {
    /// The folders that its entries are in, or were in.
    var folders: [RemotePath] {
        var seen: Set<PathKey> = []
        return entries.compactMap(\.path.parent).filter { seen.insert($0.key).inserted }
    }

    /// How many entries of which kinds it has, as in `3 photos, 2 captions and 1 note`.
    var phrase: String {
        var counts: [(one: String, many: String, count: Int)] = [
            ("photo", "photos", 0), ("note", "notes", 0), ("caption", "captions", 0), ("file", "files", 0),
            ("folder", "folders", 0),
        ]
        for entry in entries { counts[Self.kind(of: entry)].count += 1 }
        let parts = counts.filter { $0.count > 0 }.map { "\($0.count) \($0.count == 1 ? $0.one : $0.many)" }
        guard let last = parts.last, parts.count > 1 else { return parts.first ?? "" }
        return parts.dropLast().joined(separator: ", ") + " and " + last
    }

    private static func kind(of change: HistoryChange) -> Int {
        if change.isFolder { return 4 }
        let name = change.path.name
        return switch GalleryKind(name) {
        case .photo?: 0
        case .note?: GalleryKind.isCaption(name) ? 2 : 1
        case nil: 3
        }
    }

    /// What was done, in one word.
    var verb: String {
        let change = newest
        switch action {
        case .added: return change.isFolder && entries.count == 1 ? "made" : "added"
        case .edited: return "changed"
        case .removed: return "deleted"
        case .restored: return "restored"
        case .moved:
            let isRename = changes.allSatisfy { $0.origin?.parent?.key == $0.path.parent?.key }
            return isRename ? "renamed" : "moved"
        }
    }
}
