import ByteClubCore

/// Decides which deletions are carried out now: deletions above the guard's threshold are held until they are approved,
/// and those on the server are deferred until the disk has settled, since missing files may turn up again.
struct DeletionGuard: Sendable {
    /// A planned deletion, with the number of synced entries that it removes.
    struct Candidate: Hashable, Sendable {
        let operation: PlannedOperation
        let weight: Int
        /// How many of those entries were made within the wave.
        var fresh = 0
    }

    /// The decision about the candidates.
    struct Verdict: Hashable, Sendable {
        var allowed: [PlannedOperation] = []
        var held: [PlannedOperation] = []
        /// How many entries the held ones would remove, with those that were held before and are deferred now.
        var heldWeight = 0
        /// Whether the threshold was exceeded, so that only approved ones are allowed.
        var usesApproval = false
        /// Whether what is allowed is part of a wave, since nobody has approved it.
        var isOfWave = false
        /// Whether some were deferred until the disk has settled.
        var isDeferred = false

        /// Holds a deletion.
        mutating func hold(_ candidate: Candidate) {
            held.append(candidate.operation)
            heldWeight += candidate.weight
        }
    }

    /// For how long deletions are deferred at most while the disk is changing.
    private static let patience = Duration.seconds(2)

    private let threshold: DeleteGuard
    private let approvesAll: Bool
    /// The deletions that are added up, so that many small ones count like a large one.
    var wave = DeletionWave()
    private var deferredSince: SyncInstant?
    /// Whether the last verdict deferred deletions.
    private(set) var isDeferring = false
    /// Whether a verdict is due though nothing may be wanted any more: what is recorded of the last one may be over.
    private(set) var isOpen = true

    init(_ threshold: DeleteGuard, approvesAll: Bool) {
        self.threshold = threshold
        self.approvesAll = approvesAll
    }

    /// Whether deletions have been deferred for the longest time, though the disk is still changing.
    func hasWaited(at now: SyncInstant) -> Bool { deferredSince.map { now - $0 >= Self.patience } ?? false }

    /// Notes whether deletions are deferred, by the guard or because of missing items.
    mutating func noteDeferral(isMissing: Bool, at now: SyncInstant) {
        deferredSince = isDeferring || isMissing ? deferredSince ?? now : nil
    }

    /// Counts entries that were deleted.
    mutating func count(_ entries: Int, at now: SyncInstant) {
        if entries > 0, !approvesAll { wave.count(entries, at: now) }
    }

    /// Whether this many more deletions, out of `synced` entries, exceed the threshold together with the wave's;
    /// `fresh` of them are of entries that were made within it, and `isHeld` says whether some of the wave are held so
    /// far.
    mutating func holds(
        _ entries: Int, fresh: Int = 0, of synced: Int, isHeld: Bool = false, at now: SyncInstant
    ) -> Bool {
        if approvesAll || entries == 0 { return false }
        wave.plan(of: synced, isHeld: isHeld, at: now)
        // Nothing was made within one that begins now.
        return wave.isTooMuch(entries, fresh: wave.start == nil ? 0 : fresh, of: synced, threshold)
    }

    /// Has what is recorded of the last verdict looked at again.
    mutating func reopen() { isOpen = true }

    /// Decides about all planned deletions; `approved` are those that were approved, `held` those that are held so far.
    mutating func judge(
        _ candidates: [Candidate], of synced: Int, approved: Set<ItemID>, held: Set<ItemID>, isSettling: Bool,
        at now: SyncInstant
    ) -> Verdict {
        var verdict = Verdict()
        defer { isOpen = verdict.isDeferred || verdict.usesApproval || !verdict.held.isEmpty }
        var wanted = candidates
        if isSettling {
            wanted.removeAll { $0.operation.side == .remote }
            // The others are judged again when the disk has settled; until then they stay as they are.
            let waiting = held.subtracting(approved)
            for candidate in candidates where waiting.contains(candidate.operation.item) {
                if candidate.operation.side == .remote { verdict.hold(candidate) }
            }
        }
        verdict.isDeferred = wanted.count < candidates.count
        isDeferring = verdict.isDeferred
        let total = wanted.reduce(0) { $0 + $1.weight }
        // What others have deleted is no part of this machine's wave.
        let own = wanted.filter { $0.operation.side == .remote }
        let isTooMuch =
            own.isEmpty
            ? !approvesAll && threshold.holds(deletions: total, of: synced)
            : holds(
                total, fresh: own.reduce(0) { $0 + $1.fresh }, of: synced,
                isHeld: own.contains { held.contains($0.operation.item) }, at: now)
        guard isTooMuch else {
            verdict.allowed = wanted.map(\.operation)
            verdict.isOfWave = !own.isEmpty && !approvesAll
            return verdict
        }
        verdict.usesApproval = true
        for candidate in wanted {
            if approved.contains(candidate.operation.item) {
                verdict.allowed.append(candidate.operation)
            } else {
                verdict.hold(candidate)
            }
        }
        return verdict
    }
}
