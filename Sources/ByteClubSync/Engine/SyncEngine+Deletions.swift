public import ByteClubCore

extension SyncEngine {
    /// Approves the held deletions; the next sync, or the running one, carries them out.
    ///
    /// - Returns: The deletions that were held.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be changed.
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

    /// Cancels the held deletions: the next sync restores the deleted entries from the other side.
    ///
    /// - Returns: The deletions that were held.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be changed.
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

    /// Forgets the merge base of an entry and of all in it where one side has lost it, so that it is new on the side
    /// that kept it.
    private static func restore(_ top: ItemID, keptOn side: Side, in store: SQLiteTreeStore) throws {
        var rest = [top]
        while let id = rest.popLast() {
            guard let item = try store.item(id), item.synced != nil else { continue }
            if item.location(on: side) == nil || item.location(on: side.other) != nil { continue }
            _ = try store.editing { editor in try editor.forgetBase(id) }
            rest += try store.children(of: id, on: side).map(\.id)
        }
    }
}
