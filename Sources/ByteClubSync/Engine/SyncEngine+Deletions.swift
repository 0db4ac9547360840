public import ByteClubCore

extension SyncEngine {
    /// Approves the held deletions; the next sync, or the running one, carries them out.
    ///
    /// What was deleted before and is still to come back stays deleted.
    ///
    /// - Returns: The deletions that were held, and those that were done before and were still to come back.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be changed.
    public static func approveDeletions(
        of configuration: SyncConfiguration
    ) throws(SyncError) -> [SyncStatus.HeldDeletion] {
        try configuration.change { try approveDeletions(in: $0, at: WallClock.now() / 1_000_000_000) } ?? []
    }

    /// Approves the held deletions of a database.
    static func approveDeletions(in store: some TreeStore, at now: Int64) throws -> [SyncStatus.HeldDeletion] {
        let givenUp = try store.records(SentDeletion.self).filter(\.isWanted)
        for sent in givenUp { try store.forget(sent) }
        let done = givenUp.map { SyncStatus.HeldDeletion($0, at: now) }
        let held = try store.heldDeletions()
        if held.isEmpty { return done }
        let moved = Set(try store.unsyncedMoves().compactMap(\.item))
        for deletion in held {
            try store.save(ApprovedDeletion(deletion.item))
            if moved.contains(deletion.item) { try store.letGo(deletion.item) }
        }
        // What a person has said yes to makes nothing after it doubtful.
        try store.forgetWave()
        return held.map(SyncStatus.HeldDeletion.init) + done
    }

    /// Cancels the held deletions: the next sync restores the deleted entries from the other side, and from the server's
    /// history what the same wave had deleted there before they were held.
    ///
    /// - Returns: The deletions that were held, and those that were done before.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be changed.
    public static func restoreDeletions(
        of configuration: SyncConfiguration
    ) throws(SyncError) -> [SyncStatus.HeldDeletion] {
        try configuration.change { try restoreDeletions(in: $0, at: WallClock.now() / 1_000_000_000) } ?? []
    }

    /// Cancels the held deletions of a database.
    static func restoreDeletions(in store: some TreeStore, at now: Int64) throws -> [SyncStatus.HeldDeletion] {
        let held = try store.heldDeletions()
        let moved = Set(try store.unsyncedMoves().compactMap(\.item))
        for deletion in held {
            if moved.contains(deletion.item) { try store.letGo(deletion.item) }
            try restore(deletion.item, keptOn: deletion.side, in: store)
        }
        try store.setHeldDeletions([])
        if held.isEmpty { return [] }
        try store.replace([ApprovedDeletion]())
        var restored = held.map(SyncStatus.HeldDeletion.init)
        guard held.contains(where: { $0.side == .remote }) else { return restored }
        for var sent in try store.records(SentDeletion.self) {
            guard !sent.isWanted, try store.item(sent.item)?.remote == nil else { continue }
            sent.isWanted = true
            try store.save(sent)
            restored.append(SyncStatus.HeldDeletion(sent, at: now))
        }
        try store.forgetWave()
        return restored
    }

    /// Forgets the merge base of an entry and of all in it where one side has lost it, so that it is new on the side
    /// that kept it.
    private static func restore(_ top: ItemID, keptOn side: Side, in store: some TreeStore) throws {
        var rest = [top]
        while let id = rest.popLast() {
            guard let item = try store.item(id), item.synced != nil else { continue }
            if item.location(on: side) == nil || item.location(on: side.other) != nil { continue }
            _ = try store.editing { editor in try editor.forgetBase(id) }
            rest += try store.children(of: id, on: side).map(\.id)
        }
    }
}

extension SyncStatus.HeldDeletion {
    /// One that was carried out before others of its kind were held.
    fileprivate init(_ sent: SentDeletion, at now: Int64) {
        self.init(path: sent.path, side: "remote", since: now, isDone: true)
    }
}
