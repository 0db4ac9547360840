public import ByteClubCore

extension SyncEngine {
    /// Gives the word that the deletions wait for; the next sync, or the one that runs, carries them out.
    ///
    /// - Returns: The deletions that were waiting.
    public static func approveDeletions(
        of configuration: SyncConfiguration
    ) throws(SyncError) -> [SyncStatus.HeldDeletion] {
        try configuration.change { store in
            let held = try store.heldDeletions()
            if held.isEmpty { return [] }
            for deletion in held { try store.save(ApprovedDeletion(deletion.item)) }
            return held.map(SyncStatus.HeldDeletion.init)
        } ?? []
    }

    /// Takes the deletions back that wait: what is gone on one side comes back from the other with the next sync.
    ///
    /// - Returns: The deletions that were waiting.
    public static func restoreDeletions(
        of configuration: SyncConfiguration
    ) throws(SyncError) -> [SyncStatus.HeldDeletion] {
        try configuration.change { store in
            let held = try store.heldDeletions()
            for deletion in held { try restore(deletion.item, keptOn: deletion.side, in: store) }
            try store.setHeldDeletions([])
            if !held.isEmpty { try store.replace([ApprovedDeletion]()) }
            return held.map(SyncStatus.HeldDeletion.init)
        } ?? []
    }

    /// Forgets of an entry and all in it that both sides were ever equal, where one side has lost it: what is then only
    /// on the side that kept it is new.
    private static func restore(_ top: ItemID, keptOn side: Side, in store: SQLiteTreeStore) throws {
        var rest = [top]
        while let id = rest.popLast() {
            guard let item = try store.item(id), item.synced != nil else { continue }
            if item.place(on: side) == nil || item.place(on: side.other) != nil { continue }
            _ = try store.editing { editor in try editor.forgetBase(id) }
            rest += try store.children(of: id, on: side).map(\.id)
        }
    }
}
