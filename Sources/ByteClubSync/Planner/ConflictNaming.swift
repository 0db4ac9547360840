import ByteClubCore

/// What the planner is given to name conflict copies: of the two sides of a conflict it is always the disk's that loses
/// the name.
struct ConflictNaming: Sendable {
    /// The member whose mirror it is; nil when the name is not known.
    var author: String?
    /// How many seconds this machine's clocks are ahead of Greenwich at a time in seconds since 1970.
    var offset: @Sendable (Int64) -> Int64 = { _ in 0 }

    /// Who made what is on disk, and when; only when, unless it was made here.
    func stamp(_ stat: FileStat?, isOwn: Bool = true) -> ConflictStamp {
        let seconds = (stat?.fingerprint.modified ?? 0) / 1_000_000_000
        return ConflictStamp(author: isOwn ? author : nil, time: seconds, offset: offset(seconds))
    }
}

extension ConflictNaming {
    /// Names copies of the mirror of a member, in this machine's time zone.
    init(of member: String?) { self.init(author: member, offset: WallClock.offset) }
}

/// A conflict copy that is in a folder already.
struct KnownCopy {
    let name: String
    let hash: ContentHash
    let item: Item
}
