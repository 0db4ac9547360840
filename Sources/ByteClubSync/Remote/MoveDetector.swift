import ByteClubCore

/// Tells which deletions and new entries of a feed that knows paths alone are one move, by their contents.
struct MoveDetector {
    /// Entries that were deleted, with what the server had shown of them.
    var gone: [(item: ItemID, remote: RemoteState)] = []
    /// Entries that nobody knew.
    var new: [ItemID] = []

    init() {}

    /// What a walk has met that was interrupted and has come to its end now, as far as nothing was done about it yet.
    init(unsettledIn store: any TreeStore) throws {
        var chunks = UnsettledChunks(store, of: 1_000)
        while let chunk = try chunks.next() {
            for item in chunk {
                switch (item.local, item.remote, item.synced) {
                case (_, nil, let synced?):
                    let place = Place(synced.place.parent, synced.remoteName ?? synced.place.name)
                    let remote = RemoteState(
                        place: place, isFolder: synced.isFolder, hash: synced.hash, revision: synced.revision)
                    gone.append((item.id, remote))
                case (nil, _?, nil): new.append(item.id)
                default: break
                }
            }
        }
    }

    /// Takes a deleted and a new entry for one that was moved, where their contents leave no doubt; to be called in a
    /// transaction.
    func run(in store: any TreeStore) throws {
        if gone.isEmpty || new.isEmpty { return }
        var byHash: [ContentHash: [(item: ItemID, remote: RemoteState)]] = [:]
        for one in gone {
            guard let item = try store.item(one.item), item.remote == nil, !item.isExcluded else { continue }
            if let hash = one.remote.hash, !one.remote.isFolder { byHash[hash, default: []].append(one) }
        }
        var votes: [ItemID: [ItemID: Int]] = [:]
        var moved: Set<ItemID> = []
        for id in new {
            guard let new = try store.item(id), let remote = new.remote, let hash = remote.hash, new.isToArrive
            else { continue }
            let candidates = (byHash[hash] ?? []).filter { old in
                !moved.contains(old.item)
                    && (old.remote.place.name.key == remote.place.name.key
                        || old.remote.place.parent == remote.place.parent)
            }
            guard candidates.count == 1, let old = candidates.first else { continue }
            moved.insert(old.item)
            try Self.move(new, into: old.item, in: store)
            if old.remote.place.parent != remote.place.parent {
                votes[remote.place.parent, default: [:]][old.remote.place.parent, default: 0] += 1
            }
        }
        try moveFolders(votes, in: store)
        try recognizeOwnMoves(in: store)
    }

    /// Takes a new file for the one that is deleted on the server and was moved to the new one's very place on disk: the
    /// server has done our move, of a content that somebody had just changed, and the answer was lost.
    private func recognizeOwnMoves(in store: any TreeStore) throws {
        let gone = Set(self.gone.map(\.item))
        for id in new {
            guard let new = try store.item(id), let remote = new.remote, !remote.isFolder, new.isToArrive
            else { continue }
            let there = try store.children(of: remote.place.parent, key: remote.place.name.key, on: .local)
            guard
                let old = there.first(where: {
                    gone.contains($0.id) && $0.remote == nil && !$0.isFolder && $0.isMovedLocally
                })
            else { continue }
            try Self.move(new, into: old.id, in: store)
        }
    }

    /// A new folder into which at least half of what a deleted one held has come is that folder, moved.
    private func moveFolders(_ votes: [ItemID: [ItemID: Int]], in store: any TreeStore) throws {
        let held = Dictionary(grouping: gone.filter { !$0.remote.isFolder }) { $0.remote.place.parent }
        let folders = Set(gone.filter(\.remote.isFolder).map(\.item))
        for id in new {
            guard let new = try store.item(id), new.isFolder, new.isToArrive,
                let best = votes[id]?.sorted(by: { ($0.value, $1.key) > ($1.value, $0.key) }).first,
                folders.contains(best.key), let old = try store.item(best.key), old.remote == nil,
                2 * best.value >= held[best.key]?.count ?? 0
            else { continue }
            for var child in try store.children(of: id, on: .remote) {
                child.remote?.place.parent = best.key
                try store.save(child)
            }
            try Self.move(new, into: best.key, in: store)
        }
    }

    private static func move(_ new: Item, into old: ItemID, in store: any TreeStore) throws {
        guard var item = try store.item(old) else { return }
        var empty = new
        empty.remote = nil
        empty.lastNode = nil
        try store.save(empty)
        item.remote = new.remote
        try store.save(item)
    }
}

extension Item {
    /// Whether the server has it, and it is still to come into the mirror.
    fileprivate var isToArrive: Bool { remote != nil && local == nil && synced == nil && !isExcluded }
}
