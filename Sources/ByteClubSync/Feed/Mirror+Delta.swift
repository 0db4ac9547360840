import ByteClubCore

/// What a walk along `/delta` has met, so that a deletion and a new entry can be told to be one move.
struct DeltaWalk {
    var walk = FeedWalk()
    /// Entries that were deleted, with what the server had shown of them.
    var gone: [(item: ItemID, remote: RemoteState)] = []
    /// Entries that nobody knew.
    var new: [ItemID] = []
}

extension Mirror {
    /// Reads the changes of Core API v1, which knows paths only: moves are recognised by their contents.
    func pullDelta() async throws {
        try checkFeed("delta")
        rootNode = nil
        let goesOn = try store.meta(.isDeltaOpen) != nil
        var delta = DeltaWalk()
        while true {
            let cursor = try store.meta(.cursor)
            hasWrittenSinceFeed = false
            let page = try await deltaPage(after: cursor)
            try delta.walk.record.progress.take(
                entries: page.entries.count, isReset: page.reset, cursor: page.cursor, after: cursor,
                hasMore: page.hasMore)
            try store.transaction(durably: false) {
                delta.walk.generation = try beginWalk(isReset: page.reset)
                for entry in page.entries { try take(entry, &delta) }
                if !page.hasMore {
                    try recogniseMoves(goesOn ? unsettledDelta() : delta)
                    try endWalk(&delta.walk)
                }
                let isOpen = try store.meta(.isDeltaOpen) != nil
                if page.hasMore != isOpen { try store.setMeta(.isDeltaOpen, page.hasMore ? "1" : nil) }
                try store.setMeta(.cursor, page.cursor)
            }
            if !page.hasMore {
                hasUnansweredMove = false
                try await confirm(delta.walk.swept)
                return try await dispelDoubts()
            }
        }
    }

    /// What a walk has met that was interrupted and has come to its end now, as far as nothing was done about it yet.
    private func unsettledDelta() throws -> DeltaWalk {
        var delta = DeltaWalk()
        var chunks = UnsettledChunks(store, of: 1_000)
        while let chunk = try chunks.next() {
            for item in chunk {
                switch (item.local, item.remote, item.synced) {
                case (_, nil, let synced?):
                    let place = Place(synced.place.parent, synced.remoteName ?? synced.place.name)
                    let remote = RemoteState(
                        place: place, isFolder: synced.isFolder, hash: synced.hash, revision: synced.revision)
                    delta.gone.append((item.id, remote))
                case (nil, _?, nil): delta.new.append(item.id)
                default: break
                }
            }
        }
        return delta
    }

    private func deltaPage(after cursor: String?) async throws(RemoteError) -> DeltaPage {
        do {
            return try await remote.delta(after: cursor, prefix: configuration.remoteRoot)
        } catch {
            guard error.code == .badCursor || error.code == .staleCursor, cursor != nil else { throw error }
        }
        return try await remote.delta(after: nil, prefix: configuration.remoteRoot)
    }

    private func take(_ entry: DeltaEntry, _ delta: inout DeltaWalk) throws {
        let root = configuration.remoteRoot
        guard let metadata = entry.metadata, !metadata.isDeleted else {
            guard let names = relative(entry.key) else { return }
            if names.isEmpty {
                for child in try store.children(of: .root, on: .remote) { try remove(child, &delta) }
            } else if let item = try item(at: names) {
                try remove(item, &delta)
            }
            return
        }
        guard let path = metadata.path.rebased(from: root, to: .root), !path.isRoot else {
            try delta.walk.record.progress.takeRepeat()
            if metadata.path.key != root.key { return }
            if !metadata.isFolder { throw SyncError(.configuration, "'\(root)' on the server is a file, not a folder") }
            return
        }
        let names = path.components.map { EntryName($0) }
        guard let last = names.last, let parent = try makeFolders(names.dropLast(), &delta) else { return }
        let known = try store.children(of: parent, key: last.key, on: .remote).first
        if let seen = known?.remote, delta.walk.generation == nil, let told = metadata.rev, told.number < seen.revision
        {
            return
        }
        var remote = RemoteState(
            place: Place(parent, last), isFolder: metadata.isFolder, hash: metadata.contentHash, size: metadata.bytes,
            revision: metadata.rev?.number ?? 0)
        remote.generation = delta.walk.generation ?? known?.remote?.generation ?? 0
        if remote.hash == nil, known?.remote?.revision == remote.revision { remote.hash = known?.remote?.hash }
        if let known, known.isFolder != metadata.isFolder { try remove(known, &delta) }
        try keep(remote, as: known, isOutside: false, isRefresh: delta.walk.generation != nil, &delta.walk)
        if known == nil, let item = try store.children(of: parent, key: last.key, on: .remote).first {
            delta.new.append(item.id)
        }
    }

    /// The names below the mirrored folder; empty for that or one above it, nil for what is outside.
    private func relative(_ key: PathKey) -> [String]? {
        let root = configuration.remoteRoot.key
        if key == root || root.isBelow(key) { return [] }
        guard key.isBelow(root) else { return nil }
        let names = key.string.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        return Array(names.dropFirst(configuration.remoteRoot.components.count))
    }

    /// The item that the server has at a path by its names' keys; nil when it has none.
    func item(at keys: [String]) throws -> Item? {
        var parent = ItemID.root
        var found: Item?
        for key in keys {
            found = try store.children(of: parent, key: key, on: .remote).first
            guard let found else { return nil }
            parent = found.id
        }
        return found
    }

    /// The folder with so many names, made in the tree where the server has not told it yet.
    private func makeFolders(_ names: ArraySlice<EntryName>, _ delta: inout DeltaWalk) throws -> ItemID? {
        var parent = ItemID.root
        for name in names {
            if let known = try store.children(of: parent, key: name.key, on: .remote).first {
                guard known.isFolder else { return nil }
                parent = known.id
                continue
            }
            var remote = RemoteState(place: Place(parent, name), isFolder: true)
            remote.generation = delta.walk.generation ?? 0
            delta.walk.record.untoldFolders += 1
            if delta.walk.record.untoldFolders > FeedProgress.mostRepeats {
                throw RemoteError(.protocolViolation, "the server's list of changes leaves out the folders")
            }
            try keep(remote, as: nil, isOutside: false, isRefresh: false, &delta.walk)
            guard let made = try store.children(of: parent, key: name.key, on: .remote).first else { return nil }
            delta.new.append(made.id)
            parent = made.id
        }
        return parent
    }

    private func remove(_ item: Item, _ delta: inout DeltaWalk) throws {
        var gone: [Item] = []
        try forgetRemote(item) { gone.append($0) }
        delta.gone += gone.compactMap { item in item.remote.map { (item.id, $0) } }
    }

    /// Takes a deleted and a new entry for one that was moved, where their contents leave no doubt.
    private func recogniseMoves(_ delta: DeltaWalk) throws {
        if delta.gone.isEmpty || delta.new.isEmpty { return }
        var byHash: [ContentHash: [(item: ItemID, remote: RemoteState)]] = [:]
        for gone in delta.gone {
            guard let item = try store.item(gone.item), item.remote == nil, !item.isExcluded else { continue }
            if let hash = gone.remote.hash, !gone.remote.isFolder { byHash[hash, default: []].append(gone) }
        }
        var votes: [ItemID: [ItemID: Int]] = [:]
        var moved: Set<ItemID> = []
        for id in delta.new {
            guard let new = try store.item(id), let remote = new.remote, let hash = remote.hash, new.isToArrive
            else { continue }
            let candidates = (byHash[hash] ?? []).filter { old in
                !moved.contains(old.item)
                    && (old.remote.place.name.key == remote.place.name.key
                        || old.remote.place.parent == remote.place.parent)
            }
            guard candidates.count == 1, let old = candidates.first else { continue }
            moved.insert(old.item)
            try move(new, into: old.item)
            if old.remote.place.parent != remote.place.parent {
                votes[remote.place.parent, default: [:]][old.remote.place.parent, default: 0] += 1
            }
        }
        try moveFolders(delta, votes)
        try recogniseOwnMoves(delta)
    }

    /// Takes a new file for the one that is deleted on the server and was moved to the new one's very place on disk: the
    /// server has done our move, of a content that somebody had just changed, and the answer was lost.
    private func recogniseOwnMoves(_ delta: DeltaWalk) throws {
        let gone = Set(delta.gone.map(\.item))
        for id in delta.new {
            guard let new = try store.item(id), let remote = new.remote, !remote.isFolder, new.isToArrive
            else { continue }
            let there = try store.children(of: remote.place.parent, key: remote.place.name.key, on: .local)
            guard
                let old = there.first(where: {
                    gone.contains($0.id) && $0.remote == nil && !$0.isFolder && $0.isMovedLocally
                })
            else { continue }
            try move(new, into: old.id)
        }
    }

    /// A new folder into which at least half of what a deleted one held has come is that folder, moved.
    private func moveFolders(_ delta: DeltaWalk, _ votes: [ItemID: [ItemID: Int]]) throws {
        let held = Dictionary(grouping: delta.gone.filter { !$0.remote.isFolder }) { $0.remote.place.parent }
        let gone = Set(delta.gone.filter(\.remote.isFolder).map(\.item))
        for id in delta.new {
            guard let new = try store.item(id), new.isFolder, new.isToArrive,
                let best = votes[id]?.sorted(by: { ($0.value, $1.key) > ($1.value, $0.key) }).first,
                gone.contains(best.key), let old = try store.item(best.key), old.remote == nil,
                2 * best.value >= held[best.key]?.count ?? 0
            else { continue }
            for var child in try store.children(of: id, on: .remote) {
                child.remote?.place.parent = best.key
                try store.save(child)
            }
            try move(new, into: best.key)
        }
    }

    private func move(_ new: Item, into old: ItemID) throws {
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
