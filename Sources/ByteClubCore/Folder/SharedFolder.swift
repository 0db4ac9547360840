/// What a write, a move or a delete does to a shared folder: the one truth for servers and for the remote in memory.
///
/// Each operation is one atomic change of its ``FolderState``: run it in one transaction, and undo that when it throws.
/// It throws ``APIError`` for what the protocol refuses, and whatever the state throws.
public struct SharedFolder {
    /// The most entries that one copy, move or delete of Core API v1 may touch.
    public static let maximumEntries = 10_000
    /// The most entries that one operation of a batch may touch.
    public static let maximumBatchEntries = 1_000_000

    /// Where entries are kept.
    public var state: any FolderState
    let now: APIDate
    let author: Int64
    private let names: (Int64) throws -> String?

    /// Creates a folder over a state, for changes that `author` makes at `now`.
    ///
    /// `names` gives the names of versions' authors, including members who left.
    public init(
        state: any FolderState, now: APIDate, author: Int64, names: @escaping (Int64) throws -> String? = { _ in nil }
    ) {
        self.state = state
        self.now = now
        self.author = author
        self.names = names
    }

    /// Describes a version.
    public func describe(_ entry: FolderEntry) throws -> Metadata {
        Metadata(entry, by: try name(of: entry).map { Modifier(uid: entry.author, displayName: $0) })
    }

    /// The version in the extension's form.
    public func told(_ entry: FolderEntry, isInline: Bool = false) throws -> SyncEntry {
        SyncEntry(entry, by: try name(of: entry), isInline: isInline)
    }

    /// The name of a version's author; nil for the root.
    func name(of entry: FolderEntry) throws -> String? {
        entry.author == 0 ? nil : try names(entry.author)
    }

    /// The newest version at a path; the root is always there.
    public func latest(_ path: RemotePath) throws -> FolderEntry? {
        path.isRoot ? .root : try state.latest(path.key)
    }

    /// The live entry at a path; nil when there is none.
    public func live(_ path: RemotePath) throws -> FolderEntry? {
        guard let entry = try latest(path), !entry.isDeleted else { return nil }
        return entry
    }

    /// The live entry at a path.
    ///
    /// - Throws: ``APIError`` 404 when there is none.
    public func existing(_ path: RemotePath) throws -> FolderEntry {
        guard let entry = try live(path) else { throw APIError.notFound(path) }
        return entry
    }

    /// The live file at a path, or one of its versions.
    ///
    /// - Throws: ``APIError`` 404 when it is missing, deleted, a folder, or never had the version.
    public func file(_ path: RemotePath, revision: JournalRevision?) throws -> FolderEntry {
        let entry = try revision.map { try state.version(path.key, revision: $0.number) } ?? live(path)
        guard let entry, !entry.isFolder, !entry.isDeleted else { throw APIError.notFound(path) }
        return entry
    }

    /// A place for an entry: its path with the parents' stored case, and the folder that holds it.
    struct Place {
        let path: RemotePath
        let parent: NodeID
    }

    /// Makes the missing folders above a path; those that were deleted come back as themselves when `undeleting`.
    mutating func prepareParent(of path: RemotePath, undeleting: Bool = false) throws -> Place {
        guard let above = path.parent else { return Place(path: path, parent: .root) }
        let known = try latest(above)
        let folder: FolderEntry
        switch known {
        case let live? where !live.isDeleted:
            guard live.isFolder else { throw APIError(403, "'\(above)' is a file, not a folder") }
            folder = live
        default:
            let place = try prepareParent(of: above, undeleting: undeleting)
            let node = try undeleting ? known.map { $0.isFolder ? try undeletable($0) : .root } ?? .root : .root
            folder = try record(.folder(at: place, node: node))
        }
        return Place(path: try folder.path.appending(path.name), parent: folder.node)
    }

    /// The identity of a deleted entry after its undeletion: its own, unless another entry has it now.
    func undeletable(_ gone: FolderEntry) throws -> NodeID {
        try state.current(gone.node).map { $0.isDeleted } ?? false ? gone.node : .root
    }

    /// Gives a version the next number and keeps it; a version of a new entry makes that too.
    @discardableResult
    mutating func record(_ entry: FolderEntry) throws -> FolderEntry {
        let entry = entry.stamped(try state.lastRevision() + 1, now, author)
        try state.record(entry)
        return entry
    }

    /// Refuses paths under which nothing may be stored.
    static func checkWritable(_ path: RemotePath) throws(APIError) {
        if path.isRoot { throw APIError(400, "the root cannot be written", parameter: "path") }
        if NameRules.isIgnored(path.name) {
            throw APIError(400, "'\(path.name)' is a name that is never synced", parameter: "path")
        }
    }

    /// The live entries below a folder.
    ///
    /// - Throws: ``APIError`` 406 when there are more than one call may touch.
    func subtree(of entry: FolderEntry) throws -> [FolderEntry] {
        guard entry.isFolder else { return [] }
        let below = try state.descendants(entry.path.key, limit: Self.maximumEntries + 1)
        if below.count >= Self.maximumEntries { throw Self.tooMany(entry, Self.maximumEntries) }
        return below
    }

    /// A summary of the live entries below a folder.
    ///
    /// - Throws: ``APIError`` 406 when there are as many as `limit`, which counts the folder too.
    func summary(of entry: FolderEntry, limit: Int) throws -> SubtreeSummary {
        guard entry.isFolder else { return SubtreeSummary() }
        let summary = try state.summary(below: entry.path.key)
        if summary.count >= limit { throw Self.tooMany(entry, limit) }
        return summary
    }

    private static func tooMany(_ entry: FolderEntry, _ limit: Int) -> APIError {
        APIError(406, "'\(entry.path)' has more than \(limit) entries")
    }
}

extension FolderEntry {
    /// A folder as it is recorded at a place, new unless its identity is known.
    static func folder(at place: SharedFolder.Place, node: NodeID = .root) -> FolderEntry {
        FolderEntry(
            path: place.path, isFolder: true, revision: 0, modified: APIDate(seconds: 0), author: 0, node: node,
            parent: place.parent)
    }

    /// A file as it is recorded at a place, new unless its identity is known.
    static func file(
        at place: SharedFolder.Place, node: NodeID = .root, bytes: Int64, hash: ContentHash,
        modified: FileTime? = nil, executable: Bool? = nil
    ) -> FolderEntry {
        FolderEntry(
            path: place.path, isFolder: false, revision: 0, bytes: bytes, contentHash: hash,
            modified: APIDate(seconds: 0), clientModified: modified, isExecutable: executable, author: 0, node: node,
            parent: place.parent)
    }
}
