import ByteClubCore

/// What live entries take: the bytes of files, and how many files and folders there are.
struct Usage: Hashable, Sendable {
    /// The lengths of the files added up.
    var bytes: Int64 = 0
    /// The files and folders.
    var entries: Int64 = 0

    /// Creates a sum.
    init(bytes: Int64 = 0, entries: Int64 = 0) {
        self.bytes = bytes
        self.entries = entries
    }

    /// What one version takes while it is the newest.
    init(_ entry: FolderEntry) {
        self.init(bytes: entry.bytes, entries: entry.isDeleted ? 0 : 1)
    }

    static func + (left: Usage, right: Usage) -> Usage {
        Usage(bytes: left.bytes + right.bytes, entries: left.entries + right.entries)
    }

    static func - (left: Usage, right: Usage) -> Usage {
        Usage(bytes: left.bytes - right.bytes, entries: left.entries - right.entries)
    }

    static func += (left: inout Usage, right: Usage) { left = left + right }
}

/// By how much changes make what is live grow, for the club and for the member who wrote each entry last.
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

    /// Counts what is live no more.
    mutating func remove(_ usage: Usage, of member: Int64) {
        add(Usage() - usage, of: member)
        replaced += usage.bytes
    }
}
