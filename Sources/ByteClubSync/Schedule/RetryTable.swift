/// The outcome of a step for an item.
enum ItemOutcome: Hashable, Sendable {
    /// An operation on it was done, or nothing blocks it any more.
    case succeeded
    /// Its file could be read.
    case readable
    /// Its file is being written.
    case beingWritten
    /// Its large file changed while it was hashed or sent, so that this was in vain.
    case changedMeanwhile
    /// The disk or the server refused it.
    case refused(String, Refusal)
}

/// Why an operation on an item was refused, which decides what may help.
enum Refusal: Hashable, Sendable {
    /// It may pass by itself.
    case passing
    /// Another plan may avoid it, but waiting does not help.
    case answered
    /// The same will be refused again until a person acts.
    case lasting
    /// The member's role does not allow it.
    case role
    /// The server has broken the protocol about it.
    case breach

    /// Whether the same will be refused again, so that the item waits at once.
    var isFinal: Bool { self == .lasting || self == .role }
}

/// The items that are retried later, with backoff.
struct RetryTable: Sendable {
    private struct Entry: Sendable {
        var refusals = 0
        /// Whether the last refusal may pass by itself.
        var mayPass = true
        /// How often in a row its file was being written.
        var writes = 0
        /// How often in a row it was hashed or sent in vain.
        var vain = 0
        /// When it is retried; nil for at once.
        var until: SyncInstant?
    }

    /// After how many refusals in a row the item waits and the problem is reported.
    private static let patience = 3

    private var entries: [ItemID: Entry] = [:]

    /// The items that wait for a retry.
    var waiting: Set<ItemID> { Set(entries.filter { $0.value.until != nil }.keys) }

    /// The items whose files are being written, with the time of each retry.
    var beingWritten: [ItemID: SyncInstant] {
        entries.compactMapValues { $0.refusals == 0 ? $0.until : nil }
    }

    /// The time of the next retry; nil when none waits.
    var next: SyncInstant? { entries.values.compactMap(\.until).min() }

    /// The time of the next retry that waiting alone may make succeed; nil when none waits for that.
    var nextWorthWaiting: SyncInstant? { entries.values.filter(\.mayPass).compactMap(\.until).min() }

    /// The items that are skipped for now.
    func waiting(at now: SyncInstant) -> Set<ItemID> {
        Set(entries.filter { $0.value.until.map { $0 > now } ?? false }.keys)
    }

    /// Records an item's outcome.
    ///
    /// - Returns: How long it waits now, when that is a problem to report.
    mutating func note(_ outcome: ItemOutcome, of item: ItemID, at now: SyncInstant) -> Duration? {
        switch outcome {
        case .succeeded:
            entries[item]?.writes = 0
            entries[item]?.vain = 0
            forgive(item)
        case .readable: if let entry = entries[item], entry.refusals == 0, entry.vain == 0 { entries[item] = nil }
        case .beingWritten, .changedMeanwhile:
            var entry = entries[item] ?? Entry()
            entry.writes += 1
            if outcome == .changedMeanwhile { entry.vain += 1 }
            entry.until = now + Backoff.beingWritten.delay(after: entry.writes)
            entries[item] = entry
        case .refused(_, let refusal):
            var entry = entries[item] ?? Entry()
            entry.refusals += 1
            entry.mayPass = refusal == .passing
            defer { entries[item] = entry }
            guard refusal.isFinal || entry.refusals >= Self.patience else { return nil }
            let delay = Backoff.refused.delay(after: entry.refusals)
            entry.until = now + delay
            return delay
        }
        return nil
    }

    /// Forgives the refusals of items that the feed has reported.
    ///
    /// - Returns: Whether there were any.
    mutating func reported(_ items: Set<ItemID>) -> Bool {
        let refused = entries.filter { $0.value.refusals > 0 && items.contains($0.key) }.keys
        for item in refused { forgive(item) }
        return !refused.isEmpty
    }

    private mutating func forgive(_ item: ItemID) {
        entries[item]?.refusals = 0
        entries[item]?.mayPass = true
    }

    /// Releases the items whose retry is due.
    mutating func release(at now: SyncInstant) {
        for (item, entry) in entries { if let until = entry.until, until <= now { entries[item]?.until = nil } }
    }

    /// Retries files that were being written; those that were sent in vain too often wait out their time.
    ///
    /// - Returns: Whether there were any to retry.
    @discardableResult
    mutating func attend(_ items: [ItemID]) -> Bool {
        var hasAny = false
        for item in items {
            guard let entry = entries[item], entry.refusals == 0, entry.vain < Self.patience else { continue }
            if entry.vain == 0 { entries[item] = nil } else { entries[item]?.until = nil }
            hasAny = true
        }
        return hasAny
    }

    /// Forgets the items for which a test holds.
    mutating func forget(where isOver: (ItemID) throws -> Bool) rethrows {
        for item in entries.keys.sorted() where try isOver(item) { entries[item] = nil }
    }
}
