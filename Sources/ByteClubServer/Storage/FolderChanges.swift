import ByteClubCore

/// The effect of changes on the folder, as a value: that of a refused change is dropped as a whole.
struct FolderChanges {
    /// The number of the last change.
    private(set) var lastRevision: Int64
    /// The new versions in their order; a folder that changed with all below it has only its own here.
    private(set) var entries: [FolderEntry] = []
    /// The folders that changed with all below them, at their old places and at their new ones.
    private(set) var subtrees: [PathKey] = []
    /// The growth of the live entries.
    private(set) var usage = UsageChange()

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

/// The usage of live entries: the bytes of files, and the number of files and folders.
struct Usage: Hashable, Sendable {
    /// The lengths of the files added up.
    var bytes: Int64 = 0
    /// The files and folders.
    var entries: Int64 = 0

    static func + (left: Usage, right: Usage) -> Usage {
        Usage(bytes: left.bytes + right.bytes, entries: left.entries + right.entries)
    }

    static func - (left: Usage, right: Usage) -> Usage {
        Usage(bytes: left.bytes - right.bytes, entries: left.entries - right.entries)
    }

    static func += (left: inout Usage, right: Usage) { left = left + right }
}

extension Usage {
    /// The usage of one version while it is the newest.
    init(_ entry: FolderEntry) {
        self.init(bytes: entry.bytes, entries: entry.isDeleted ? 0 : 1)
    }
}

/// The growth of the live entries, in total and by the member who wrote each entry last.
struct UsageChange: Hashable, Sendable {
    /// The growth of all that is live.
    private(set) var club = Usage()
    /// The growth of each member's, by the member's number.
    private(set) var members: [Int64: Usage] = [:]
    /// The bytes of the versions that others took the place of: what history has more.
    private(set) var replaced: Int64 = 0

    /// Counts a version that took another one's place.
    mutating func record(_ entry: FolderEntry, replacing previous: FolderEntry?) {
        add(Usage(entry), of: entry.author)
        if let previous { remove(Usage(previous), of: previous.author) }
    }

    /// Adds another change's growth.
    mutating func add(_ other: UsageChange) {
        for (member, usage) in other.members { add(usage, of: member) }
        replaced += other.replaced
    }

    /// Counts what became live.
    mutating func add(_ usage: Usage, of member: Int64) {
        club += usage
        members[member, default: Usage()] += usage
    }

    /// Counts entries that are not live any more.
    mutating func remove(_ usage: Usage, of member: Int64) {
        add(Usage() - usage, of: member)
        replaced += usage.bytes
    }
}
