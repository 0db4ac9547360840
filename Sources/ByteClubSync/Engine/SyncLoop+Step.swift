import ByteClubCore

extension SyncLoop {
    /// What a session does next.
    enum Step: Sendable {
        /// Classify what an engine that was stopped has left.
        case recover
        /// Check the mirror's root, and read settings and rules when they may have changed.
        case check(reloads: Bool)
        /// Take what a large file's way has ended with.
        case finish(ItemID, TransferResult)
        /// Judge a file that was read for the audit.
        case judge(AuditedFile)
        /// Keep a page of the journal that a poll has brought.
        case ingest(SyncChanges, after: String)
        /// Start large files' ways.
        case start([TransferRequest])
        case scan(ScanRequest)
        /// Read the next page of the server's feed.
        case pull
        /// Bring contents to the disk that came with a part of the feed.
        case land
        /// Plan the unsettled items after one of them, some at a time, and carry the plan out, but for deletions.
        case sync(after: ItemID?)
        /// Plan these items alone and carry the plan out, but for deletions.
        case settle(Set<ItemID>)
        /// Judge the deletions that the plans wanted, and carry out those that may be.
        case delete([ItemID])
        /// Do what is due now and then, and record how the mirror is.
        case conclude
        /// Start to wait for the server's changes.
        case poll
        /// Start to read the next file for the audit.
        case audit
        /// Wait for an event, or until a moment.
        case wait(until: SyncInstant?)
        case end
    }

    /// How far the tree is as the server is.
    enum Feed: Hashable, Sendable {
        /// The feed must be read.
        case stale
        /// A part of it was read; `lands` when contents that came with it are to be brought to the disk first.
        case partial(lands: Bool)
        case current
    }
}
