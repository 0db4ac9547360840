import ByteClubCore

/// Counts what a session does, emits its events, and records its status in the database, for status queries.
final class StatusRecorder {
    /// After how many bytes a large file's progress is recorded.
    static let progressStep: Int64 = 4 << 20
    /// How many files that wait for a slot are recorded for `why`.
    private static let recordedWaiting = 256

    private let context: SyncContext
    private let onEvent: @Sendable (SyncEvent) -> Void
    /// What was done so far.
    private var counts = SyncSummary()
    /// The lasting states that were reported, and those that were met since the last conclusion.
    private var (reported, met): (Set<String>, Set<String>) = ([], [])
    /// At how many bytes each large file's progress is recorded next.
    private var nextProgress: [ItemID: Int64] = [:]
    /// Why folders cannot be watched, as it was last reported.
    private var watching: String?
    /// Whether the session waits for an unmetered network, as it is recorded.
    private var isMetered = false
    /// Whether an obstacle of the whole mirror is recorded, and whether that is known.
    private var (hasObstacle, isObstacleKnown) = (false, false)
    private var lastSync: Int64?
    /// Whether some problem kept the two sides apart when they were last reviewed.
    private var areApart = true
    /// Why the server refused the first single entry that no retry will mend; nil when it refused none so.
    private(set) var refusal: RemoteError?

    private var store: any TreeStore { context.store }

    init(_ context: SyncContext, _ onEvent: @escaping @Sendable (SyncEvent) -> Void) {
        (self.context, self.onEvent) = (context, onEvent)
    }

    // MARK: Events

    /// Counts and emits a step's events.
    func emit(_ emissions: [SyncReport.Emission]) {
        for emission in emissions {
            if emission.isOnce { emitOnce(emission.event) } else { emit(emission.event, nodes: emission.nodes) }
        }
    }

    /// Counts and emits an event.
    func emit(_ event: SyncEvent, nodes: Int = 1) {
        counts.count(event, nodes: nodes)
        onEvent(event)
    }

    /// Emits an event about a lasting state, once for as long as it lasts.
    private func emitOnce(_ event: SyncEvent) {
        let state = "\(event.event) \(event.path ?? "") \(event.message ?? "")"
        if met.insert(state).inserted, !reported.contains(state) { onEvent(event) }
    }

    /// Notes that all lasting states have been met: the others are over, and are reported again when they recur.
    func conclude() { (reported, met) = (met, []) }

    // MARK: Transfers

    /// Emits the progress of a large file's transfer.
    ///
    /// - Returns: Whether it has come far enough since the last time to be recorded.
    func note(_ progress: TransferProgress, of item: ItemID) -> Bool {
        guard let path = try? store.shownPath(of: item) else { return false }
        onEvent(SyncEvent(.progress, path: path, bytes: progress.completed, total: progress.total))
        guard progress.completed >= nextProgress[item] ?? Self.progressStep else { return false }
        nextProgress[item] = progress.completed + Self.progressStep
        return true
    }

    /// Notes that a large file's transfer has ended.
    func noteEnd(of item: ItemID) { nextProgress[item] = nil }

    /// Records the items that wait or travel without a problem.
    func record(_ backlog: SyncLoop.Backlog) throws {
        let limit = Self.recordedWaiting
        var waiting = backlog.travelling.map { WaitingItem($0.key, .underWay(bytes: $0.value)) }
        waiting += backlog.queued.sorted().prefix(limit).map { WaitingItem($0, .queued) }
        waiting += backlog.scheduled.sorted().prefix(limit).map { WaitingItem($0, .scheduled) }
        let now = context.environment.clock.now
        for (item, until) in backlog.beingWritten where until > now {
            waiting.append(WaitingItem(item, .written(until: context.seconds + (until - now).components.seconds)))
        }
        // The first outcome of an item counts.
        let unique = Dictionary(waiting.map { ($0.item, $0) }, uniquingKeysWith: { first, _ in first })
        if try unique.isEmpty && store.records(WaitingItem.self).isEmpty { return }
        try store.transaction(durably: false) { try store.replace(unique.values.sorted { $0.item < $1.item }) }
    }

    // MARK: Problems

    /// Records and reports the items that wait because they were refused too often.
    func record(_ problems: [(result: SyncReport.Outcome, delay: Duration)]) throws {
        for (result, delay) in problems {
            guard case .refused(let message, let refusal) = result.outcome else { continue }
            self.refusal = self.refusal ?? refusal.error(message)
            let path = try store.shownPath(of: result.item)
            let problem = ProblemRecord(
                path: path, item: result.item, message: message, isFromScan: false,
                nextAttempt: context.seconds + delay.components.seconds)
            try store.setProblem(problem, path: path)
            emitOnce(SyncEvent(.problem, path: path, message: message))
        }
    }

    /// Reports problems, held deletions and held rules, and removes the problems of items that are settled or deleted.
    ///
    /// - Returns: Whether no problem keeps the two sides apart.
    func review(_ heldRules: HeldRulesRecord?) throws -> Bool {
        areApart = false
        var review = ProblemReview(store)
        for problem in try store.problems() {
            if !problem.isFromScan, let id = problem.item, try store.item(id)?.isSettled ?? true {
                try store.setProblem(nil, path: problem.path)
                continue
            }
            emitOnce(SyncEvent(.problem, path: problem.path, message: problem.message))
            if !areApart { areApart = try review.keepsApart(problem) }
        }
        try report(store.heldDeletions())
        if let heldRules { emitOnce(heldRules.event) }
        return !areApart
    }

    /// Records what keeps the whole mirror from being synced.
    func note(obstacle error: SyncError) {
        // Best effort: the database may be the obstacle.
        try? store.note(obstacle: error, at: context.seconds)
        hasObstacle = true
    }

    /// Removes the recorded obstacle of the whole mirror.
    func clearObstacle() throws {
        guard hasObstacle || !isObstacleKnown else { return }
        try store.replace([ObstacleRecord]())
        (hasObstacle, isObstacleKnown) = (false, true)
    }

    /// Records why folders cannot be watched, nil when they can, and reports it once.
    func noteWatching(_ problem: String?) throws {
        if problem == watching { return }
        try store.setMeta(.watching, problem)
        if watching == nil, let problem { emit(SyncEvent(.problem, message: problem)) }
        watching = problem
    }

    /// Records whether the session waits for an unmetered network.
    func noteMetered(_ isMetered: Bool) throws {
        if isMetered == self.isMetered { return }
        try store.setMeta(.metered, isMetered ? "1" : nil)
        self.isMetered = isMetered
    }

    // MARK: Deletions

    /// Records and reports the held deletions.
    func record(_ verdict: DeletionGuard.Verdict) throws {
        let known = try store.heldDeletions()
        if verdict.held.isEmpty {
            if !known.isEmpty { try store.setAll([HeldDeletionRecord]()) }
            // Approved deletions are done by now, unless they are deferred.
            if !verdict.usesApproval, !verdict.isDeferred { try store.replace([ApprovedDeletion]()) }
            return
        }
        let since = Dictionary(known.map { ($0.item, $0.since) }, uniquingKeysWith: min)
        var held: [HeldDeletionRecord] = []
        for operation in verdict.held {
            held.append(
                HeldDeletionRecord(
                    item: operation.item, side: operation.side ?? .remote,
                    path: try store.shownPath(of: operation.item), since: since[operation.item] ?? context.seconds))
        }
        held.sort { $0.path < $1.path }
        if known != held { try store.setAll(held) }
        try report(held)
    }

    /// Reports held deletions, except for entries that were renamed to an unsynced name, each of which is a problem.
    private func report(_ held: [HeldDeletionRecord]) throws {
        if held.isEmpty { return }
        let moved = Set(try store.unsyncedMoves().compactMap(\.item))
        for deletion in held where !moved.contains(deletion.item) {
            emitOnce(.held(deletion.path, on: deletion.side))
        }
    }

    // MARK: The whole mirror

    /// Records the time at which both sides agree, at most once in two seconds.
    func noteAgreement() throws {
        let now = context.seconds
        if let lastSync, now - lastSync < 2, now >= lastSync { return }
        lastSync = now
        try store.setMetaLater(.lastSync, "\(now)")
    }

    /// The effects of the sync, and the work that is left.
    func summary(_ outcome: SessionOutcome, _ backlog: SyncLoop.Backlog, _ scope: SyncScope) throws -> SyncSummary {
        var summary = counts
        let problems = try store.problems()
        let waiting = try backlog.retried.sorted().map { try store.shownPath(of: $0) }
        for path in waiting where !problems.contains(where: { $0.path == path }) {
            emitOnce(SyncEvent(.problem, path: path, message: "it is being written; the next sync uploads it"))
            summary.problems += 1
        }
        for path in try backlog.scheduled.sorted().map({ try store.shownPath(of: $0) }) {
            emitOnce(SyncEvent(.problem, path: path, message: "large files wait for the schedule"))
            summary.problems += 1
        }
        summary.held = outcome.held
        summary.heldByRules = scope.ignoreFiles.held?.entries ?? 0
        summary.problems += problems.count
        summary.isComplete =
            summary.held == 0 && scope.ignoreFiles.held == nil && outcome.pause == nil
            && summary.problems == problems.count && !areApart
        summary.ignored = try scope.ignored()
        return summary
    }

    /// Reports why a sync ends without agreement, unless another event has done so.
    func explainEnd(_ summary: SyncSummary, _ outcome: SessionOutcome) throws {
        guard summary.problems == 0, summary.held == 0, summary.heldByRules == 0, outcome.pause == nil else {
            return
        }
        let path = try store.unsettled(after: nil, limit: 1).first.map { try store.shownPath(of: $0.id) }
        emitOnce(SyncEvent(.problem, path: path, message: "it kept changing during this sync; the next one retries"))
    }
}

extension Refusal {
    /// The error of a sync that can do no more because of this refusal; nil when a later sync may succeed.
    fileprivate func error(_ message: String) -> RemoteError? {
        switch self {
        case .passing, .answered, .lasting: return nil
        case .breach: return RemoteError(.protocolViolation, message)
        case .role:
            var error = RemoteError(.forbidden, message)
            error.isOfRole = true
            return error
        }
    }
}

extension SyncEvent {
    /// The event of a pause.
    init(_ pause: SessionPause) {
        switch pause {
        case .asked(let until): self.init(.paused, until: until == .max ? nil : until)
        case .metered: self.init(.paused, cause: .metered)
        }
    }
}
