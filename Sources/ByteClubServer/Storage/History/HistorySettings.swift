/// How long the past is kept, and how much may be stored.
struct HistorySettings: Hashable, Sendable {
    /// For how many seconds a version is kept after it was replaced or deleted; nil for ever.
    var keep: Int64?
    /// The most bytes that the club's live files may have together; nil for what the disk holds.
    var clubQuota: Int64?
    /// The most bytes of live files that one member may have been the last to write; nil for no limit of its own.
    var memberQuota: Int64?
}
