/// What the rules of a shared folder read from and write to: memory, or one transaction of a database.
///
/// The root is never kept. Implementations do no checks of their own; ``SharedFolder`` decides.
public protocol FolderState {
    /// The newest version at a key, a deletion included; nil when nothing ever was there.
    func latest(_ key: PathKey) throws -> FolderEntry?

    /// The version that a change made at a key, a deletion included.
    func version(_ key: PathKey, revision: Int64) throws -> FolderEntry?

    /// The versions at a key, newest first, at most `limit`; of those numbered below `revision` when there is one.
    func versions(_ key: PathKey, before revision: Int64?, limit: Int) throws -> [FolderEntry]

    /// The newest versions of a folder's direct children ordered by key, at most `limit`.
    func children(_ key: PathKey, includeDeleted: Bool, limit: Int) throws -> [FolderEntry]

    /// Hands over the newest versions of a folder's direct children one by one, ordered by key.
    func forEachChild(_ key: PathKey, includeDeleted: Bool, _ body: (FolderEntry) throws -> Void) throws

    /// The highest number that a direct child of a folder, deleted or not, ever had; 0 when there never was one.
    ///
    /// It never decreases, not even when history is forgotten.
    func newestChild(_ key: PathKey) throws -> Int64

    /// The live entries strictly below a key, ordered by key, at most `limit`.
    func descendants(_ key: PathKey, limit: Int) throws -> [FolderEntry]

    /// The newest versions strictly below a key whose names match a query, ordered by key, at most `limit`.
    func matches(
        _ query: SearchQuery, below key: PathKey, includeDeleted: Bool, limit: Int
    ) throws -> [FolderEntry]

    /// The newest versions at or below `prefix` with a revision above `revision`, ordered by revision, at most `limit`.
    func changes(
        after revision: Int64, prefix: PathKey, includeDeleted: Bool, limit: Int
    ) throws -> [FolderEntry]

    /// The version that an entry has now, a deletion included; nil when there never was such an entry.
    func current(_ node: NodeID) throws -> FolderEntry?

    /// The versions that entries have now which are numbered above `revision`, ordered by number, at most `limit`.
    ///
    /// Leaves out what moves leave behind, unlike ``changes(after:prefix:includeDeleted:limit:)``, and entries whose
    /// content and place have not changed after `known`: those that moved only because a folder above them did.
    func journal(after revision: Int64, changedAfter known: Int64, limit: Int) throws -> [FolderEntry]

    /// The newest version at a key, a deletion included, of those numbered below `revision`; nil when there is none.
    func version(_ key: PathKey, before revision: Int64) throws -> FolderEntry?

    /// Hands over the versions numbered below `revision` one by one, the newest first, until `body` returns false.
    ///
    /// Leaves out entries that moved only because a folder above them did.
    func forEachChange(before revision: Int64, _ body: (FolderEntry) throws -> Bool) throws

    /// The numbers above `revision` of the changes that a writer's operations made; some may be left out.
    ///
    /// At most `limit` operations of all writers are looked at.
    func revisions(by writer: OperationWriter, after revision: Int64, limit: Int) throws -> Set<Int64>

    /// The outcome of a member's operation; nil when it was not done, or too long ago to be remembered.
    func outcome(of operation: OperationID, by member: Int64) throws -> OperationOutcome?

    /// The number of the last change, 0 before the first.
    func lastRevision() throws -> Int64

    /// Versions up to this number may have been forgotten, unless they are the newest at their keys; 0 when none was.
    func forgottenRevision() throws -> Int64

    /// The change from which on every version is known that was there after it or after a later one.
    func completeRevision() throws -> Int64

    /// Adds a version; it becomes the newest at its key, and the one that its entry has now.
    mutating func record(_ entry: FolderEntry) throws

    /// A summary of the live entries strictly below a key.
    func summary(below key: PathKey) throws -> SubtreeSummary

    /// The first live entry strictly below a key, in the order of the keys, that itself changed after `revision`.
    func firstChanged(below key: PathKey, after revision: Int64) throws -> FolderEntry?

    /// Adds all the versions that a change of a folder makes.
    mutating func record(_ change: SubtreeChange) throws

    /// Remembers which version a member's operation made, or found to be there already.
    mutating func remember(_ operation: OperationID, by member: Int64, at date: APIDate, made entry: FolderEntry) throws
}

extension FolderState {
    /// The last change that may have been forgotten, where no more is known.
    public func completeRevision() throws -> Int64 { try forgottenRevision() }
}
