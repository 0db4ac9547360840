import ByteClubCore

/// Decides which deletions are carried out now.
///
/// Deletions above the threshold are held until they are approved; those on the server are deferred until the disk has
/// settled, since missing files may turn up again.
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
        /// Whether the allowed deletions are part of a wave, since no person has approved them.
        var isOfWave = false
        /// Whether some were deferred until the disk has settled.
        var isDeferred = false
        /// Whether the next round must judge again, even if it plans no deletions, since the record of this verdict may
        /// be out of date by then.
        var isOpen = false

        /// Holds a deletion.
        mutating func hold(_ candidate: Candidate) {
            held.append(candidate.operation)
            heldWeight += candidate.weight
        }
    }

    private let threshold: DeleteGuard
    private let approvesAll: Bool
    /// The wave of deletions, in which many small ones count like a large one.
    var wave = DeletionWave()

    init(_ threshold: DeleteGuard, approvesAll: Bool) {
        self.threshold = threshold
        self.approvesAll = approvesAll
    }

    /// Counts entries that were deleted.
    mutating func count(_ entries: Int, at now: SyncInstant) {
        if entries > 0, !approvesAll { wave.count(entries, at: now) }
    }

    /// Whether this many more deletions, out of `synced` entries, exceed the threshold together with the wave's.
    ///
    /// `fresh` of them are of entries that were made within the wave; `isHeld` when some of the wave are held so far.
    mutating func holds(
        _ entries: Int, fresh: Int = 0, of synced: Int, isHeld: Bool = false, at now: SyncInstant
    ) -> Bool {
        if approvesAll || entries == 0 { return false }
        wave.plan(of: synced, isHeld: isHeld, at: now)
        // Nothing was made within a wave that begins now.
        return wave.isTooMuch(entries, fresh: wave.start == nil ? 0 : fresh, of: synced, threshold)
    }

    /// Decides about all planned deletions, given the approved ones and those that are held so far.
    mutating func judge(
        _ candidates: [Candidate], of synced: Int, approved: Set<ItemID>, held: Set<ItemID>, isSettling: Bool,
        at now: SyncInstant
    ) -> Verdict {
        var verdict = Verdict()
        var wanted = candidates
        if isSettling {
            wanted.removeAll { $0.operation.side == .remote }
            // Deferred deletions are judged again when the disk has settled; those held so far stay held.
            let waiting = held.subtracting(approved)
            for candidate in candidates where waiting.contains(candidate.operation.item) {
                if candidate.operation.side == .remote { verdict.hold(candidate) }
            }
        }
        verdict.isDeferred = wanted.count < candidates.count
        let total = wanted.reduce(0) { $0 + $1.weight }
        // Deletions by others are no part of this machine's wave.
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
            verdict.isOpen = verdict.isDeferred || !verdict.held.isEmpty
            return verdict
        }
        (verdict.usesApproval, verdict.isOpen) = (true, true)
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

/// The deletions that wait for the disk to settle, as the loop sees them.
struct DeletionDeferral: Sendable {
    /// For how long deletions are deferred at most while the disk is changing.
    private static let patience = Duration.seconds(2)

    private var since: SyncInstant?
    /// Whether the last verdict deferred deletions.
    private(set) var isDeferring = false
    /// Whether a round must judge deletions although it has planned none, as when a person may have decided about them.
    var isOpen = true

    /// Whether deletions have been deferred for the longest time, though the disk is still changing.
    func hasWaited(at now: SyncInstant) -> Bool { since.map { now - $0 >= Self.patience } ?? false }

    /// Records a verdict of the guard.
    mutating func note(_ verdict: DeletionGuard.Verdict) {
        (isDeferring, isOpen) = (verdict.isDeferred, verdict.isOpen)
    }

    /// Begins or ends the wait: deletions are deferred by the guard, or because items are missing.
    mutating func update(isMissing: Bool, at now: SyncInstant) {
        since = isDeferring || isMissing ? since ?? now : nil
    }
}

/// Deletions on the server that follow one another, which the guard adds up, however slow they are.
struct DeletionWave: Hashable, Sendable {
    /// After how long without a deletion the next one begins another wave.
    static let gap = Duration.seconds(600)

    /// How many entries were synced when it began.
    private(set) var size = 0
    /// How many entries it has deleted so far.
    private(set) var count = 0
    /// When one of its deletions was last planned or done; nil before the first one.
    private(set) var last: SyncInstant?
    /// The first item that was made within it; nil while that is not known.
    ///
    /// A program may make and delete temporary files for hours; their deletions do not count.
    private(set) var start: ItemID?
    /// What the database lacks of it.
    private(set) var unstored = Unstored.nothing

    /// What the database lacks of a wave.
    enum Unstored: Hashable, Sendable {
        case nothing
        /// The latest deletions.
        case count
        /// All of it: the database still has an earlier wave, whose deletions are no part of this one.
        case everything
    }

    /// Adds planned deletions to the wave, or begins another one; held deletions keep a wave from its end.
    mutating func plan(of synced: Int, isHeld: Bool, at now: SyncInstant) {
        if let last, isHeld || now - last < Self.gap { return self.last = now }
        self = Self(size: synced, last: now)
        unstored = .everything
    }

    /// Sets the first item that is made within the wave, unless it is set already.
    mutating func notice(_ next: ItemID) { start = start ?? next }

    /// Whether an item is older than the wave, so that its deletion makes the wave larger.
    func counts(_ item: ItemID) -> Bool { start.map { item < $0 } ?? true }

    /// Notes that the database has all of the wave.
    mutating func stored() { unstored = .nothing }

    /// Raises the count to the deletions that the server has shown, when its answer about them is missing.
    mutating func recount(_ gone: Int) { if gone > count { add(gone - count) } }

    /// Counts deletions that were carried out.
    mutating func count(_ entries: Int, at now: SyncInstant) {
        add(entries)
        last = now
    }

    private mutating func add(_ entries: Int) {
        count += entries
        if unstored == .nothing { unstored = .count }
    }

    /// Whether this many more deletions, out of `synced` entries, make the wave too large; `fresh` of them are of
    /// entries that were made within it.
    func isTooMuch(_ entries: Int, fresh: Int = 0, of synced: Int, _ threshold: DeleteGuard) -> Bool {
        // Deletions by others make no wave larger; deleting all that is left is too much by itself.
        threshold.holds(deletions: count + entries - fresh, of: max(size, synced + count))
            || threshold.holds(deletions: entries, of: synced)
    }
}
