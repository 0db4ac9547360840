/// What a write, a move or a delete does to a shared folder: the one truth for servers and for the remote in memory.
///
/// Each operation is one atomic change of its ``FolderState``: run it in one transaction, and undo that when it throws.
/// It throws ``APIError`` for what the protocol refuses, and whatever the state throws.
public struct SharedFolder<State: FolderState> {
    /// The most entries that one copy, move or delete may touch.
    public static var maximumEntries: Int { 10_000 }

    /// Where entries are kept.
    public var state: State
    let now: APIDate
    let author: Int64

    /// Creates a folder over a state, for changes that `author` makes at `now`.
    public init(state: State, now: APIDate, author: Int64) {
        self.state = state
        self.now = now
        self.author = author
    }

    /// The newest version at a path; the root is always there.
    public func latest(_ path: RemotePath) throws -> FolderEntry? {
        path.isRoot ? .root : try state.latest(path.key)
    }

    /// The live entry at a path; nil when it never was or is gone.
    public func live(_ path: RemotePath) throws -> FolderEntry? {
        guard let entry = try latest(path), !entry.isDeleted else { return nil }
        return entry
    }

    /// The live file at a path, or one of its versions.
    ///
    /// - Throws: ``APIError`` 404 when it is missing, deleted, a folder, or never had the version.
    public func file(_ path: RemotePath, revision: Revision?) throws -> FolderEntry {
        let entry = try revision.map { try state.version(path.key, revision: $0.number) } ?? live(path)
        guard let entry, !entry.isFolder, !entry.isDeleted else { throw APIError.notFound(path) }
        return entry
    }

    /// Makes the missing folders above a path, and tells the path with its parents' stored case.
    mutating func prepareParent(of path: RemotePath) throws -> RemotePath {
        guard let parent = path.parent else { return path }
        let stored: RemotePath
        switch try live(parent) {
        case let folder? where folder.isFolder: stored = folder.path
        case .some: throw APIError(403, "'\(parent)' is a file, so nothing can be stored in it")
        case nil:
            stored = try prepareParent(of: parent)
            try record(FolderEntry(path: stored, isFolder: true, revision: 0, modified: now, author: author))
        }
        return try stored.appending(path.name)
    }

    /// Gives a version the next number and keeps it.
    @discardableResult
    mutating func record(_ entry: FolderEntry) throws -> FolderEntry {
        var entry = entry
        entry.revision = try state.lastRevision() + 1
        entry.modified = now
        entry.author = author
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
        if below.count >= Self.maximumEntries {
            throw APIError(406, "'\(entry.path)' holds more than \(Self.maximumEntries) entries")
        }
        return below
    }
}
