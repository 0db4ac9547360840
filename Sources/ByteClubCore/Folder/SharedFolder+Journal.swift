/// How much one page of the journal may hold.
public struct JournalLimits: Hashable, Sendable {
    /// The most entries.
    public var entries: Int
    /// The longest content that travels with its entry; nil for none at all.
    public var inlineContent: Int64?
    /// The most bytes of such contents together, unless a single one has more.
    public var inlineBytes: Int64

    /// Creates limits; by default contents of up to 64 KiB travel along, 8 MiB together.
    public init(entries: Int, inlineContent: Int64? = SyncBatch.maximumInlineBytes, inlineBytes: Int64 = 8 << 20) {
        self.entries = entries
        self.inlineContent = inlineContent
        self.inlineBytes = inlineBytes
    }

    /// Whether an entry's content travels with it.
    public func takes(_ entry: FolderEntry) -> Bool {
        guard let inlineContent else { return false }
        return entry.contentHash != nil && entry.bytes <= inlineContent
    }
}

extension SharedFolder {
    /// The next changes after a cursor, or of the whole state when there is none.
    ///
    /// Following the cursors tells of each entry whose content or place has changed since the walk began, and of those
    /// that are gone. What changes meanwhile is told at the walk's end.
    ///
    /// - Throws: ``APIError`` 410 when the cursor is not of this journal or too old for it: start over without one.
    public func journal(
        after cursor: JournalCursor?, epoch: String, limits: JournalLimits
    ) throws -> (entries: [FolderEntry], next: JournalCursor, hasMore: Bool) {
        let last = try state.lastRevision()
        var walk = cursor ?? JournalCursor(epoch: epoch, position: 0, known: nil, end: nil)
        let known = walk.known ?? 0
        let isComplete =
            try cursor == nil || state.forgottenRevision() <= (walk.known ?? walk.end ?? 0)
        guard walk.epoch == epoch, walk.position <= last, known <= walk.position, isComplete else {
            throw APIError(410, "the journal does not reach back to the cursor; start over without one")
        }
        let end = walk.end ?? last
        walk.end = end
        var entries: [FolderEntry] = []
        var inlineBytes: Int64 = 0
        while true {
            let wanted = limits.entries - entries.count + 1
            let found = try state.journal(after: walk.position, limit: wanted)
            for entry in found {
                let isKnown = entry.change <= known
                let isNews = !entry.isDeleted || walk.known != nil || entry.revision > end
                if !isKnown, isNews {
                    if limits.takes(entry) { inlineBytes += entry.bytes }
                    let isFull = entries.count == limits.entries || inlineBytes > limits.inlineBytes
                    if isFull, !entries.isEmpty { return (entries, walk, true) }
                    entries.append(entry)
                }
                walk.position = entry.revision
            }
            if found.count < wanted { return (entries, JournalCursor(epoch: epoch, position: last), false) }
        }
    }
}
