import ByteClubCore

/// Content that is to come, with what waits beside it, before the quotas.
struct RoomDemand: Sendable {
    /// By how many bytes there is too little room, and how that is told.
    struct Lack: Sendable {
        let bytes: Int64
        let error: StorageError
    }

    /// How many bytes are to come.
    let bytes: Int64
    /// Who sends them.
    let member: Int64
    /// What is on its way, this included.
    let hold: BytesUnderWay.Hold
    /// What the chunks of each member count for.
    let waiting: [Int64: Int64]
    /// What those chunks count for that the content is made of.
    let named: Int64

    /// What a quota lacks for it; nil when there is room.
    ///
    /// - Parameters:
    ///   - there: The entry whose place it takes.
    ///   - settings: The quotas.
    ///   - ofMember: The bytes of what is live and the member wrote last, and of the member's unfinished uploads.
    ///   - ofClub: The bytes of all that is live, and of all unfinished uploads.
    /// - Returns: The lack, of the member's quota before the club's.
    func lack(
        replacing there: FolderEntry?, _ settings: HistorySettings, ofMember: @autoclosure () throws -> Int64,
        ofClub: @autoclosure () throws -> Int64
    ) rethrows -> Lack? {
        if let quota = settings.memberQuota {
            let freed = named + (there?.author == member ? there?.bytes ?? 0 : 0)
            let over = try ofMember() + (waiting[member] ?? 0) + hold.ofMember - freed - quota
            if bytes > freed, over > 0 { return Lack(bytes: over, error: .overMemberQuota(quota, of: member)) }
        }
        if let quota = settings.clubQuota {
            let freed = named + (there?.bytes ?? 0)
            let over = try ofClub() + waiting.values.reduce(0, +) + hold.ofAll - freed - quota
            if bytes > freed, over > 0 { return Lack(bytes: over, error: .overClubQuota(quota)) }
        }
        return nil
    }
}
