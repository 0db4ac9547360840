/// How much one page of the journal may hold.
public struct JournalLimits: Hashable, Sendable {
    /// The most entries.
    public var entries: Int
    /// The longest content that is sent inline with its entry; nil for none at all.
    public var inlineContent: Int64?
    /// The most bytes of such contents together, unless a single one has more.
    public var inlineBytes: Int64
    /// Changes whose contents are left out, since the client has them.
    var known: Set<Int64> = []

    /// Creates limits; by default contents of up to 64 KiB are inline, 8 MiB together.
    public init(entries: Int, inlineContent: Int64? = SyncBatch.maximumInlineBytes, inlineBytes: Int64 = 8 << 20) {
        self.entries = entries
        self.inlineContent = inlineContent
        self.inlineBytes = inlineBytes
    }

    /// Whether an entry's content is sent inline.
    public func takes(_ entry: FolderEntry) -> Bool {
        guard let inlineContent else { return false }
        return entry.contentHash != nil && entry.bytes <= inlineContent && !known.contains(entry.contentRevision)
    }
}

extension SharedFolder {
    /// The limits of a page after `cursor` without the contents that a writer has sent itself, as far as that is known.
    public func limits(
        _ limits: JournalLimits, besides writer: OperationWriter?, after cursor: JournalCursor?
    ) throws -> JournalLimits {
        guard let writer, let cursor else { return limits }
        var limits = limits
        // There may be more operations than entries: only the last of several versions of an entry is listed.
        limits.known = try state.revisions(by: writer, after: cursor.position, limit: 2 * min(limits.entries, 1 << 20))
        return limits
    }

    /// The next changes after a cursor, or of the whole state when there is none.
    ///
    /// Following the cursors lists each entry whose content or place has changed since the pass began, and each deleted
    /// one. Changes made meanwhile are listed at the end of the pass.
    ///
    /// - Throws: ``APIError`` 410 when the cursor is not of this journal or too old for it: start over without one.
    public func journal(
        after cursor: JournalCursor?, epoch: String, limits: JournalLimits
    ) throws -> (entries: [FolderEntry], next: JournalCursor, hasMore: Bool) {
        let last = try state.lastRevision()
        var pass = cursor ?? JournalCursor(epoch: epoch, position: 0, known: nil, end: nil)
        let known = pass.known ?? 0
        let isComplete =
            try cursor == nil || state.forgottenRevision() <= (pass.known ?? pass.end ?? 0)
        guard pass.epoch == epoch, pass.position <= last, known <= pass.position, isComplete else {
            throw APIError(410, "the cursor is older than the journal; start over without one")
        }
        let end = pass.end ?? last
        pass.end = end
        var entries: [FolderEntry] = []
        var inlineBytes: Int64 = 0
        while true {
            let wanted = limits.entries - entries.count + 1
            let found = try state.journal(after: pass.position, changedAfter: known, limit: wanted)
            for entry in found {
                // A pass over the whole state omits deletions from before it.
                if !entry.isDeleted || pass.known != nil || entry.revision > end {
                    if limits.takes(entry) { inlineBytes += entry.bytes }
                    let isFull = entries.count == limits.entries || inlineBytes > limits.inlineBytes
                    if isFull, !entries.isEmpty { return (entries, pass, true) }
                    entries.append(entry)
                }
                pass.position = entry.revision
            }
            if found.count < wanted { return (entries, JournalCursor(epoch: epoch, position: last), false) }
        }
    }
}

extension SharedFolder {
    /// The most versions that one page is made of, however few changes they are.
    private static let mostVersions = 50_000

    /// What members did, the newest first: changes after one number and before another, at most `limit`.
    ///
    /// Moving or removing a folder is one change, that of the folder. Forgotten history is left out. With an author or
    /// a condition only such changes are told; a page may then have few of them, and older ones follow.
    public func history(
        before: Int64?, after: Int64, limit: Int, by author: Int64? = nil,
        where matches: (HistoryChange) -> Bool = { _ in true }
    ) throws -> HistoryPage {
        var page = HistoryPage(sequence: try state.lastRevision(), before: nil, changes: [])
        // A move has two versions: the one at the new place is read first here, then the deletion at the old one.
        var move: FolderEntry?
        var count = 0
        func add(_ change: HistoryChange) { if matches(change) { page.changes.append(change) } }
        var start: Int64? = before ?? .max
        while let next = start {
            start = nil
            try state.forEachChange(before: next) { entry in
                count += 1
                if let moved = move {
                    if entry.isDeleted, entry.modified == moved.modified, entry.author == moved.author {
                        if entry.node == moved.node {
                            try add(change(moved, .moved, from: entry.path))
                            move = nil
                            return true
                        }
                        // A moved folder also leaves deletions of its entries, which are read before its own.
                        if let left = try folder(leftBy: moved, above: entry) {
                            try add(change(moved, .moved, from: left.path))
                            move = nil
                            start = left.revision
                            return false
                        }
                        if count > Self.mostVersions { page.before = entry.revision }
                        return page.before == nil
                    }
                    move = nil
                    try add(change(moved, .moved))
                }
                if entry.revision <= after { return false }
                if page.changes.count >= limit || count > Self.mostVersions {
                    page.before = entry.revision + 1
                    return false
                }
                if let author, entry.author != author { return true }
                if try !entry.isDeleted && isMove(entry) {
                    move = entry
                } else if let action = try action(of: entry) {
                    let earlier = action == .moved ? try state.version(entry.path.key, before: entry.revision) : nil
                    try add(change(entry, action, from: earlier?.path))
                }
                return true
            }
        }
        if let move { page.changes.append(try change(move, .moved)) }
        return page
    }

    /// The deletion that a moved folder left at its old place, above those of its entries; nil when it is forgotten.
    private func folder(leftBy moved: FolderEntry, above entry: FolderEntry) throws -> FolderEntry? {
        guard moved.isFolder else { return nil }
        var above = entry.path.key.parent
        while let key = above, key != .root {
            let left = try state.version(key, before: moved.revision)
            if let left, left.isDeleted, left.node == moved.node, left.modified == moved.modified { return left }
            above = key.parent
        }
        return nil
    }

    private func change(
        _ entry: FolderEntry, _ action: HistoryChange.Action, from origin: RemotePath? = nil
    ) throws -> HistoryChange {
        HistoryChange(entry, action, from: origin, by: try name(of: entry))
    }

    /// Whether a version is an entry's first one at another key, which leaves one at the old key.
    private func isMove(_ entry: FolderEntry) throws -> Bool {
        guard entry.contentRevision < entry.revision else { return false }
        let before = try state.version(entry.path.key, before: entry.revision)
        return before?.node != entry.node || before?.isDeleted != false
    }

    /// The action behind a version; nil when it follows from an action on the folder.
    private func action(of entry: FolderEntry) throws -> HistoryChange.Action? {
        if entry.isDeleted {
            guard let above = entry.path.key.parent, above != .root else { return .removed }
            // A deleted folder was deleted with everything in it.
            return try state.version(above, before: entry.revision)?.isDeleted == true ? nil : .removed
        }
        if entry.node.number == entry.revision { return .added }
        if entry.contentRevision < entry.revision { return .moved }
        return entry.placeRevision == entry.revision ? .restored : .edited
    }
}
