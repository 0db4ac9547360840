import ByteClubCore

extension Mirror {
    /// Deletions that may be carried out now; those that are too many to be believed wait for somebody's word.
    func guarded(_ deletions: [Operation], sparing: Bool) throws -> [Operation] {
        var wanted = deletions
        if sparing {
            wanted.removeAll { if case .deleteRemote = $0 { true } else { false } }
            hasSpared = wanted.count < deletions.count
        }
        let recent = recentlyGone()
        var counts: [ItemID: Int] = [:]
        for operation in wanted { counts[operation.item] = try weight(of: operation) }
        let total = counts.values.reduce(0, +)
        let isHeld =
            try !configuration.approvesDeletions && total > 0
            && configuration.deleteGuard.holds(deletions: total + recent, of: store.syncedCount() + recent)
        guard isHeld else {
            try release()
            if !wanted.isEmpty { recentDeletions.append((surroundings.uptime(), 0)) }
            return wanted
        }
        let approved = try approvedDeletions()
        let held = wanted.filter { !approved.contains($0.item) }
        try hold(held)
        heldCount = held.reduce(0) { $0 + (counts[$1.item] ?? 1) }
        return wanted.filter { approved.contains($0.item) }
    }

    /// How many synced entries went in the last seconds, so that many small steps count like one large one.
    func recentlyGone() -> Int {
        let before = surroundings.uptime() - .seconds(10)
        recentDeletions.removeAll { $0.at < before }
        return recentDeletions.reduce(0) { $0 + $1.count }
    }

    /// How many synced entries a deletion takes away.
    private func weight(of operation: Operation) throws -> Int {
        guard case .deleteRemote(let id) = operation else { return 1 }
        return try count(id)
    }

    /// How many entries of the server there are in an item, itself included.
    func count(_ id: ItemID) throws -> Int {
        guard let item = try store.item(id), item.isFolder else { return 1 }
        var count = 1
        try store.visitRemote(below: id) { _ in count += 1 }
        return count
    }

    private func approvedDeletions() throws -> Set<ItemID> {
        let text = try store.meta(.approvedDeletions) ?? ""
        return Set(text.split(separator: "\n").compactMap { Int64($0) }.map(ItemID.init))
    }

    private func hold(_ operations: [Operation]) throws {
        let old = Dictionary(try store.heldDeletions().map { ($0.item, $0.since) }, uniquingKeysWith: min)
        var held: [HeldDeletion] = []
        for operation in operations {
            let side: Side = if case .discard = operation { .local } else { .remote }
            held.append(
                HeldDeletion(
                    item: operation.item, side: side, path: try shownPath(of: operation.item),
                    since: old[operation.item] ?? seconds))
        }
        held.sort { $0.path < $1.path }
        if try store.heldDeletions() != held { try store.setHeldDeletions(held) }
        for deletion in held {
            tally.noteOnce(
                SyncEvent(
                    .held, path: deletion.path,
                    message:
                        "too many deletions at once to be believed; put the files back, or see 'byteclub sync deletes review'"
                ))
        }
    }

    private func release() throws {
        heldCount = 0
        if try !store.heldDeletions().isEmpty { try store.setHeldDeletions([]) }
        if try store.meta(.approvedDeletions) != nil { try store.setMeta(.approvedDeletions, nil) }
    }
}
