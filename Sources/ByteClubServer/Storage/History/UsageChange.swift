import ByteClubCore

/// By how many bytes changes make the live files grow, for the club and for the member who wrote each one last.
struct UsageChange: Hashable, Sendable {
    /// The growth of all live files.
    private(set) var club: Int64 = 0
    /// The growth of each member's, by the member's number.
    private(set) var members: [Int64: Int64] = [:]

    /// Counts a version that took another one's place.
    mutating func record(_ entry: FolderEntry, replacing previous: (bytes: Int64, author: Int64)?) {
        add(entry.bytes, of: entry.author)
        if let previous { add(-previous.bytes, of: previous.author) }
    }

    /// Adds another change's growth.
    mutating func add(_ other: UsageChange) {
        for (member, bytes) in other.members { add(bytes, of: member) }
    }

    /// Counts bytes that a member's files have more, or fewer when they are less than zero.
    mutating func add(_ bytes: Int64, of member: Int64) {
        if bytes == 0 { return }
        club += bytes
        members[member, default: 0] += bytes
    }
}
