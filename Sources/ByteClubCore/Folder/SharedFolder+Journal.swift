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
    /// Following the cursors lists each entry whose content or place has changed since the pass began, and deletions.
    /// Changes during the pass are listed at its end.
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
                // A pass over the whole state leaves out deletions from before it.
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
