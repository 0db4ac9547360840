public import ByteClubCore

/// What states that are in memory compute by looking at all that they have.
extension FolderState {
    /// The versions at a key, newest first, at most `limit`.
    public func versions(_ key: PathKey, limit: Int) throws -> [FolderEntry] {
        try versions(key, before: nil, limit: limit)
    }

    /// Gets them all first, for states that are in memory.
    public func forEachChild(
        _ key: PathKey, includeDeleted: Bool, _ body: (FolderEntry) throws -> Void
    ) throws {
        for entry in try children(key, includeDeleted: includeDeleted, limit: .max) { try body(entry) }
    }

    /// Gets them all first, for states that are in memory.
    public func matches(
        _ query: SearchQuery, below key: PathKey, includeDeleted: Bool, limit: Int
    ) throws -> [FolderEntry] {
        let all =
            includeDeleted
            ? try changes(after: 0, prefix: key, includeDeleted: true, limit: .max)
                .filter { $0.path.key != key }.sorted { $0.path.key < $1.path.key }
            : try descendants(key, limit: .max)
        return Array(all.filter { query.matches($0.path.name) }.prefix(limit))
    }

    /// Looks at every child, for states that forget nothing.
    public func newestChild(_ key: PathKey) throws -> Int64 {
        try children(key, includeDeleted: true, limit: .max).lazy.map(\.revision).max() ?? 0
    }

    /// Forgets nothing.
    public func forgottenRevision() throws -> Int64 { 0 }

    /// Computes it by visiting each of them.
    public func summary(below key: PathKey) throws -> SubtreeSummary {
        try descendants(key, limit: .max).reduce(into: SubtreeSummary()) { summary, entry in
            summary.count += 1
            summary.longestPath = max(summary.longestPath, entry.path.string.utf8.count)
            summary.newest = max(summary.newest, entry.revision)
            summary.newestChange = max(summary.newestChange, entry.change)
        }
    }

    /// Computes it by visiting each of them.
    public func firstChanged(below key: PathKey, after revision: Int64) throws -> FolderEntry? {
        try descendants(key, limit: .max).first { $0.change > revision }
    }

    /// Records each version by itself.
    public mutating func record(_ change: SubtreeChange) throws {
        let below = try descendants(change.source.path.key, limit: .max)
        for version in change.versions(below: below, after: try lastRevision()) { try record(version) }
    }
}
