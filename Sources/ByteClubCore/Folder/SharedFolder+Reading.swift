import Crypto

extension SharedFolder {
    /// Describes an entry, deleted or not.
    ///
    /// - Throws: ``APIError`` 404 when it never was.
    public func metadata(_ path: RemotePath) throws -> Metadata {
        guard let entry = try latest(path) else { throw APIError.notFound(path) }
        return Metadata(entry)
    }

    /// Describes a folder with its children and the listing's hash; nil when the hash is `known` already.
    ///
    /// A file or a deleted entry is described as ``metadata(_:)`` does.
    ///
    /// - Throws: ``APIError`` 404 when it never was, 406 when it has more than `limit` children.
    public func list(
        _ path: RemotePath, unless known: String?, includeDeleted: Bool, limit: Int
    ) throws -> Metadata? {
        guard let entry = try latest(path) else { throw APIError.notFound(path) }
        var result = Metadata(entry)
        guard entry.isFolder, !entry.isDeleted else { return result }
        let children = try state.children(entry.path.key, includeDeleted: includeDeleted, limit: limit + 1)
        if children.count > limit { throw APIError(406, "'\(path)' has more than \(limit) entries") }
        let hash = Self.hash(entry, children, includeDeleted: includeDeleted)
        if hash == known { return nil }
        result.hash = hash
        result.contents = children.map { Metadata($0) }
        return result
    }

    private static func hash(_ folder: FolderEntry, _ children: [FolderEntry], includeDeleted: Bool) -> String {
        var hasher = SHA256()
        let revisions = ([folder] + children).map { String($0.revision) }.joined(separator: ",")
        hasher.update(data: Array("\(includeDeleted) \(revisions)".utf8))
        return Hexadecimal.encode(Array(hasher.finalize()).prefix(16))
    }

    /// The live entries strictly below a folder whose names match, ordered by key.
    ///
    /// - Throws: ``APIError`` 404 when the folder is gone.
    public func search(
        _ path: RemotePath, query: SearchQuery, limit: Int, includeDeleted: Bool
    ) throws -> [Metadata] {
        guard let folder = try live(path) else { throw APIError.notFound(path) }
        var found =
            includeDeleted
            ? try state.changes(after: 0, prefix: folder.path.key, includeDeleted: true, limit: .max)
                .filter { $0.path.key != folder.path.key }.sorted { $0.path.key < $1.path.key }
            : try state.descendants(folder.path.key, limit: .max)
        found.removeAll { $0.path.key == folder.path.key || !query.matches($0.path.name) }
        if includeDeleted { found.sort { $0.path.key < $1.path.key } }
        return found.prefix(limit).map { Metadata($0) }
    }

    /// A file's versions, newest first, deletions among them.
    ///
    /// - Throws: ``APIError`` 404 for a folder and for what never was.
    public func revisions(_ path: RemotePath, limit: Int) throws -> [Metadata] {
        guard let newest = try latest(path), !newest.isFolder else { throw APIError.notFound(path) }
        return try state.versions(path.key, limit: limit).filter { !$0.isFolder }.map { Metadata($0) }
    }

    /// The changes after a position, or the whole state when there is none.
    public func delta(after position: DeltaCursor?, start: DeltaCursor, limit: Int) throws -> (
        page: DeltaPage, next: DeltaCursor
    ) {
        let last = try state.lastRevision()
        let known = position.flatMap { $0.revision <= last && $0.epoch == start.epoch ? $0 : nil }
        var next = known ?? start
        next.prefix = start.prefix
        var changes = try state.changes(
            after: next.revision, prefix: next.prefix, includeDeleted: known != nil, limit: limit + 1)
        let hasMore = changes.count > limit
        if hasMore { changes.removeLast() }
        next.revision = hasMore ? changes.last?.revision ?? last : last
        let entries = changes.map { entry in
            DeltaEntry(key: entry.path.key, metadata: entry.isDeleted ? nil : Metadata(entry))
        }
        return (DeltaPage(reset: known == nil, cursor: "", hasMore: hasMore, entries: entries), next)
    }
}
