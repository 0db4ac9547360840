import ByteClubCore

extension SyncLoop {
    /// What a session does next.
    enum Step: Sendable {
        /// Classify what an engine that was stopped has left.
        case recover
        /// Check the mirror's root, and read settings and rules when they may have changed.
        case check(reloads: Bool)
        /// Handle the result of a large file's transfer.
        case finish(ItemID, TransferResult)
        /// Check a file that was read for the audit.
        case judge(AuditedFile)
        /// Apply a page of the journal that a poll has returned.
        case ingest(SyncChanges, after: String)
        /// Start transfers of large files.
        case start([TransferRequest])
        case scan(ScanRequest)
        /// Read the next page of the server's feed.
        case pull
        /// Install contents that came inline with a part of the feed.
        case installInline
        /// Plan a slice of the unsettled items, after one of them, and carry the plan out except for deletions.
        case sync(after: ItemID?)
        /// Plan these items alone, and carry the plan out except for deletions.
        case settle(Set<ItemID>)
        /// Check the planned deletions against the guard, and carry out those that are allowed.
        case delete([ItemID])
        /// Do periodic maintenance, and record the mirror's status.
        case conclude
        /// Start a long poll for the server's changes.
        case poll
        /// Start to read the next file for the audit.
        case audit
        /// Wait for an event, or until a moment.
        case wait(until: SyncInstant?)
        case end

        var isScan: Bool { if case .scan = self { true } else { false } }

        /// Whether much may happen to the disk while it is performed.
        var mayLast: Bool {
            switch self {
            case .check, .ingest, .scan(.files), .settle, .sync: false
            default: true
            }
        }
    }

    /// The loop's state.
    enum State: Hashable {
        case idle
        /// There is work to do.
        case active
        /// In the middle of a round: the last item that was planned, and the deletions that were planned so far.
        case round(after: ItemID?, deletions: [ItemID], done: Int)
        /// Nothing is left to do now.
        case concluded
        case paused
        case ended

        var name: String {
            switch self {
            case .idle: "idle"
            case .active: "active"
            case .round: "round"
            case .concluded: "concluded"
            case .paused: "paused"
            case .ended: "ended"
            }
        }
    }

    /// How current the tree is with respect to the server.
    enum Feed: Hashable, Sendable {
        /// The feed must be read.
        case stale
        /// A part of it was read; `inline` when contents that came with it are to be installed first.
        case partial(inline: Bool)
        case current
    }
}
