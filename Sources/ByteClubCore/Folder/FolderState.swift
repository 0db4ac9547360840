/// What the rules of a shared folder read from and write to: memory, or one transaction of a database.
///
/// The root is never kept. Implementations do no checks of their own; ``SharedFolder`` decides.
public protocol FolderState {
    /// The newest version at a key, a deletion included; nil when nothing ever was there.
    func latest(_ key: PathKey) throws -> FolderEntry?

    /// The version that a change made at a key, a deletion included.
    func version(_ key: PathKey, revision: Int64) throws -> FolderEntry?

    /// All versions at a key, newest first, at most `limit`.
    func versions(_ key: PathKey, limit: Int) throws -> [FolderEntry]

    /// The newest versions of a folder's direct children ordered by key, at most `limit`.
    func children(_ key: PathKey, includeDeleted: Bool, limit: Int) throws -> [FolderEntry]

    /// The live entries strictly below a key, ordered by key, at most `limit`.
    func descendants(_ key: PathKey, limit: Int) throws -> [FolderEntry]

    /// The newest versions at or below `prefix` with a revision above `revision`, ordered by revision, at most `limit`.
    func changes(
        after revision: Int64, prefix: PathKey, includeDeleted: Bool, limit: Int
    ) throws -> [FolderEntry]

    /// The number of the last change, 0 before the first.
    func lastRevision() throws -> Int64

    /// Adds a version; it becomes the newest at its key.
    mutating func record(_ entry: FolderEntry) throws
}
