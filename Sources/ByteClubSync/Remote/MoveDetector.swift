import ByteClubCore

/// Matches deletions and new entries of a path-only feed to moves, by their contents.
struct MoveDetector {
    /// Deleted entries, with their last remote state.
    var gone: [(item: ItemID, remote: RemoteState)] = []
    /// New entries.
    var new: [ItemID] = []

    init() {}

    /// Collects the deleted and new entries of a pass that was interrupted, as far as they are unsettled.
    init(unsettledIn store: any TreeStore) throws {
        var chunks = UnsettledChunks(store, of: 1_000)
        while let chunk = try chunks.next() {
            for item in chunk {
                switch (item.local, item.remote, item.synced) {
                case (_, nil, let synced?):
                    let location = Location(synced.location.parent, synced.remoteName ?? synced.location.name)
                    let remote = RemoteState(
                        location: location, isFolder: synced.isFolder, hash: synced.hash, revision: synced.revision)
                    gone.append((item.id, remote))
                case (nil, _?, nil): new.append(item.id)
                default: break
                }
            }
        }
    }

    /// Links deleted and new entries that are one move, where their contents are unambiguous.
    func run(_ editor: inout TreeEditor) throws {
        if gone.isEmpty || new.isEmpty { return }
        let store = editor.store
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
                    && (old.remote.location.name.key == remote.location.name.key
                        || old.remote.location.parent == remote.location.parent)
            }
            guard candidates.count == 1, let old = candidates.first else { continue }
            moved.insert(old.item)
            try editor.linkRemote(new, into: old.item)
            if old.remote.location.parent != remote.location.parent {
                votes[remote.location.parent, default: [:]][old.remote.location.parent, default: 0] += 1
            }
        }
        try moveFolders(votes, &editor)
        try recognizeOwnMoves(&editor)
    }

    /// Recognises our own move whose answer was lost, of a file whose content was changed just before: a new remote
    /// file at the location to which a remotely deleted one was moved on disk.
    private func recognizeOwnMoves(_ editor: inout TreeEditor) throws {
        let store = editor.store
        let gone = Set(self.gone.map(\.item))
        for id in new {
            guard let new = try store.item(id), let remote = new.remote, !remote.isFolder, new.isToArrive
            else { continue }
            let there = try store.children(of: remote.location.parent, key: remote.location.name.key, on: .local)
            let old = there.first { gone.contains($0.id) && $0.remote == nil && !$0.isFolder && $0.isMovedLocally }
            if let old { try editor.linkRemote(new, into: old.id) }
        }
    }

    /// A new folder that contains at least half of a deleted one's entries is that folder, moved.
    private func moveFolders(_ votes: [ItemID: [ItemID: Int]], _ editor: inout TreeEditor) throws {
        let store = editor.store
        let held = Dictionary(grouping: gone.filter { !$0.remote.isFolder }) { $0.remote.location.parent }
        let folders = Set(gone.filter(\.remote.isFolder).map(\.item))
        for id in new {
            guard let new = try store.item(id), new.isFolder, new.isToArrive,
                let best = votes[id]?.sorted(by: { ($0.value, $1.key) > ($1.value, $0.key) }).first,
                folders.contains(best.key), let old = try store.item(best.key), old.remote == nil,
                2 * best.value >= held[best.key]?.count ?? 0
            else { continue }
            try editor.linkRemote(new, into: best.key)
        }
    }
}

extension Item {
    /// Whether only the server has it.
    fileprivate var isToArrive: Bool { remote != nil && local == nil && synced == nil && !isExcluded }
}
