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
                let isChange: Bool
                switch operation {
                case .adopt(let id): isChange = try adopt(id)
                case .forget(let id), .revoke(let id): isChange = try change(id) { $0.synced = nil }
                case .unify(let local, let remote): isChange = try unify(local, into: remote)
                default: continue
                }
                // What changes nothing would be planned and done for ever.
                if isChange { done += 1 }
            }
        }
        return done
    }

    /// Remembers what both sides show as synced; tells whether that is news.
    func adopt(_ id: ItemID) throws -> Bool {
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

    private func change(_ id: ItemID, _ change: (inout Item) -> Void) throws -> Bool {
        guard let known = try store.item(id) else { return false }
        var item = known
        change(&item)
        if item == known { return false }
        try store.save(item)
        return true
    }

    /// Gives an item that the server has the disk's side of a new one, with what is in it.
    private func unify(_ new: ItemID, into known: ItemID) throws -> Bool {
        guard var old = try store.item(new), var item = try store.item(known), let local = old.local else {
            return false
        }
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
        return true
    }
}
