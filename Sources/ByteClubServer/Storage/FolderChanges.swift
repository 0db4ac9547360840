import ByteClubCore

/// What changes have made of the folder, as a value: one that is refused is dropped as a whole.
struct FolderChanges {
    /// The number of the last change.
    private(set) var lastRevision: Int64
    /// The new versions in their order; a folder that changed with all below it has only its own here.
    private(set) var entries: [FolderEntry] = []
    /// The folders that changed with all below them, at their old places and at their new ones.
    private(set) var subtrees: [PathKey] = []
    /// By how much all that is live grows.
    private(set) var usage = UsageChange()

    /// Starts after the last change that is there.
    init(after lastRevision: Int64) {
        self.lastRevision = lastRevision
    }

    /// Adds a version that replaces another one at its key.
    mutating func record(_ entry: FolderEntry, replacing previous: FolderEntry?) {
        entries.append(entry)
        lastRevision = max(lastRevision, entry.revision)
        usage.record(entry, replacing: previous)
    }

    /// Adds the versions of a folder and of all below it: `count` at each place, the folder's own included.
    mutating func record(_ change: SubtreeChange, count: Int, usage: UsageChange) {
        let isMove = change.target != nil && change.leavesTombstones
        if isMove {
            var gone = change.source.tombstone
            gone.revision = lastRevision + 1
            entries.append(gone)
        }
        entries.append(change.result(count: count - 1, after: lastRevision))
        subtrees += [change.source.path.key, change.target?.path.key].compactMap(\.self)
        lastRevision += Int64(isMove ? 2 * count : count)
        self.usage.add(usage)
    }

    /// Adds the changes that came after these.
    mutating func add(_ later: FolderChanges) {
        lastRevision = later.lastRevision
        entries += later.entries
        subtrees += later.subtrees
        usage.add(later.usage)
    }
}
