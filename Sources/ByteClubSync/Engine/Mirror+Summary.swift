import ByteClubCore

extension Mirror {
    /// What a sync did, and what is left.
    func summary(_ outcome: CycleOutcome) throws -> SyncSummary {
        var summary = tally.summary
        let waiting = try busy.keys.sorted().map { try shownPath(of: $0) }
        let problems = try store.problems()
        for path in waiting where !problems.contains(where: { $0.path == path }) {
            tally.noteOnce(SyncEvent(.problem, path: path, message: "it is being written; the next sync takes it"))
            summary.problems += 1
        }
        for path in try scheduled.sorted().map({ try shownPath(of: $0) }) {
            tally.noteOnce(
                SyncEvent(.problem, path: path, message: "large files wait until the schedule lets them travel"))
            summary.problems += 1
        }
        summary.held = outcome.held
        summary.heldByRules = heldRules?.entries ?? 0
        summary.problems += problems.count
        summary.isComplete =
            summary.held == 0 && heldRules == nil && summary.problems == 0 && outcome.pausedUntil == nil
        let ignored = try self.ignored ?? store.ignored()
        self.ignored = ignored
        summary.ignored = ignored
        return summary
    }

    /// Waits until a moment on the engine's clock.
    func sleep(until moment: Duration) async throws {
        let rest = moment - surroundings.uptime()
        if rest > .zero { try await surroundings.sleep(rest) }
    }

    /// Where the server's feed goes on; nil before the first.
    func cursor() throws -> String? { try store.meta(.cursor) }

    /// Takes a part of the journal that somebody waited for.
    ///
    /// One that starts elsewhere than where the tree stands by now may tell more than the tree has, so the server is asked.
    func deliver(_ changes: SyncChanges, after cursor: String?) throws {
        try take(changes, after: cursor)
        if try changes.page.hasMore || store.meta(.cursor) != changes.page.cursor { isFeedStale = true }
    }

    /// Tries files again that were being written in folders where something was saved; tells which of the folders are in
    /// the mirror no more.
    func attend(to folders: Set<ItemID>) throws -> [ItemID] {
        for id in busy.keys.sorted() where refusals[id] == nil {
            if let parent = try store.item(id)?.local?.place.parent, folders.contains(parent) { busy[id] = nil }
        }
        return try folders.sorted().filter { try $0 != .root && store.item($0)?.local == nil }
    }

    /// Keeps why changes are noticed late, for those who ask how the mirror is.
    func setWatching(_ line: String?) throws { try store.setMeta(.watching, line) }

    /// Gives back memory that only makes the next cycle faster.
    func rest() throws { try store.rest() }

    /// Says that the server has changed.
    func markFeedStale() { isFeedStale = true }

    /// Calls a function whenever a transfer ends.
    func setOnTransferEnd(_ call: @escaping @Sendable () -> Void) { onTransferEnd = call }
}

extension Mirror {
    /// Now, on the engine's clock.
    var uptime: Duration { surroundings.uptime() }
}
