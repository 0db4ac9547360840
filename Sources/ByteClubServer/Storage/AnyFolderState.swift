import ByteClubCore

/// The folder of whichever store is behind the seam.
///
/// It is valid only inside the closure that was given it, and only on the thread that runs that closure.
struct AnyFolderState: FolderState {
    /// Where the calls go.
    var base: any FolderState

    /// Hides which state this is.
    init(_ base: any FolderState) {
        self.base = base
    }

    func latest(_ key: PathKey) throws -> FolderEntry? { try base.latest(key) }

    func version(_ key: PathKey, revision: Int64) throws -> FolderEntry? {
        try base.version(key, revision: revision)
    }

    func versions(_ key: PathKey, before revision: Int64?, limit: Int) throws -> [FolderEntry] {
        try base.versions(key, before: revision, limit: limit)
    }

    func children(_ key: PathKey, includeDeleted: Bool, limit: Int) throws -> [FolderEntry] {
        try base.children(key, includeDeleted: includeDeleted, limit: limit)
    }

    func forEachChild(
        _ key: PathKey, includeDeleted: Bool, _ body: (FolderEntry) throws -> Void
    ) throws {
        try base.forEachChild(key, includeDeleted: includeDeleted, body)
    }

    func newestChild(_ key: PathKey) throws -> Int64 { try base.newestChild(key) }

    func descendants(_ key: PathKey, limit: Int) throws -> [FolderEntry] {
        try base.descendants(key, limit: limit)
    }

    func matches(
        _ query: SearchQuery, below key: PathKey, includeDeleted: Bool, limit: Int
    ) throws -> [FolderEntry] {
        try base.matches(query, below: key, includeDeleted: includeDeleted, limit: limit)
    }

    func changes(
        after revision: Int64, prefix: PathKey, includeDeleted: Bool, limit: Int
    ) throws -> [FolderEntry] {
        try base.changes(after: revision, prefix: prefix, includeDeleted: includeDeleted, limit: limit)
    }

    func current(_ node: NodeID) throws -> FolderEntry? { try base.current(node) }

    func journal(after revision: Int64, changedAfter known: Int64, limit: Int) throws -> [FolderEntry] {
        try base.journal(after: revision, changedAfter: known, limit: limit)
    }

    func revisions(by writer: OperationWriter, after revision: Int64, limit: Int) throws -> Set<Int64> {
        try base.revisions(by: writer, after: revision, limit: limit)
    }

    func version(_ key: PathKey, before revision: Int64) throws -> FolderEntry? {
        try base.version(key, before: revision)
    }

    func forEachChange(before revision: Int64, _ body: (FolderEntry) throws -> Bool) throws {
        try base.forEachChange(before: revision, body)
    }

    func outcome(of operation: OperationID, by member: Int64) throws -> OperationOutcome? {
        try base.outcome(of: operation, by: member)
    }

    func lastRevision() throws -> Int64 { try base.lastRevision() }

    func forgottenRevision() throws -> Int64 { try base.forgottenRevision() }

    mutating func record(_ entry: FolderEntry) throws { try base.record(entry) }

    func summary(below key: PathKey) throws -> SubtreeSummary { try base.summary(below: key) }

    func firstChanged(below key: PathKey, after revision: Int64) throws -> FolderEntry? {
        try base.firstChanged(below: key, after: revision)
    }

    mutating func record(_ change: SubtreeChange) throws { try base.record(change) }

    mutating func remember(
        _ operation: OperationID, by member: Int64, at date: APIDate, made entry: FolderEntry
    ) throws {
        try base.remember(operation, by: member, at: date, made: entry)
    }
}
