import Crypto

extension SharedFolder {
    /// Describes an entry, deleted or not.
    ///
    /// - Throws: ``APIError`` 404 when it never was.
    public func metadata(_ path: RemotePath) throws -> Metadata {
        guard let entry = try latest(path) else { throw APIError.notFound(path) }
        return try describe(entry)
    }

    /// Describes a folder with its children and the listing's hash; nil when the hash is `known` already.
    ///
    /// A file is described as by ``metadata(_:)``, and so is a deleted folder unless deleted entries are included.
    ///
    /// - Throws: ``APIError`` 404 when it never was, 406 when it has more than `limit` children.
    public func list(
        _ path: RemotePath, unless known: String?, includeDeleted: Bool, limit: Int
    ) throws -> Metadata? {
        guard var result = try listing(of: path, unless: known, includeDeleted: includeDeleted) else { return nil }
        if result.hash == nil { return result }
        var contents: [Metadata] = []
        try forEachChild(of: path, includeDeleted: includeDeleted, limit: limit) { contents.append($0) }
        result.contents = contents
        return result
    }

    /// Describes a folder with its listing's hash and without the children; nil when the hash is `known` already.
    ///
    /// A file has no hash, and a deleted folder has one only with deleted entries included.
    ///
    /// - Throws: ``APIError`` 404 when it never was.
    public func listing(of path: RemotePath, unless known: String?, includeDeleted: Bool) throws -> Metadata? {
        guard let entry = try latest(path) else { throw APIError.notFound(path) }
        var result = try describe(entry)
        guard entry.isFolder, !entry.isDeleted || includeDeleted else { return result }
        result.hash = try listingHash(of: entry, includeDeleted: includeDeleted)
        return result.hash == known ? nil : result
    }

    /// Hands over a folder's direct children one by one, ordered by key.
    ///
    /// - Throws: ``APIError`` 406 when there are more than `limit`; what `body` throws.
    public func forEachChild(
        of path: RemotePath, includeDeleted: Bool, limit: Int, _ body: (Metadata) throws -> Void
    ) throws {
        var count = 0
        try state.forEachChild(path.key, includeDeleted: includeDeleted) { entry in
            count += 1
            if count > limit { throw APIError(406, "'\(path)' has more than \(limit) entries") }
            try body(describe(entry))
        }
    }

    /// What changes with a folder's listing, known without looking at the children.
    ///
    /// Each change of a child, its deletion too, has a higher number than all before it; so the newest of them and the
    /// folder's own tell one listing from all others.
    private func listingHash(of folder: FolderEntry, includeDeleted: Bool) throws -> String {
        let newest = try state.newestChild(folder.path.key)
        let digest = SHA256.hash(data: Array("\(includeDeleted) \(folder.revision) \(newest)".utf8))
        return Hexadecimal.encode(Array(digest.prefix(16)))
    }

    /// The live entries strictly below a folder whose names match, ordered by key.
    ///
    /// - Throws: ``APIError`` 404 when the folder does not exist.
    public func search(
        _ path: RemotePath, query: SearchQuery, limit: Int, includeDeleted: Bool
    ) throws -> [Metadata] {
        let folder = try existing(path)
        return try state.matches(query, below: folder.path.key, includeDeleted: includeDeleted, limit: limit)
            .map(describe)
    }

    /// A file's versions, newest first, deletions among them; of those numbered below `revision` when there is one.
    ///
    /// - Throws: ``APIError`` 404 for a folder and for what never was.
    public func revisions(_ path: RemotePath, before revision: Int64? = nil, limit: Int) throws -> [Metadata] {
        guard let newest = try latest(path), !newest.isFolder else { throw APIError.notFound(path) }
        return try state.versions(path.key, before: revision, limit: limit).filter { !$0.isFolder }.map(describe)
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
        let entries = try changes.map { entry in
            DeltaEntry(key: entry.path.key, metadata: entry.isDeleted ? nil : try describe(entry))
        }
        return (DeltaPage(reset: known == nil, cursor: "", hasMore: hasMore, entries: entries), next)
    }
}
