import ByteClubCore

extension SyncLoop {
    /// A step of a session.
    enum Step: Sendable {
        /// Classify the leftovers of an engine or a step that was cut off.
        case recover
        /// Check the mirror's root; read settings and rules when they may have changed, and restore some deletions.
        case check(reloads: Bool, restores: Bool)
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
        /// Install contents that arrived inline with a part of the feed.
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

        /// Whether the disk may change much while it is performed.
        var mayLast: Bool {
            switch self {
            case .check, .ingest, .scan(.files), .settle, .sync: false
            default: true
            }
        }
    }

    /// The loop's state.
    enum State {
        case idle
        /// There is work to do.
        case active
        case round(Round)
        /// Nothing is left to do before this time or an event.
        case concluded(until: SyncInstant?)
        /// A person or a metered network has paused the mirror; a check at this time finds out whether it still is.
        case paused(until: SyncInstant)
        case ended

        /// Whether the session may ask for steps.
        var isRunning: Bool {
            switch self {
            case .idle, .ended: false
            case .active, .round, .concluded, .paused: true
            }
        }
        var isInRound: Bool { if case .round = self { true } else { false } }
        var pausedUntil: SyncInstant? { if case .paused(let until) = self { until } else { nil } }
        var concludedUntil: SyncInstant? { if case .concluded(let until) = self { until } else { nil } }

        /// Leaves an idle state, since there may be work to do; returns whether it was idle.
        mutating func wake() -> Bool {
            switch self {
            case .active, .round, .paused: return false
            case .idle, .concluded:
                self = .active
                return true
            case .ended: preconditionFailure("an event cannot wake a loop that is \(self)")
            }
        }

        /// Notes that nothing is left to do now; an earlier deadline is not postponed by a later event.
        mutating func conclude(until deadline: SyncInstant? = nil) {
            self = .concluded(until: [concludedUntil, deadline].compactMap(\.self).min())
        }

        /// Ends a round, before or after its last step; nil when there is none.
        mutating func endRound() -> Round? {
            guard case .round(let round) = self else { return nil }
            self = .active
            return round
        }

        /// Whether items may be planned alone now.
        ///
        /// In a round a slice is planned between two such plans, so that items that are ready all the time do not keep
        /// the round from its end; before a round, it plans these items as well.
        mutating func takeTurnAlone(needsRound: Bool) -> Bool {
            guard case .round(var round) = self else { return !needsRound }
            round.hasSettled.toggle()
            if round.hasSettled { self = .round(round) }
            return round.hasSettled
        }

        /// The next step of the round; nil when there is no round.
        mutating func takeSlice() -> Step? {
            guard case .round(var round) = self else { return nil }
            round.hasSettled = false
            self = .round(round)
            return round.last == .root ? .delete(round.deletions) : .sync(after: round.last)
        }
    }

    /// The progress of a round, which plans all unsettled items in slices, and then judges the deletions.
    struct Round {
        /// The last item that was planned; the root when all were.
        var last: ItemID?
        /// The deletions that were planned so far.
        var deletions: [ItemID] = []
        /// How many operations took effect so far.
        var done = 0
        /// Whether the last step planned items alone: then a slice is next.
        var hasSettled = false
    }

    /// Whether a scan or a plan is next while both are due.
    enum Turn {
        case scan
        /// A scan's findings are planned first, so that a disk that never settles does not starve other work.
        case plan
    }

    /// The steps that precede all others: recovery, then a check.
    struct Entry {
        private enum Check { case none, root, settings }

        private var recovers = true
        private var check = Check.settings
        /// Whether more deletions are to be restored from the server's history, which the next check continues.
        var restores = false

        mutating func recover() { recovers = true }

        mutating func checkRoot() { if case .none = check { check = .root } }

        mutating func checkSettings() { check = .settings }

        /// The next of these steps; a check in a pause reads the settings again, which may end it.
        mutating func next(inPause isPaused: Bool) -> Step? {
            if recovers {
                recovers = false
                return .recover
            }
            let reloads = isPaused || check == .settings
            if check == .none { return nil }
            defer { (check, restores) = (.none, false) }
            return .check(reloads: reloads, restores: reloads || restores)
        }
    }

    /// The work that is known and not planned yet, and the conclusion after it.
    struct Agenda {
        /// How many items are planned alone; more are left to a round, which plans in slices.
        private static let mostReady = 1_024
        /// How long work that never ends may put off a conclusion.
        private static let conclusionDelay = Duration.seconds(1)

        /// Items that can be planned alone, without a round.
        var ready: Set<ItemID> = []
        /// Whether all unsettled items are to be planned.
        var needsRound = true
        /// Whether anything has happened since the last conclusion that needs another one.
        var needsConclusion = true
        /// Since when work has put off a conclusion.
        var busySince: SyncInstant

        init(at now: SyncInstant) { busySince = now }

        /// Adds a round and the conclusion after it.
        mutating func addAll() { (needsRound, needsConclusion) = (true, true) }

        /// Whether items are to be planned alone; too many are left to a round.
        mutating func hasReady() -> Bool {
            if ready.count > Self.mostReady { (ready, needsRound) = ([], true) }
            return !ready.isEmpty
        }

        /// Removes and returns the items that are to be planned alone.
        mutating func takeReady() -> Set<ItemID> {
            defer { ready = [] }
            return ready
        }

        /// Whether a round is due, which then plans the ready items as well.
        mutating func takeRound() -> Bool {
            if !needsRound { return false }
            (needsRound, ready) = (false, [])
            return true
        }

        /// Whether work without end has put off a conclusion for too long.
        func isConclusionLate(at now: SyncInstant) -> Bool {
            needsConclusion && now - busySince >= Self.conclusionDelay
        }
    }

    /// The items that wait or travel without a problem, for the status.
    struct Backlog {
        /// How many bytes of each travelling file are transferred.
        var travelling: [ItemID: Int64]
        /// Large files that wait for a slot, and those that wait for the schedule.
        var queued, scheduled: Set<ItemID>
        /// Files that are being written, with the time of the next retry.
        var beingWritten: [ItemID: SyncInstant]
        /// All items that wait for a retry.
        var retried: Set<ItemID>
        /// Whether nothing waits, and no large file is under way.
        var isEmpty: Bool
    }
}
