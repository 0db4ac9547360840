/// One change of a folder that changes all entries below it too: a deletion or a move.
///
/// First come the deletions at the old place, unless its key stays, then the versions at the new one. At each place the
/// folder comes before the entries below it, which have the order of their keys; each version has the next number.
public struct SubtreeChange: Hashable, Sendable {
    /// The live folder as it was.
    public let source: FolderEntry
    /// The new version of the folder, without a number yet; nil for a deletion.
    public let target: FolderEntry?
    /// When it is done.
    public let now: APIDate
    /// Who does it.
    public let author: Int64

    /// Whether tombstones are made: versions that say that an entry is deleted.
    public var leavesTombstones: Bool { target.map { $0.path.key != source.path.key } ?? true }

    /// The folder's own version that the change makes last; `count` entries are below it, and `last` is the last
    /// change.
    public func result(count: Int, after last: Int64) -> FolderEntry {
        guard let target else { return source.tombstone.stamped(last + 1, now, author) }
        return target.stamped(last + 1 + (leavesTombstones ? Int64(count) + 1 : 0), now, author)
    }

    /// All the versions that the change makes of the folder and of the live entries below it, after the change `last`.
    public func versions(below: [FolderEntry], after last: Int64) -> [FolderEntry] {
        var result = leavesTombstones ? [source.tombstone] + below.map(\.tombstone) : []
        if let target {
            result.append(target)
            for var child in below {
                guard let path = child.path.rebased(from: source.path, to: target.path) else { continue }
                child.path = path
                result.append(child)
            }
        }
        return result.enumerated().map { $1.stamped(last + 1 + Int64($0), now, author) }
    }
}

/// A summary of all live entries below a folder.
public struct SubtreeSummary: Hashable, Sendable {
    /// How many there are.
    public var count = 0
    /// The bytes of the longest path.
    public var longestPath = 0
    /// The highest number of a version.
    public var newest: Int64 = 0
    /// The highest number of a change of an entry itself, see ``FolderEntry/change``.
    public var newestChange: Int64 = 0

    /// Creates the summary of an empty folder.
    public init() {}
}

extension FolderState {
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

extension FolderEntry {
    /// The entry's tombstone, without a number yet.
    public var tombstone: FolderEntry {
        var gone = self
        (gone.isDeleted, gone.bytes, gone.contentHash, gone.contentRevision) = (true, 0, nil, 0)
        (gone.clientModified, gone.isExecutable) = (nil, nil)
        return gone
    }

    /// The version as a change with this number makes it.
    func stamped(_ number: Int64, _ now: APIDate, _ author: Int64) -> FolderEntry {
        var entry = self
        (entry.revision, entry.modified, entry.author) = (number, now, author)
        if entry.node == .root { entry.node = NodeID(number) }
        if entry.contentRevision == 0 { entry.contentRevision = number }
        if entry.placeRevision == 0 { entry.placeRevision = number }
        return entry
    }
}
