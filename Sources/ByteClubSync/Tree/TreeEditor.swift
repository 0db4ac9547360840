import ByteClubCore

/// The only writer of items: of both sides, and of the merge base (invariant I4).
///
/// One lives for one transaction, which ``TreeStore/edit(durably:_:)`` opens: it invalidates the known listings of
/// folders that the engine has changed, and checks at the end that each placed item is in a folder and in no cycle
/// (invariants I1 and I2). Each verb is named after an event on disk or on the server.
///
/// The verbs throw the store's errors; the transaction is rolled back then.
struct TreeEditor: ~Copyable {
    /// The store, for reading and for records beside the trees.
    let store: any TreeStore
    /// The items that got a location, to be checked at the end.
    private var placed: [(item: ItemID, side: Side)] = []

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

    /// Removes the merge base, so that an entry of one side alone is new there; returns whether there was one.
    mutating func forgetBase(_ id: ItemID) throws -> Bool { try change(id) { $0.setBase(nil) } }

    /// Links a new entry of the disk to an entry of the server: both become one item, with the contents of a folder.
    ///
    /// - Returns: Whether both were there; the known item's folder on disk is another one then.
    mutating func link(_ new: ItemID, into known: ItemID) throws -> Bool {
        guard var old = try store.item(new), var item = try store.item(known), let local = old.local else {
            return false
        }
        try moveContents(of: new, to: known, on: .local)
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

    /// Includes an item again that was excluded, without the contents of a folder.
    mutating func include(_ item: Item) throws {
        try save(item) { $0.isExcluded = false }
    }

    /// Marks all that the server has in a folder as being in the mirror or out of it.
    mutating func mark(below folder: ItemID, isOutside: Bool, isExcluded: Bool) throws {
        try store.visitRemote(below: folder) { child in
            try save(child) { ($0.isOutside, $0.isExcluded) = (isOutside, isExcluded) }
        }
    }

    // MARK: Scans of the disk

    /// A scan has found an entry that is not in the tree.
    ///
    /// - Throws: ``SyncError`` when its folder is not in the tree. A new item has no children, so it closes no cycle.
    mutating func found(_ id: ItemID, _ local: LocalState) throws {
        let parent = local.location.parent
        guard try parent == .root || store.item(parent)?.isFolder == true else {
            throw SyncError(.database, "the mirror's tree of the disk has an entry that is in no folder")
        }
        try store.save(Item(id, local: local))
    }

    /// A scan has found the entry of an item, where it was or elsewhere; returns the item as it is now.
    mutating func observeLocal(_ known: Item, as local: LocalState, isFrozen: Bool) throws -> Item {
        var item = known
        item.local = local
        item.isFrozen = isFrozen
        if local.location != known.local?.location {
            try save(item, placedOn: .local)
        } else if item != known {
            try store.save(item)
        }
        return item
    }

    /// Freezes an item that cannot be read, named or scanned now, or thaws it; returns the item as it is now.
    mutating func setFrozen(_ item: Item, _ isFrozen: Bool) throws -> Item {
        try save(item) { $0.isFrozen = isFrozen }
    }

    /// A scan has found a vanished entry that it first recorded as a new one: the old item gets the new one's state and
    /// contents.
    mutating func relocated(_ id: ItemID, to new: ItemID, as local: LocalState) throws {
        guard var item = try store.item(id), var other = try store.item(new) else { return }
        if local.isFolder {
            try moveContents(of: new, to: id, on: .local)
            try invalidate(id)
        }
        // A known listing names the items in its folder.
        try invalidate(local.location.parent)
        other.local = nil
        try store.save(other)
        item.local = local
        item.isFrozen = false
        try save(item, placedOn: .local)
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
        let isNew = item.synced == nil
        item.setContentBase(at: install.location, hash: install.hash, size: size, revision: install.revision)
        try save(item, placedOn: .local)
        try invalidate(install.location.parent)
        return isNew
    }

    /// A folder of the server was created on disk.
    mutating func madeFolder(_ id: ItemID, at location: Location, _ stat: FileStat) throws {
        try invalidate(location.parent)
        // A listing that is known of a former folder does not hold for this one.
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

    /// An entry was removed from the disk with all its contents; returns how many entries that were.
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

    // MARK: What the feed lists

    /// A content is about to be sent: its hash is recorded, so that it is recognised when the server shows it.
    mutating func sending(_ write: OutgoingWrite) throws {
        _ = try change(write.item) { item in
            item.sent = write.hash
            if let local = write.local { item.local = local }
        }
    }

    /// The server shows an entry, new or changed, at a location in a known folder.
    ///
    /// In a rollback, the server was restored to an earlier state, for which the last synced state is no merge base.
    mutating func observeRemote(_ item: inout Item, as reported: RemoteState, isRollback: Bool) throws {
        if isRollback { item.setBase(nil) }
        item.remote = reported
        item.lastNode = reported.node
        if let sent = item.sent, sent == reported.hash, !reported.isFolder, let local = item.local {
            // It is our content, whatever happened to the file since.
            item.setContentBase(at: local.location, hash: sent, size: reported.size, revision: reported.revision)
        }
        if try item != store.item(item.id) { try save(item, placedOn: .remote) }
    }

    /// The feed lists the deletion of an entry, by which the server could undelete it.
    mutating func deletedRemotely(_ item: Item, node: EntryID?) throws {
        try save(item) { ($0.remote, $0.lastNode) = (nil, node) }
    }

    /// The server has lost an entry with its contents; returns their former items, inner ones first.
    @discardableResult
    mutating func forgetRemote(_ item: Item) throws -> [Item] {
        var ids = [item.id]
        try store.visitRemote(below: item.id) { ids.append($0.id) }
        var forgotten: [Item] = []
        for id in ids.reversed() {
            guard var gone = try store.item(id), gone.remote != nil else { continue }
            forgotten.append(gone)
            gone.remote = nil
            try store.save(gone)
        }
        return forgotten
    }

    /// The server's entry belongs to another item from now on, or to none.
    mutating func detach(_ item: Item) throws { try deletedRemotely(item, node: nil) }

    /// A new entry of the server, with its contents, is the one that an item had elsewhere before.
    mutating func linkRemote(_ new: Item, into known: ItemID) throws {
        guard var item = try store.item(known) else { return }
        if new.isFolder { try moveContents(of: new.id, to: known, on: .remote) }
        try detach(new)
        item.remote = new.remote
        try save(item, placedOn: .remote)
    }

    /// An entry has left the mirror, with all that is in it: it is deleted for the mirror, though the server still has
    /// it.
    ///
    /// - Returns: The excluded item that has the entry from now on.
    mutating func leaveScope(_ item: Item) throws -> Item {
        let twin = try excludedTwin(of: item)
        try save(twin, placedOn: .remote)
        var folders = [(from: item.id, to: twin.id)]
        while let (from, to) = folders.popLast() {
            for child in try store.children(of: from, on: .remote) {
                var moved = child
                if !child.isExcluded {
                    moved = try excludedTwin(of: child)
                    if child.isFolder { folders.append((child.id, moved.id)) }
                }
                moved.remote?.location.parent = to
                try save(moved, placedOn: .remote)
            }
        }
        return twin
    }

    private mutating func excludedTwin(of item: Item) throws -> Item {
        var twin = Item(try store.newItem(), remote: item.remote)
        (twin.lastNode, twin.isExcluded) = (item.remote?.node, true)
        try detach(item)
        return twin
    }

    /// A folder of the server has become the mirrored one: its contents are in the root.
    mutating func enterRoot(_ folder: Item) throws {
        for var child in try store.children(of: folder.id, on: .remote) {
            child.remote?.location.parent = .root
            (child.isOutside, child.isExcluded) = (false, false)
            try save(child, placedOn: .remote)
            try mark(below: child.id, isOutside: false, isExcluded: false)
        }
        try detach(folder)
    }

    /// The server's numbering has restarted: the known identities mean nothing to it.
    mutating func forgetNodes() throws {
        for top in [ItemID.root, .outside] {
            try store.visitRemote(below: top) { item in
                var item = item
                item.remote?.node = nil
                item.remote?.generation = 0
                item.lastNode = nil
                try store.save(item)
            }
        }
    }

    // MARK: What the server answers

    /// The server has answered with the state of an entry that has not moved.
    mutating func confirmRemote(_ item: Item, as reported: RemoteState) throws {
        try save(item) { $0.remote = reported }
    }

    /// The hash of a content that the server reports without one; returns whether it is news.
    mutating func learnRemoteHash(_ id: ItemID, _ hash: ContentHash) throws -> Bool {
        try change(id) { $0.remote?.hash = hash }
    }

    /// A folder was moved on the server by its path: its contents may have been changed at the old path just before.
    mutating func markUnverified(below folder: ItemID) throws {
        try store.visitRemote(below: folder) { child in
            var child = child
            child.remote?.revision = nil
            child.remote?.isUnverified = true
            try store.save(child)
        }
    }

    /// The server does not undelete an entry: it will be created as a new one.
    mutating func forgetLastNode(_ id: ItemID) throws {
        _ = try change(id) { if $0.remote == nil { $0.lastNode = nil } }
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

    /// An entry that a pass did not show was deleted after all: restores its merge base.
    mutating func deletedAfterAll(_ id: ItemID, base: SyncedState, node: EntryID?) throws {
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
    private mutating func change(_ id: ItemID, _ change: (inout Item) -> Void) throws -> Bool {
        guard let known = try store.item(id) else { return false }
        var item = known
        change(&item)
        if item == known { return false }
        try store.save(item)
        return true
    }

    /// Moves what a side has in one folder into another.
    private mutating func moveContents(of folder: ItemID, to other: ItemID, on side: Side) throws {
        for var child in try store.children(of: folder, on: side) {
            switch side {
            case .local: child.local?.location.parent = other
            case .remote: child.remote?.location.parent = other
            }
            try save(child, placedOn: side)
        }
    }

    /// Changes and saves an item; returns it as it is now.
    @discardableResult
    private func save(_ item: Item, _ change: (inout Item) -> Void) throws -> Item {
        var item = item
        change(&item)
        try store.save(item)
        return item
    }

    private mutating func save(_ item: Item, placedOn side: Side) throws {
        placed.append((item.id, side))
        try store.save(item)
    }

    /// Checks that each placed item is in a folder of its side, and in no cycle.
    ///
    /// - Throws: ``RemoteError`` with the code `protocolViolation` for an item of the server, ``SyncError`` with the
    ///   code `database` for one of the disk.
    fileprivate consuming func commit() throws {
        for (id, side) in placed {
            guard let fault = try Self.fault(of: id, on: side, in: store) else { continue }
            switch side {
            case .remote: throw RemoteError(.protocolViolation, "the server lists an entry that \(fault)")
            case .local: throw SyncError(.database, "the mirror's tree of the disk has an entry that \(fault)")
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
    /// - Throws: The errors of the body, the store and the checks; nothing is changed then.
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
    /// Sets the merge base to a content that both sides have, at the place of the former one if there is one.
    fileprivate mutating func setContentBase(
        at location: Location, hash: ContentHash?, size: Int64, revision: Revision?
    ) {
        setBase(
            SyncedState(
                location: synced?.location ?? location,
                remoteName: synced.map { $0.remoteName } ?? remote.flatMap { location.name.unless($0.location.name) },
                isFolder: false, hash: hash, size: size, revision: revision,
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
