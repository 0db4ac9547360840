import ByteClubCore

/// The only writer of merge bases, with the verbs that change an item's states.
///
/// One lives for one transaction, which ``TreeStore/edit(durably:_:)`` opens: it invalidates the known listings of
/// folders that the engine has changed, and checks at the end that each placed item is in a folder and in no cycle
/// (invariants I1 and I2). The merge base (I4) changes by its verbs alone.
///
/// The verbs throw the store's errors; the transaction is rolled back then.
struct TreeEditor: ~Copyable {
    /// The store, for reading and for what is kept beside the trees.
    let store: any TreeStore
    private var placed: [Side: Set<ItemID>] = [.local: [], .remote: []]

    fileprivate init(_ store: any TreeStore) { self.store = store }

    // MARK: Both sides

    /// Sets the merge base to what both sides show; returns whether that changed anything.
    mutating func markSynced(_ id: ItemID) throws -> Bool {
        try change(id) { item in
            guard let local = item.local, let remote = item.remote, local.isFolder == remote.isFolder,
                !remote.isUnverified
            else { return }
            if !local.isFolder, local.hash == nil || remote.hash.map({ $0 != local.hash }) ?? false { return }
            item.setBase(
                SyncedState(
                    location: local.location, remoteName: local.location.name.unless(remote.location.name),
                    isFolder: local.isFolder, hash: local.hash, size: local.size, revision: remote.revision,
                    isExecutable: item.agreedExecutable(local, remote)))
            if remote.hash == nil { item.remote?.hash = local.hash }
            item.local?.isLeftover = false
            item.sent = nil
        }
    }

    /// Removes the merge base, so that what is left on one side is new there; returns whether there was one.
    mutating func forgetBase(_ id: ItemID) throws -> Bool { try change(id) { $0.setBase(nil) } }

    /// Links a new entry of the disk to an entry of the server: both become one item, with the contents of a folder.
    ///
    /// - Returns: Whether both were there; the known item's folder on disk is another one then.
    mutating func link(_ new: ItemID, into known: ItemID) throws -> Bool {
        guard var old = try store.item(new), var item = try store.item(known), let local = old.local else {
            return false
        }
        for var child in try store.children(of: new, on: .local) {
            child.local?.location.parent = known
            try store.save(child)
        }
        old.local = nil
        old.setBase(nil)
        try store.save(old)
        item.local = local
        item.local?.isLeftover = false
        item.setBase(nil)
        try save(item, placedOn: .local)
        // A folder's fingerprint names the items in it.
        try invalidate(local.location.parent)
        try invalidate(known)
        return true
    }

    /// Excludes an item, with all that is in it: it is neither present nor deleted.
    mutating func exclude(_ id: ItemID) throws {
        guard var item = try store.item(id) else { return }
        if item.isFolder {
            for side in [Side.local, .remote] {
                for inner in try store.children(of: id, on: side) { try exclude(inner.id) }
            }
            try invalidate(id)
        }
        item.local = nil
        item.setBase(nil)
        (item.isExcluded, item.isFrozen) = (true, false)
        try store.save(item)
    }

    // MARK: The disk

    /// A content was installed on disk.
    ///
    /// - Returns: Whether the entry is new in the mirror.
    @discardableResult
    mutating func installed(_ install: PendingInstall, _ stat: FileStat, size: Int64) throws -> Bool {
        // An entry that the server has deleted meanwhile is on disk now, and will be deleted.
        var item = try store.item(install.item) ?? Item(install.item)
        item.local = LocalState(
            location: install.location, isFolder: false, hash: install.hash, size: size, stat: stat)
        if item.remote?.revision == install.revision { item.remote?.hash = install.hash }
        let known = item.synced
        item.setBase(
            SyncedState(
                location: known?.location ?? install.location,
                remoteName: known.map { $0.remoteName }
                    ?? item.remote.flatMap { install.location.name.unless($0.location.name) },
                isFolder: false, hash: install.hash, size: size, revision: install.revision,
                isExecutable: item.agreedExecutable(item.local, item.remote)))
        item.sent = nil
        try save(item, placedOn: .local)
        try invalidate(install.location.parent)
        return known == nil
    }

    /// A folder of the server was created on disk.
    mutating func madeFolder(_ id: ItemID, at location: Location, _ stat: FileStat) throws {
        try invalidate(location.parent)
        // What is known of a folder that was there before does not hold for this one.
        try invalidate(id)
        guard var item = try store.item(id), let remote = item.remote else { return }
        item.local = LocalState(location: location, isFolder: true, stat: stat)
        item.setBase(
            SyncedState(
                location: location, remoteName: location.name.unless(remote.location.name), isFolder: true,
                revision: remote.revision))
        try save(item, placedOn: .local)
    }

    /// An entry was renamed or moved on disk; the merge base follows when the server has it there.
    mutating func moved(_ id: ItemID, to location: Location, _ stat: FileStat) throws {
        guard var item = try store.item(id), var local = item.local else { return }
        try invalidate(local.location.parent)
        try invalidate(location.parent)
        local.location = location
        let isSame = local.stat.map { $0.fingerprint.isSameContent(as: stat.fingerprint) } ?? false
        if !local.isFolder, !isSame || stat.isRacy && local.stat?.isRacy == true { local.hash = nil }
        local.stat = stat
        item.local = local
        if let remote = item.remote, var base = item.synced, remote.location.isSameKey(as: location) {
            base.location = location
            base.remoteName = location.name.unless(remote.location.name)
            item.setBase(base)
        }
        try save(item, placedOn: .local)
    }

    /// An entry is gone from the disk, with all that was in it; returns how many these were.
    mutating func lost(_ id: ItemID) throws -> Int {
        guard var item = try store.item(id), item.local != nil else { return 0 }
        var count = 1
        if item.isFolder {
            for inner in try store.children(of: id, on: .local) { count += try lost(inner.id) }
            try invalidate(id)
        }
        item.local = nil
        item.isFrozen = false
        try store.save(item)
        return count
    }

    /// An entry was moved to the trash, since the server has deleted it.
    mutating func trashed(_ id: ItemID) throws {
        guard var item = try store.item(id) else { return }
        if let parent = item.local?.location.parent { try invalidate(parent) }
        item.local = nil
        item.setBase(nil)
        try store.save(item)
    }

    /// A folder that is deleted on the server stays on disk because of unsynced entries in it.
    mutating func leftOver(_ id: ItemID) throws {
        guard var item = try store.item(id) else { return }
        item.local?.isLeftover = true
        item.setBase(nil)
        try store.save(item)
    }

    /// The disk's file was renamed to a conflict copy: it is an entry of its own now, and the item is the server's
    /// alone.
    mutating func split(_ item: Item, _ local: LocalState, to name: EntryName, _ stat: FileStat) throws {
        try invalidate(local.location.parent)
        var (old, kept) = (item, Item(try store.newItem()))
        kept.local = local
        kept.local?.location = Location(local.location.parent, name)
        kept.local?.stat = stat
        if local.stat.map({ !$0.fingerprint.isSameContent(as: stat.fingerprint) }) ?? true { kept.local?.hash = nil }
        old.local = nil
        old.setBase(nil)
        old.sent = nil
        try store.save(old)
        try save(kept, placedOn: .local)
    }

    /// A file on disk was read: its hash, and its stat, which was the same before and after.
    mutating func read(_ id: ItemID, _ hash: ContentHash, _ stat: FileStat) throws {
        _ = try change(id) { item in
            item.local?.hash = hash
            item.local?.size = stat.fingerprint.size
            item.local?.stat = stat
        }
    }

    // MARK: The server

    /// A content is about to be sent: its hash is recorded, so that it is recognised when the server shows it.
    mutating func sending(_ write: OutgoingWrite) throws {
        _ = try change(write.item) { item in
            item.sent = write.hash
            if let local = write.local { item.local = local }
        }
    }

    /// The server shows an entry, new or changed, at a location in a known folder.
    ///
    /// In a rollback, the server was restored to an earlier state, and what was synced is no merge base for it.
    mutating func observeRemote(_ item: inout Item, as reported: RemoteState, isRollback: Bool) throws {
        if isRollback { item.setBase(nil) }
        item.remote = reported
        item.lastNode = reported.node
        if let sent = item.sent, sent == reported.hash, !reported.isFolder { item.recognizeSent(reported) }
        if try item != store.item(item.id) { try save(item, placedOn: .remote) }
    }

    /// The server has accepted a write; `reported` is the entry's remote state now.
    mutating func written(_ item: Item, _ write: OutgoingWrite, _ reported: RemoteState, newer: RemoteState? = nil)
        throws
    {
        var item = item
        item.record(write, reported)
        if let newer { item.remote = newer }
        try save(item, placedOn: .remote)
    }

    /// The server has deleted an entry with all that was in it, on our request.
    ///
    /// - Returns: Which entries that were.
    mutating func tombstoned(_ item: Item) throws -> [ItemID] {
        var gone = [item.id]
        for child in try store.children(of: item.id, on: .remote) { gone += try tombstoned(child) }
        var item = item
        item.lastNode = item.remote?.node
        item.remote = nil
        if item.local == nil { item.setBase(nil) }
        try store.save(item)
        return gone
    }

    /// The server does not have an entry, though it was not deleted: the merge base is dropped, and the disk's entry is
    /// new (invariant I9).
    mutating func unseen(_ item: Item) throws {
        var item = item
        item.remote = nil
        item.setBase(nil)
        item.lastNode = nil
        try store.save(item)
    }

    /// An entry that was taken for unseen was deleted after all: restores its merge base.
    mutating func deletedAfterAll(_ id: ItemID, base: SyncedState, node: NodeID?) throws {
        _ = try change(id) { item in
            guard item.remote == nil, item.synced == nil else { return }
            item.setBase(base)
            item.lastNode = node
        }
    }

    // MARK: Parts

    /// Invalidates a folder's known listing: the next scan lists it, even if its fingerprint looks unchanged.
    mutating func invalidate(_ folder: ItemID) throws { try store.setListing(nil, of: folder) }

    /// Changes an item; returns whether that made a difference.
    mutating func change(_ id: ItemID, _ change: (inout Item) -> Void) throws -> Bool {
        guard let known = try store.item(id) else { return false }
        var item = known
        change(&item)
        if item == known { return false }
        try store.save(item)
        return true
    }

    private mutating func save(_ item: Item, placedOn side: Side) throws {
        placed[side, default: []].insert(item.id)
        try store.save(item)
    }

    /// Checks that each placed item is in a folder of its side, and in no cycle.
    ///
    /// - Throws: ``RemoteError`` with the code `protocolViolation` for an item of the server; for one of the disk,
    ///   which is our own fault, it is a precondition failure.
    fileprivate consuming func commit() throws {
        for (side, items) in placed {
            for id in items {
                guard let fault = try Self.fault(of: id, on: side, in: store) else { continue }
                precondition(side == .remote, "\(id) \(fault) on disk")
                throw RemoteError(.protocolViolation, "the server lists an entry that \(fault)")
            }
        }
    }

    private static func fault(of id: ItemID, on side: Side, in store: any TreeStore) throws -> String? {
        guard let location = try store.item(id)?.location(on: side) else { return nil }
        var next = location.parent
        if next == .root || next == .outside { return nil }
        guard let parent = try store.item(next), parent.isFolder else { return "is in no folder" }
        for _ in 0..<NameRules.maximumDepth {
            if next == id { return "is inside itself" }
            guard next != .root, next != .outside, let above = try store.item(next)?.location(on: side) else {
                return nil
            }
            next = above.parent
        }
        return "is inside its own subfolder"
    }
}

extension TreeStore {
    /// Changes the trees as one transaction; `durably` returns only when it is on disk.
    ///
    /// - Throws: What the body throws, the store's errors, and those of the checks; nothing is changed then.
    func edit<Result>(durably: Bool, _ body: (inout TreeEditor) throws -> Result) throws -> Result {
        try transaction(durably: durably) {
            var editor = TreeEditor(self)
            let result = try body(&editor)
            try editor.commit()
            return result
        }
    }

    /// Changes the trees within a transaction that is open.
    func editing<Result>(_ body: (inout TreeEditor) throws -> Result) throws -> Result {
        var editor = TreeEditor(self)
        let result = try body(&editor)
        try editor.commit()
        return result
    }
}

extension Item {
    /// Sets the merge base to a content of ours that the server shows, whatever happened to the file since.
    fileprivate mutating func recognizeSent(_ remote: RemoteState) {
        guard let local else { return }
        let location = synced?.location ?? local.location
        setBase(
            SyncedState(
                location: location,
                remoteName: synced.map { $0.remoteName } ?? location.name.unless(remote.location.name),
                isFolder: false, hash: sent, size: remote.size, revision: remote.revision,
                isExecutable: agreedExecutable(local, remote)))
        sent = nil
    }

    /// Applies an accepted write to the item.
    fileprivate mutating func record(_ write: OutgoingWrite, _ reported: RemoteState) {
        remote = reported
        lastNode = reported.node
        if let hash = write.hash {
            remote?.hash = hash
            sent = nil
        }
        setBase(write.base(of: self, reported))
    }
}

extension EntryName {
    /// The server's spelling of this name when it differs; nil when it is the same, or another name altogether.
    func unless(_ remote: EntryName) -> EntryName? { self == remote || key != remote.key ? nil : remote }
}
