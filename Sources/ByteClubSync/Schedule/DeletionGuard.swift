import ByteClubCore

/// Decides which deletions may be carried out now: too many at once wait for somebody's word, and those on the server
/// wait until the disk has settled, since what is gone may turn up again.
struct DeletionGuard: Sendable {
    /// A deletion that the planner wants, with how many synced entries it takes away.
    struct Candidate: Hashable, Sendable {
        let operation: Operation
        let weight: Int
    }

    /// What becomes of the candidates.
    struct Verdict: Hashable, Sendable {
        var allowed: [Operation] = []
        var held: [Operation] = []
        /// How many entries the held ones would take away.
        var heldWeight = 0
        /// Whether any were too many, and only those are allowed that somebody has approved.
        var usesApproval = false
        /// Whether some were put off until the disk has settled.
        var isDeferred = false
    }

    /// For how long deletions count, so that many small steps weigh like one large one.
    private static let window = Duration.seconds(10)
    /// For how long deletions are put off at most while the disk is changing.
    private static let patience = Duration.seconds(2)

    private let threshold: DeleteGuard
    private let approvesAll: Bool
    private var recent: [(at: SyncInstant, count: Int)] = []
    private var deferredSince: SyncInstant?
    /// Whether the last verdict put deletions off.
    private(set) var isDeferring = false

    init(_ threshold: DeleteGuard, approvesAll: Bool) {
        self.threshold = threshold
        self.approvesAll = approvesAll
    }

    /// Whether deletions have been put off for long enough, though the disk is still changing.
    func hasWaited(at now: SyncInstant) -> Bool { deferredSince.map { now - $0 >= Self.patience } ?? false }

    /// Notes whether deletions are put off, by the guard or since items are missing.
    mutating func noteDeferral(isMissing: Bool, at now: SyncInstant) {
        deferredSince = isDeferring || isMissing ? deferredSince ?? now : nil
    }

    /// Counts entries that were deleted.
    mutating func count(_ entries: Int, at now: SyncInstant) { if entries > 0 { recent.append((now, entries)) } }

    /// How many entries were deleted in the last seconds.
    mutating func recentCount(at now: SyncInstant) -> Int {
        recent.removeAll { now - $0.at > Self.window }
        return recent.reduce(0) { $0 + $1.count }
    }

    /// Whether so many more deletions out of so many synced entries are too many to be believed.
    mutating func holds(_ entries: Int, of synced: Int, at now: SyncInstant) -> Bool {
        if approvesAll || entries == 0 { return false }
        let recent = recentCount(at: now)
        return threshold.holds(deletions: entries + recent, of: synced + recent)
    }

    /// Judges all deletions that are wanted now; `approved` are those that somebody has approved.
    mutating func judge(
        _ candidates: [Candidate], of synced: Int, approved: Set<ItemID>, isSettling: Bool, at now: SyncInstant
    ) -> Verdict {
        var verdict = Verdict()
        var wanted = candidates
        if isSettling {
            wanted.removeAll { if case .deleteRemote = $0.operation { true } else { false } }
        }
        verdict.isDeferred = wanted.count < candidates.count
        isDeferring = verdict.isDeferred
        let total = wanted.reduce(0) { $0 + $1.weight }
        guard holds(total, of: synced, at: now) else {
            verdict.allowed = wanted.map(\.operation)
            return verdict
        }
        verdict.usesApproval = true
        for candidate in wanted {
            if approved.contains(candidate.operation.item) {
                verdict.allowed.append(candidate.operation)
            } else {
                verdict.held.append(candidate.operation)
                verdict.heldWeight += candidate.weight
            }
        }
        return verdict
    }
}
