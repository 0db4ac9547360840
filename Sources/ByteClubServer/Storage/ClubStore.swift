/// All that a server keeps of a club: one consistent, durable whole.
///
/// Code asks only for the part that it needs: pages of the folder for ``FolderStore``, a sign-in for ``SessionStore``.
/// All calls of all parts may run at once, and changes are durable when a call returns. They throw ``StorageError`` for
/// what the disk or the database does, besides what each names; what has expired counts as unknown.
typealias ClubStore = FolderStore & UploadStore & GalleryStore & NoteStore & LinkStore & MemberStore & AppStore
    & SessionStore & AddressStore

/// A store's maintenance and statistics.
protocol MaintenanceStore: Sendable {
    /// The limits of history and of storage.
    var settings: HistorySettings { get }

    /// The statistics since the store was opened.
    var statistics: StoreStatistics { get }

    /// Notes how much time has passed, and which change was the last one by then.
    func markAge() async throws

    /// Forgets uploads and chunks whose time is over, with their bytes.
    func removeExpired() async throws

    /// Removes versions that were replaced or deleted longer ago than history is kept, and returns how many.
    ///
    /// The newest version at a path and of an entry stays, so that clients that were away for long learn of a deletion.
    @discardableResult
    func purgeHistory() async throws -> Int

    /// Removes the oldest of each member's old versions that have more bytes together than the setting allows, and
    /// returns how many; none without the setting.
    ///
    /// A version counts for its author, not for the member who replaced it: so a member who makes many versions cannot
    /// push out those of others.
    func dropHistoryOverQuota() async throws -> Int

    /// Removes the contents that no version refers to, and returns how many; nil while something needs all that there
    /// is.
    func collectContents() async throws -> Int?

    /// Waits for the writes under way, and closes the store; later calls fail.
    func close() throws
}

/// The statistics of a store since it was opened.
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
