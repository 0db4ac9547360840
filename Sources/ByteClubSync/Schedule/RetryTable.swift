/// What came of an item in a step.
enum ItemOutcome: Hashable, Sendable {
    /// It was done, or nothing is in its way any more.
    case succeeded
    /// Its file could be read.
    case readable
    /// The server has told something new of it.
    case changedOnServer
    /// Somebody is writing its file.
    case beingWritten
    /// The disk or the server refused it; `isFinal` when the same will be refused again, `isBreach` when the server has
    /// broken the protocol about it.
    case refused(String, isFinal: Bool, isBreach: Bool)
}

/// The items that are tried again later, at longer and longer intervals.
struct RetryTable: Sendable {
    private struct Entry: Sendable {
        var refusals = 0
        /// How often in a row somebody was writing it.
        var writes = 0
        /// When it is tried again; nil for at once.
        var until: SyncInstant?
    }

    /// From how many refusals in a row on people are told, and the item waits.
    private static let patience = 3

    private var entries: [ItemID: Entry] = [:]

    /// The items that were refused lately.
    var refused: Set<ItemID> { Set(entries.filter { $0.value.refusals > 0 }.keys) }

    /// The items that wait for their time.
    var waiting: Set<ItemID> { Set(entries.filter { $0.value.until != nil }.keys) }

    /// The items whose files somebody is writing, with when each is tried again.
    var beingWritten: [ItemID: SyncInstant] {
        entries.compactMapValues { $0.refusals == 0 ? $0.until : nil }
    }

    /// All items of which something is remembered.
    var all: [ItemID] { Array(entries.keys) }

    /// When the next one is tried again; nil when none waits.
    var next: SyncInstant? { entries.values.compactMap(\.until).min() }

    /// Whether an item is to be left alone for now.
    func isWaiting(_ item: ItemID, at now: SyncInstant) -> Bool { entries[item]?.until.map { $0 > now } ?? false }

    /// Notes what came of an item.
    ///
    /// - Returns: How long it waits now, when that is a problem that people are to be told of.
    mutating func note(_ outcome: ItemOutcome, of item: ItemID, at now: SyncInstant) -> Duration? {
        switch outcome {
        case .succeeded, .changedOnServer: entries[item]?.refusals = 0
        case .readable: if entries[item]?.refusals == 0 { entries[item] = nil }
        case .beingWritten:
            var entry = entries[item] ?? Entry()
            entry.writes += 1
            entry.until = now + Backoff.beingWritten.delay(after: entry.writes)
            entries[item] = entry
        case .refused(_, let isFinal, _):
            var entry = entries[item] ?? Entry()
            entry.refusals += 1
            guard isFinal || entry.refusals >= Self.patience else {
                entries[item] = entry
                return nil
            }
            let delay = Backoff.refused.delay(after: entry.refusals)
            entry.until = now + delay
            entries[item] = entry
            return delay
        }
        return nil
    }

    /// Lets those go on whose time has come: what comes of them now is noted anew.
    mutating func release(at now: SyncInstant) {
        for (item, entry) in entries { if let until = entry.until, until <= now { entries[item]?.until = nil } }
    }

    /// Tries files again that were being written.
    mutating func attend(_ items: [ItemID]) {
        for item in items where entries[item]?.refusals == 0 { entries[item] = nil }
    }

    /// Forgets items that are settled or gone.
    mutating func forget(_ items: [ItemID]) { for item in items { entries[item] = nil } }
}
