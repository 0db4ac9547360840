import ByteClubCore

/// Deletions on the server that follow one another: the guard judges them as one, however slowly they come.
struct DeletionWave: Hashable, Sendable {
    /// After how long without a deletion the next one begins another wave.
    static let gap = Duration.seconds(600)

    /// How many entries were synced when it began.
    private(set) var size: Int
    /// How many entries it has deleted so far.
    private(set) var count: Int
    /// When a deletion of it was last planned or done; nil before the first one.
    private(set) var last: SyncInstant?
    /// The first item that was made within it; nil while that is not known.
    ///
    /// A program's temporary files come and go for hours, and are no part of what was there.
    private(set) var start: ItemID?
    /// Whether it has begun since it was last stored: what an earlier one has deleted is no part of it.
    private(set) var isNew = false

    init(size: Int = 0, count: Int = 0, last: SyncInstant? = nil) {
        (self.size, self.count, self.last) = (size, count, last)
    }

    /// Takes planned deletions, when so many entries are synced; while some of it are held, no time ends it.
    mutating func plan(of synced: Int, isHeld: Bool, at now: SyncInstant) {
        if let last, isHeld || now - last < Self.gap { return self.last = now }
        self = Self(size: synced, last: now)
        isNew = true
    }

    /// Notes that all items from one on are made within it, unless that is known.
    mutating func notice(_ next: ItemID) { start = start ?? next }

    /// Whether an item is older than it.
    func counts(_ item: ItemID) -> Bool { start.map { item < $0 } ?? true }

    /// Notes that it is stored.
    mutating func stored() { isNew = false }

    /// Notes how many entries it has deleted at least, when not every answer has arrived.
    mutating func recount(_ gone: Int) { count = max(count, gone) }

    /// Takes deletions that were carried out.
    mutating func count(_ entries: Int, at now: SyncInstant) { (count, last) = (count + entries, now) }

    /// Whether so many more deletions, when so many entries are synced, make it one that must wait; `fresh` of them are
    /// of entries that were made within it.
    func isTooMuch(_ entries: Int, fresh: Int = 0, of synced: Int, _ threshold: DeleteGuard) -> Bool {
        // What others delete meanwhile makes no wave larger, and all that is left is too much by itself.
        threshold.holds(deletions: count + entries - fresh, of: max(size, synced + count))
            || threshold.holds(deletions: entries, of: synced)
    }
}
