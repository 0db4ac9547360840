/// What a store has done since it was opened.
struct StoreStatistics: Sendable {
    /// The durable transactions.
    struct Commits: Sendable {
        /// How long each took to become durable.
        var time = Histogram()
        /// The changes in all of them.
        var changes: Int64 = 0
    }

    /// The durable transactions.
    var commits = Commits()
    /// How many callers wait for a change.
    var waiting = 0
    /// The bytes of the versions that others took the place of.
    var replacedBytes: Int64 = 0
}
