/// How long the past is kept, and how much may be stored.
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

    /// What the one who hosts should know of these settings; nil when there is nothing.
    var warning: String? {
        keep == 0 ? "keep-history is 0: replaced and deleted content is gone for good within an hour" : nil
    }

    /// Whether bytes are limited by more than the disk.
    var hasQuota: Bool { clubQuota != nil || memberQuota != nil }
}
