import ByteClubCore

extension Mirror {
    /// Does what has no effect on either side; tells how much that was.
    func keepBooks(_ operations: [Operation]) throws -> Int {
        let books = operations.filter(\.isBookkeeping)
        // A transaction that is durable waits for the disk, even when there is nothing to write.
        if books.isEmpty { return 0 }
        var done = 0
        try store.transaction(durably: true) {
            for operation in books {
                switch operation {
                case .adopt(let id): try adopt(id)
                case .forget(let id): try change(id) { $0.synced = nil }
                case .revoke(let id): try change(id) { $0.synced = nil }
                case .unify(let local, let remote): try unify(local, into: remote)
                default: continue
                }
                done += 1
            }
        }
        return done
    }

    /// Remembers what both sides show as synced.
    func adopt(_ id: ItemID) throws {
        try change(id) { item in
            guard let local = item.local, let remote = item.remote, local.isFolder == remote.isFolder,
                !remote.isDoubtful
            else { return }
            if !local.isFolder, local.hash == nil || remote.hash.map({ $0 != local.hash }) ?? false { return }
            item.synced = SyncedState(
                place: local.place, remoteName: local.place.name.unless(remote.place.name), isFolder: local.isFolder,
                hash: local.hash, size: local.size, revision: remote.revision)
            if remote.hash == nil { item.remote?.hash = local.hash }
            item.local?.isLeftover = false
            item.sent = nil
        }
    }

    private func change(_ id: ItemID, _ change: (inout Item) -> Void) throws {
        guard var item = try store.item(id) else { return }
        change(&item)
        try store.save(item)
    }

    /// Gives an item that the server has the disk's side of a new one, with what is in it.
    private func unify(_ new: ItemID, into known: ItemID) throws {
        guard var old = try store.item(new), var item = try store.item(known), let local = old.local else { return }
        for var child in try store.children(of: new, on: .local) {
            child.local?.place.parent = known
            try store.save(child)
        }
        old.local = nil
        old.synced = nil
        try store.save(old)
        item.local = local
        item.local?.isLeftover = false
        item.synced = nil
        try store.save(item)
        // Folders' seals name their items.
        try store.setSeal(nil, of: local.place.parent)
        try store.setSeal(nil, of: known)
        openFolders[new] = nil
        if isWatching, local.isFolder { suspects.insert(known) }
    }
}
