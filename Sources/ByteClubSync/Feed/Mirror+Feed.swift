import ByteClubCore

/// One walk along the server's feed: what is remembered while its entries are taken.
struct FeedWalk {
    /// The walk's number when it tells the server's whole state; nil when it tells changes.
    var generation: Int64?
    /// Whether the server numbers anew, so that neither its identities nor its revisions mean what they did.
    var isForeign = false
    /// Whether it has told of a folder that was there before, and what is in it the tree does not know any more.
    var needsWholeState = false
    /// Which folders lie outside of the mirrored one.
    var outside: [ItemID: Bool] = [:]
    /// Items that a walk over the whole state has not shown, as they were.
    var swept: [(item: Item, path: RemotePath)] = []
    /// The paths of folders, relative to the mirror's root, as keys.
    private(set) var keys: [ItemID: PathKey] = [.root: .root]
    /// How many bytes the paths of folders have, in the mirror or out of it.
    private(set) var lengths: [ItemID: Int] = [.root: 0, .outside: 0]
    /// What the pages of the walk before this one have told.
    var record = FeedRecord()

    init(_ record: FeedRecord = FeedRecord()) { self.record = record }

    /// Forgets where folders lie, since one has moved.
    mutating func forgetPlaces() {
        outside = [:]
        forgetPaths()
    }

    /// Keeps the path of a folder; of many, not all.
    mutating func keep(_ key: PathKey, of folder: ItemID) {
        if keys.count >= Self.mostPaths { forgetPaths() }
        keys[folder] = key
    }

    /// Keeps the length of a folder's path; of many, not all.
    mutating func keep(length: Int, of folder: ItemID) {
        if lengths.count >= Self.mostPaths { forgetPaths() }
        lengths[folder] = length
    }

    /// Paths of folders in each other are long, so that those of a page without a bound would grow with its square.
    private static var mostPaths: Int { 4_096 }

    private mutating func forgetPaths() { (keys, lengths) = ([.root: .root], [.root: 0, .outside: 0]) }
}

/// What the pages of one walk have told so far, to notice a walk that has no end.
struct FeedRecord {
    var progress = FeedProgress()
    /// The items that were told of.
    var told = ItemNumbers()
    /// Folders of which only what is in them was told.
    var untoldFolders = 0
    /// Where the journal told of the last entry; each comes after the one before.
    var sequence: Int64 = 0

    /// Notes that an entry was told.
    mutating func note(_ item: ItemID) throws(RemoteError) {
        if !told.insert(item) { try progress.takeRepeat() }
    }
}

extension ItemID {
    /// What holds entries of the server that lie outside of the mirrored folder.
    static let outside = ItemID(-1)
}

extension Mirror {
    /// Reads the server's feed to its end, and carries out what it tells about contents on the way.
    func pull() async throws {
        let features = try await knownFeatures()
        if features.sync, let remote = remote as? any SyncRemote {
            try await pullJournal(remote)
        } else {
            try await pullDelta()
        }
        isFeedStale = false
    }

    /// What the server can do; asked once.
    func knownFeatures() async throws(RemoteError) -> RemoteFeatures {
        if let features { return features }
        var found = try await remote.features()
        if !configuration.usesExtension { found.sync = false }
        features = found
        return found
    }

    private func pullJournal(_ remote: any SyncRemote) async throws {
        try checkFeed("journal")
        var ahead: Task<SyncChanges, any Error>?
        var record = FeedRecord()
        do {
            while true {
                // A page that was asked for ahead comes although this task is cancelled.
                try Task.checkCancellation()
                let asked = try store.meta(.cursor)
                let changes = try await journalPage(remote, after: asked, ahead)
                ahead = nil
                // A cursor that the server has refused is forgotten, and the page begins at the beginning.
                let cursor = try store.meta(.cursor) == nil ? nil : asked
                try record.progress.take(
                    entries: changes.page.entries.count, isReset: changes.page.isReset, cursor: changes.page.cursor,
                    after: cursor, hasMore: changes.page.hasMore)
                guard cursor != nil || changes.page.isReset else {
                    throw RemoteError(.protocolViolation, "the server's journal begins without its beginning")
                }
                let walk = try take(changes, after: cursor, record)
                record = walk.record
                if walk.needsWholeState { continue }
                if !changes.page.hasMore {
                    _ = try await settleLandings()
                    return try await confirm(walk.swept)
                }
                if changes.page.entries.count >= 500 { ahead = journalAhead(remote, after: changes.page.cursor) }
                if try store.meta(.isSweepPending) == nil || changes.page.entries.count >= 500 {
                    try await receiveArrivals()
                }
            }
        } catch {
            ahead?.cancel()
            _ = try? await settleLandings()
            throw error
        }
    }

    /// Asks for a page while the one before it is carried out.
    private func journalAhead(_ remote: any SyncRemote, after cursor: String) -> Task<SyncChanges, any Error> {
        Task { try await remote.journal(after: cursor, limit: 2_000, contents: true, wait: .zero) }
    }

    private func journalPage(
        _ remote: any SyncRemote, after cursor: String?, _ ahead: Task<SyncChanges, any Error>?
    ) async throws -> SyncChanges {
        if let page = try? await ahead?.value { return page }
        return try await journalPage(remote, after: cursor)
    }

    private func journalPage(_ remote: any SyncRemote, after cursor: String?) async throws -> SyncChanges {
        do {
            return try await remote.journal(after: cursor, limit: 2_000, contents: true, wait: .zero)
        } catch {
            guard error.code == .staleCursor || error.code == .badCursor, cursor != nil else { throw error }
        }
        try store.setMeta(.cursor, nil)
        return try await remote.journal(after: nil, limit: 2_000, contents: true, wait: .zero)
    }

    /// Starts over when the feed so far was another server's, another folder's or of the other kind.
    func checkFeed(_ kind: String) throws {
        let identity = "\(kind) \(configuration.remoteRoot) \(configuration.serverIdentity)"
        guard try store.meta(.remoteIdentity) != identity else { return }
        try store.transaction(durably: false) {
            try store.setMeta(.remoteIdentity, identity)
            try store.setMeta(.cursor, nil)
        }
        if !configuration.remoteRoot.isRoot { try setRootNode(nil) }
    }

    /// Forgets what the server called its entries, all of them: it numbers anew.
    ///
    /// They are known again by their places.
    func forgetIdentities() throws {
        try forgetIdentities(below: .root)
        try forgetIdentities(below: .outside)
        if !configuration.remoteRoot.isRoot { try setRootNode(nil) }
    }

    private func forgetIdentities(below folder: ItemID) throws {
        try store.visitRemote(below: folder) { item in
            var item = item
            item.remote?.node = nil
            item.remote?.generation = 0
            item.lastNode = nil
            try store.save(item)
        }
    }

    /// The entry that the server had at a place before it numbered anew.
    func formerItem(at place: Place, isFolder: Bool) throws -> Item? {
        try store.children(of: place.parent, key: place.name.key, on: .remote).first {
            $0.remote?.node == nil && $0.isFolder == isFolder
        }
    }

    /// Begins or goes on with a walk over the server's whole state; nil when it tells changes only.
    func beginWalk(isReset: Bool) throws -> Int64? {
        var generation = try store.meta(.generation).flatMap { Int64($0) } ?? 0
        if isReset {
            generation += 1
            try store.setMeta(.generation, "\(generation)")
            try store.setMeta(.isSweepPending, "1")
        }
        return try store.meta(.isSweepPending) == nil ? nil : generation
    }

    /// Ends a walk.
    ///
    /// What one over the whole state has not shown is not there, though nobody deleted it: it is no base
    /// for anything any more, and what the disk has of it goes up again.
    func endWalk(_ walk: inout FeedWalk) throws {
        guard let generation = walk.generation else { return }
        for item in try store.unseen(before: generation, limit: Self.mostAsked + 1) where item.synced != nil {
            if let path = try? remotePath(of: item.id) { walk.swept.append((item, path)) }
        }
        while true {
            let unseen = try store.unseen(before: generation, limit: 1_000)
            if unseen.isEmpty { break }
            for var item in unseen {
                item.remote = nil
                item.synced = nil
                item.lastNode = nil
                try store.save(item)
            }
        }
        try store.setMeta(.isSweepPending, nil)
    }

    /// The most entries about which the server is asked one by one.
    private static var mostAsked: Int { 200 }

    /// Asks the server about synced entries that it did not show: those that it knows to have been deleted after they
    /// were synced are deletions like others.
    func confirm(_ swept: [(item: Item, path: RemotePath)]) async throws {
        if swept.count > Self.mostAsked { return }
        for (item, path) in swept {
            guard let synced = item.synced, let told = try await metadata(at: path), told.isDeleted,
                let revision = told.rev?.number, revision > synced.revision,
                var now = try store.item(item.id), now.remote == nil, now.synced == nil
            else { continue }
            now.synced = synced
            now.lastNode = item.remote?.node
            try store.save(now)
        }
    }

    /// What the server tells of a path; nil when it never was.
    func metadata(at path: RemotePath) async throws(RemoteError) -> Metadata? {
        do {
            return try await remote.metadata(at: path)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    /// Keeps what the server told of an entry.
    func keep(
        _ remote: RemoteState, as known: Item?, isOutside: Bool, isRefresh: Bool, _ walk: inout FeedWalk
    ) throws {
        var item: Item
        if let known, known.isFolder == remote.isFolder {
            item = known
        } else {
            if var old = known {
                old.remote = nil
                old.lastNode = nil
                try store.save(old)
            }
            item = try itemThatWasSent(remote) ?? Item(try store.newItem())
        }
        let hasMoved = item.remote?.place != remote.place
        let wasHidden = item.isExcluded
        if hasMoved { item = try rescoped(item, to: remote, isOutside: isOutside, &walk) }
        if isRefresh, let seen = item.synced, walk.isForeign || remote.revision < seen.revision,
            remote.hash != seen.hash
        {
            // The server has gone back in time: what was synced is no base for what it has now.
            item.synced = nil
        }
        try walk.record.note(item.id)
        item.remote = remote
        item.lastNode = remote.node
        if let sent = item.sent, sent == remote.hash, !remote.isFolder { item.recognizeSent(remote) }
        if let refused = refusals[item.id], refused > 0 { refusals[item.id] = nil }
        try store.save(item)
        if hasMoved, known != nil, item.isFolder, !item.isExcluded {
            try revisit(item, wasHidden: wasHidden, &walk)
        }
    }

    /// The new entry of ours that the server turns out to have taken, though its answer has not come, or never will.
    private func itemThatWasSent(_ remote: RemoteState) throws -> Item? {
        try store.children(of: remote.place.parent, key: remote.place.name.key, on: .local).first {
            guard $0.remote == nil, $0.isFolder == remote.isFolder else { return false }
            return remote.isFolder ? $0.synced == nil : remote.hash != nil && $0.sent == remote.hash
        }
    }

    /// Whether the rules or the selection keep out what is at a place on the server.
    func isExcluded(_ place: Place, _ isFolder: Bool, _ walk: inout FeedWalk) throws -> Bool {
        guard let folder = try key(of: place.parent, &walk) else { return true }
        let key = PathKey(folded: folder == .root ? "/" + place.name.key : folder.string + "/" + place.name.key)
        return scanner.rules.excludes(key, isFolder: isFolder)
    }

    /// The key of a folder's path as the server has it; nil when it is not in the mirrored folder.
    func key(of folder: ItemID, _ walk: inout FeedWalk) throws -> PathKey? {
        var below: [(folder: ItemID, name: String)] = []
        var next = folder
        while walk.keys[next] == nil {
            guard below.count < NameRules.maximumDepth, let place = try store.item(next)?.remote?.place else {
                return nil
            }
            below.append((next, place.name.key))
            next = place.parent
        }
        guard var key = walk.keys[next] else { return nil }
        for (folder, name) in below.reversed() {
            key = PathKey(folded: key == .root ? "/" + name : key.string + "/" + name)
            walk.keep(key, of: folder)
        }
        return key
    }
}

extension Item {
    /// Takes for synced what was sent and has come back, whatever happened to the file since.
    mutating func recognizeSent(_ remote: RemoteState) {
        guard let local else { return }
        let place = synced?.place ?? local.place
        var state = SyncedState(
            place: place, isFolder: false, hash: sent, size: remote.size, revision: remote.revision)
        if synced == nil { state.remoteName = place.name.unless(remote.place.name) }
        if let synced { state.remoteName = synced.remoteName }
        synced = state
        sent = nil
    }
}
