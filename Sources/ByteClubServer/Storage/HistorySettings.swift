/// The limits of history and of storage.
struct HistorySettings: Hashable, Sendable {
    /// For how many seconds a version is kept after it was replaced or deleted; nil for ever.
    var keep: Int64?
    /// The most bytes that the club's live files may have together; nil for what the disk holds.
    var clubQuota: Int64?
    /// The most bytes of live files that one member may have been the last to write; nil for no limit of its own.
    var memberQuota: Int64?
    /// The most bytes of old versions that one member wrote, beyond which the oldest are forgotten; nil to keep them
    /// all.
    var historyQuota: Int64?
    /// The most files and folders that the club may have.
    var entries: Int64 = 5_000_000
    /// The most files and folders that one member may have been the last to write; nil for no limit of its own.
    var memberEntries: Int64?
    /// The most uploads in pieces that a member may have begun and not finished.
    var unfinishedUploads = 100

    /// A warning for the operator about these settings; nil when there is none.
    var warning: String? {
        keep == 0 ? "keep-history is 0: replaced and deleted content is gone for good within an hour" : nil
    }

    /// Whether bytes are limited by more than the disk.
    var hasQuota: Bool { clubQuota != nil || memberQuota != nil }

    /// Refuses to let the club grow beyond its limits; a change that shrinks it always passes.
    ///
    /// - Parameters:
    ///   - growth: By how much a change grows the live entries.
    ///   - total: The live entries after it.
    /// - Throws: ``StorageError`` `overQuota`, and the errors of `total`.
    func checkClub(growing growth: Usage, to total: () throws -> Usage) throws {
        guard growth.entries > 0 || growth.bytes > 0 && clubQuota != nil else { return }
        let total = try total()
        if let clubQuota, growth.bytes > 0, total.bytes > clubQuota { throw StorageError.overClubQuota(clubQuota) }
        if growth.entries > 0, total.entries > entries {
            throw StorageError(.overQuota, "the club has reached its limit of \(entries) files and folders")
        }
    }

    /// Refuses to let what a member was the last to write grow beyond the limits of one member.
    ///
    /// - Throws: As ``checkClub(growing:to:)``.
    func checkMember(_ uid: Int64, growing growth: Usage, to total: () throws -> Usage) throws {
        guard growth.entries > 0 && memberEntries != nil || growth.bytes > 0 && memberQuota != nil else { return }
        let total = try total()
        if let memberQuota, growth.bytes > 0, total.bytes > memberQuota {
            throw StorageError.overMemberQuota(memberQuota, of: uid)
        }
        if let memberEntries, growth.entries > 0, total.entries > memberEntries {
            throw StorageError(
                .overQuota, "the member \(uid) has reached the limit of \(memberEntries) files and folders")
        }
    }

    /// `used` and what the quotas of the club and of a member leave; nil when neither is set.
    func quota(used: Int64, ofMember: @autoclosure () throws -> Int64) rethrows -> Int64? {
        guard let memberQuota else { return clubQuota }
        let left = max(0, memberQuota - (try ofMember()))
        let (sum, isOver) = used.addingReportingOverflow(left)
        return min(clubQuota ?? .max, isOver ? .max : sum)
    }
}

extension StorageError {
    /// The club has used its quota up.
    static func overClubQuota(_ quota: Int64) -> StorageError {
        StorageError(.overQuota, "the club's quota of \(quota) bytes is used up")
    }

    /// A member has used the quota up.
    static func overMemberQuota(_ quota: Int64, of uid: Int64) -> StorageError {
        StorageError(.overQuota, "the quota of \(quota) bytes of the member \(uid) is used up")
    }
}
