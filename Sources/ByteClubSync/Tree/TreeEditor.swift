import ByteClubCore

/// The only hand that changes what both sides had in common, and the verbs by which work changes an item's sides.
///
/// One lives for one transaction, which ``TreeStore/edit(durably:_:)`` opens: it makes the listing fingerprints of
/// folders unknown that the engine has changed something in, and checks at the end that what was placed lies in a folder
/// and in no circle (invariants I1 and I2). The merge base (I4) changes by its verbs alone.
struct TreeEditor: ~Copyable {
    /// The store, for reading and for what is kept beside the trees.
    let store: any TreeStore
    private var placed: [Side: Set<ItemID>] = [.local: [], .remote: []]

    fileprivate init(_ store: any TreeStore) { self.store = store }

    // MARK: Both sides

    /// Remembers what both sides show as synced; tells whether that is news.
    mutating func markSynced(_ id: ItemID) throws -> Bool {
        try change(id) { item in
            guard let local = item.local, let remote = item.remote, local.isFolder == remote.isFolder,
                !remote.isDoubtful
            else { return }
            if !local.isFolder, local.hash == nil || remote.hash.map({ $0 != local.hash }) ?? false { return }
            item.setBase(
                SyncedState(
                    place: local.place, remoteName: local.place.name.unless(remote.place.name),
                    isFolder: local.isFolder, hash: local.hash, size: local.size, revision: remote.revision))
            if remote.hash == nil { item.remote?.hash = local.hash }
            item.local?.isLeftover = false
            item.sent = nil
        }
    }

    /// Forgets what both sides had in common, so that what is left on one side is new there; tells whether there was any.
    mutating func forgetBase(_ id: ItemID) throws -> Bool { try change(id) { $0.setBase(nil) } }

    /// Makes a new entry of the disk one with an entry that the server has, with what is in it.
    ///
    /// - Returns: Whether both were there; the known item's folder on disk is another one then.
    mutating func link(_ new: ItemID, into known: ItemID) throws -> Bool {
        guard var old = try store.item(new), var item = try store.item(known), let local = old.local else {
            return false
        }
        for var child in try store.children(of: new, on: .local) {
            child.local?.place.parent = known
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
        try invalidate(local.place.parent)
        try invalidate(known)
        return true
    }

    /// Leaves an item out from now on, with all that is in it: it is neither there nor deleted.
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

    /// Content has come into its place on disk, over what it replaces.
    mutating func installed(_ install: PendingInstall, _ look: DiskLook, size: Int64) throws {
        // What the server has deleted meanwhile is there now, to be deleted.
        var item = try store.item(install.item) ?? Item(install.item)
        item.local = LocalState(
            place: install.place, isFolder: false, hash: install.hash, size: size, look: look)
        if item.remote?.revision == install.revision { item.remote?.hash = install.hash }
        let known = item.synced
        item.setBase(
            SyncedState(
                place: known?.place ?? install.place,
                remoteName: known.map { $0.remoteName }
                    ?? item.remote.flatMap { install.place.name.unless($0.place.name) },
                isFolder: false, hash: install.hash, size: size, revision: install.revision))
        item.sent = nil
        try save(item, placedOn: .local)
        try invalidate(install.place.parent)
    }

    /// The folder that the server shows was made on disk.
    mutating func madeFolder(_ id: ItemID, at place: Place, _ look: DiskLook) throws {
        try invalidate(place.parent)
        guard var item = try store.item(id), let remote = item.remote else { return }
        item.local = LocalState(place: place, isFolder: true, look: look)
        item.setBase(
            SyncedState(
                place: place, remoteName: place.name.unless(remote.place.name), isFolder: true,
                revision: remote.revision))
        try save(item, placedOn: .local)
    }

    /// An entry was renamed or moved on disk; both sides agree about its place when the server has it there.
    mutating func moved(_ id: ItemID, to place: Place, _ look: DiskLook) throws {
        guard var item = try store.item(id), var local = item.local else { return }
        try invalidate(local.place.parent)
        try invalidate(place.parent)
        local.place = place
        let isSame = local.look.map { $0.fingerprint.isSameContent(as: look.fingerprint) } ?? false
        if !local.isFolder, !isSame || look.isRacy && local.look?.isRacy == true { local.hash = nil }
        local.look = look
        item.local = local
        if let remote = item.remote, var base = item.synced, remote.place.isSameKey(as: place) {
            base.place = place
            base.remoteName = place.name.unless(remote.place.name)
            item.setBase(base)
        }
        try save(item, placedOn: .local)
    }

    /// An entry was put into the trash, since the server has deleted it.
    mutating func trashed(_ id: ItemID) throws {
        guard var item = try store.item(id) else { return }
        if let parent = item.local?.place.parent { try invalidate(parent) }
        item.local = nil
        item.setBase(nil)
        try store.save(item)
    }

    /// A folder that is gone on the server stays on disk for what is in it and never synced.
    mutating func leftOver(_ id: ItemID) throws {
        guard var item = try store.item(id) else { return }
        item.local?.isLeftover = true
        item.setBase(nil)
        try store.save(item)
    }

    /// The disk's content was given a conflict name: it is an entry of its own now, and the item is the server's alone.
    mutating func split(_ item: Item, _ local: LocalState, to name: EntryName, _ look: DiskLook) throws {
        try invalidate(local.place.parent)
        var (old, kept) = (item, Item(try store.newItem()))
        kept.local = local
        kept.local?.place = Place(local.place.parent, name)
        kept.local?.look = look
        if local.look.map({ !$0.fingerprint.isSameContent(as: look.fingerprint) }) ?? true { kept.local?.hash = nil }
        old.local = nil
        old.setBase(nil)
        old.sent = nil
        try store.save(old)
        try save(kept, placedOn: .local)
    }

    /// A file of the disk was read: its content's hash, and how it looked before and after.
    mutating func read(_ id: ItemID, _ hash: ContentHash, _ look: DiskLook) throws {
        _ = try change(id) { item in
            item.local?.hash = hash
            item.local?.size = look.fingerprint.size
            item.local?.look = look
        }
    }

    // MARK: The server

    /// A content is about to be sent: when the server shows it, it was ours.
    mutating func sending(_ write: OutgoingWrite) throws {
        _ = try change(write.item) { item in
            item.sent = write.hash
            if let local = write.local { item.local = local }
        }
    }

    /// The server shows an entry, new or changed, at a place in a folder that the tree has.
    ///
    /// In a rollback, the server has gone back in time, and what was synced is no base for what it has now.
    mutating func observeRemote(_ item: inout Item, as told: RemoteState, isRollback: Bool) throws {
        if isRollback { item.setBase(nil) }
        item.remote = told
        item.lastNode = told.node
        if let sent = item.sent, sent == told.hash, !told.isFolder { item.recognizeSent(told) }
        if try item != store.item(item.id) { try save(item, placedOn: .remote) }
    }

    /// The server has taken a write; `told` is what it shows of the entry now.
    mutating func written(_ item: Item, _ write: OutgoingWrite, _ told: RemoteState, newer: RemoteState? = nil) throws {
        var item = item
        item.record(write, told)
        if let newer { item.remote = newer }
        try save(item, placedOn: .remote)
    }

    /// The server has deleted an entry with all that was in it, as it was asked to.
    ///
    /// - Returns: How many entries that were.
    mutating func tombstoned(_ item: Item) throws -> Int {
        var count = 1
        for child in try store.children(of: item.id, on: .remote) { count += try tombstoned(child) }
        var item = item
        item.lastNode = item.remote?.node
        item.remote = nil
        if item.local == nil { item.setBase(nil) }
        try store.save(item)
        return count
    }

    /// The server does not have an entry, though nobody deleted it: it is no base for anything, and what the disk has of
    /// it is new.
    mutating func unseen(_ item: Item) throws {
        var item = item
        item.remote = nil
        item.setBase(nil)
        item.lastNode = nil
        try store.save(item)
    }

    /// An entry that was taken for unseen turns out to have been deleted: what was synced is a base again.
    mutating func deletedAfterAll(_ id: ItemID, base: SyncedState, node: NodeID?) throws {
        _ = try change(id) { item in
            guard item.remote == nil, item.synced == nil else { return }
            item.setBase(base)
            item.lastNode = node
        }
    }

    // MARK: Parts

    /// Makes a folder's listing fingerprint unknown: it may come to look as before, and be another one than the tree says.
    mutating func invalidate(_ folder: ItemID) throws { try store.setSeal(nil, of: folder) }

    /// Changes an item; tells whether that made a difference.
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

    /// Checks what was placed: it lies in a folder of its side, and in no circle.
    ///
    /// - Throws: ``RemoteError`` with the code `protocolViolation` for what the server has told; a fault of ours stops
    ///   the process before it is kept.
    fileprivate consuming func commit() throws {
        for (side, items) in placed {
            for id in items {
                guard let fault = try Self.fault(of: id, on: side, in: store) else { continue }
                precondition(side == .remote, "\(id) \(fault) on disk")
                throw RemoteError(.protocolViolation, "the server tells of an entry that \(fault)")
            }
        }
    }

    private static func fault(of id: ItemID, on side: Side, in store: any TreeStore) throws -> String? {
        guard let place = try store.item(id)?.place(on: side) else { return nil }
        var next = place.parent
        if next == .root || next == .outside { return nil }
        guard let parent = try store.item(next), parent.isFolder else { return "lies in no folder" }
        for _ in 0..<NameRules.maximumDepth {
            if next == id { return "lies in itself" }
            guard next != .root, next != .outside, let above = try store.item(next)?.place(on: side) else { return nil }
            next = above.parent
        }
        return "lies in a circle"
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
    /// Takes for synced what was sent and has come back, whatever happened to the file since.
    fileprivate mutating func recognizeSent(_ remote: RemoteState) {
        guard let local else { return }
        let place = synced?.place ?? local.place
        setBase(
            SyncedState(
                place: place, remoteName: synced.map { $0.remoteName } ?? place.name.unless(remote.place.name),
                isFolder: false, hash: sent, size: remote.size, revision: remote.revision))
        sent = nil
    }

    /// Keeps what a write that the server has taken makes of the item.
    fileprivate mutating func record(_ write: OutgoingWrite, _ told: RemoteState) {
        remote = told
        lastNode = told.node
        switch write.effect {
        case .delete: break
        case .folder:
            guard let place = write.local?.place else { return }
            setBase(
                SyncedState(
                    place: place, remoteName: place.name.unless(told.place.name), isFolder: true,
                    revision: told.revision))
        case .content(let hash, let size):
            remote?.hash = hash
            sent = nil
            guard let place = synced?.place ?? write.local?.place else { return }
            setBase(
                SyncedState(
                    place: place,
                    remoteName: synced.map { $0.remoteName } ?? place.name.unless(told.place.name),
                    isFolder: false, hash: hash, size: size, revision: told.revision))
        case .move(let place):
            guard var base = synced else { return }
            // Without identities, a move makes a revision of its own.
            if told.node == nil, !isFolder { base.revision = told.revision }
            if let local, local.place.isSameKey(as: place) {
                base.place = local.place
                base.remoteName = local.place.name.unless(told.place.name)
            }
            setBase(base)
        }
    }
}

extension EntryName {
    /// The server's spelling of this name, unless it is the same; another name altogether is none.
    func unless(_ remote: EntryName) -> EntryName? { self == remote || key != remote.key ? nil : remote }
}
