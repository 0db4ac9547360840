import ByteClubCore

/// The server's side of the trees: how what its feed tells is kept there, whichever protocol tells it.
final class RemoteTree {
    /// The most entries about which the server is asked one by one.
    private static let mostAsked = 200

    let context: SyncContext
    let remote: any Remote
    private let scanner: Scanner
    /// Items that were refused lately: news of them ends their wait.
    var refused: Set<ItemID> = []

    private var store: any TreeStore { context.store }
    private var configuration: SyncConfiguration { context.configuration }

    init(_ context: SyncContext, _ remote: any Remote, _ scanner: Scanner) {
        self.context = context
        self.remote = remote
        self.scanner = scanner
    }

    // MARK: Walks

    /// Starts over when the feed so far was another server's, another folder's or of the other kind.
    ///
    /// - Returns: Whether it was.
    func checkFeed(_ kind: String) throws -> Bool {
        let identity = "\(kind) \(configuration.remoteRoot) \(configuration.serverIdentity)"
        guard try store.meta(.remoteIdentity) != identity else { return false }
        try store.transaction(durably: false) {
            try store.setMeta(.remoteIdentity, identity)
            try store.setMeta(.cursor, nil)
        }
        return true
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
    func endWalk(_ walk: inout FeedWalk, _ editor: inout TreeEditor, _ report: inout SyncReport) throws {
        guard let generation = walk.generation else { return }
        for item in try store.unseen(before: generation, limit: Self.mostAsked + 1) where item.synced != nil {
            if let path = try? path(of: item.id, &report) { walk.swept.append((item, path)) }
        }
        while true {
            let unseen = try store.unseen(before: generation, limit: 1_000)
            if unseen.isEmpty { break }
            for item in unseen { try editor.unseen(item) }
        }
        try store.setMeta(.isSweepPending, nil)
    }

    /// Asks the server about synced entries that it did not show: those that it knows to have been deleted after they
    /// were synced are deletions like others.
    func confirm(_ swept: [(item: Item, path: RemotePath)]) async throws {
        if swept.count > Self.mostAsked { return }
        for (item, path) in swept {
            guard let base = item.synced, let told = try await metadata(at: path), told.isDeleted,
                let revision = told.rev?.number, revision > base.revision
            else { continue }
            try store.edit(durably: false) { editor in
                try editor.deletedAfterAll(item.id, base: base, node: item.remote?.node)
            }
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

    // MARK: Entries

    /// Keeps what the server told of an entry.
    func keep(
        _ told: RemoteState, as known: Item?, isOutside: Bool, isRefresh: Bool, _ walk: inout FeedWalk,
        _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws {
        var item: Item
        if let known, known.isFolder == told.isFolder {
            item = known
        } else {
            if var old = known {
                old.remote = nil
                old.lastNode = nil
                try store.save(old)
            }
            item = try itemThatWasSent(told) ?? Item(try store.newItem())
        }
        let hasMoved = item.remote?.place != told.place
        let wasHidden = item.isExcluded
        if hasMoved { item = try rescoped(item, to: told, isOutside: isOutside, &walk) }
        // The server has gone back in time: what was synced is no base for what it has now.
        let isRollback =
            isRefresh && told.hash != item.synced?.hash
            && (walk.isForeign || told.revision < item.synced?.revision ?? .min)
        try walk.record.note(item.id)
        if refused.contains(item.id) { report.note(.changedOnServer, of: item.id) }
        try editor.observeRemote(&item, as: told, isRollback: isRollback)
        if item != known { report.hasChanges = true }
        if hasMoved, known != nil, item.isFolder, !item.isExcluded {
            try revisit(item, wasHidden: wasHidden, &walk)
        }
    }

    /// The new entry of ours that the server turns out to have taken, though its answer has not come, or never will.
    private func itemThatWasSent(_ told: RemoteState) throws -> Item? {
        try store.children(of: told.place.parent, key: told.place.name.key, on: .local).first {
            guard $0.remote == nil, $0.isFolder == told.isFolder else { return false }
            return told.isFolder ? $0.synced == nil : told.hash != nil && $0.sent == told.hash
        }
    }

    /// Forgets what the server had of an entry and of all that was in it.
    func forget(_ item: Item, _ note: (Item) -> Void = { _ in }) throws {
        var ids = [item.id]
        try store.visitRemote(below: item.id) { ids.append($0.id) }
        for id in ids.reversed() {
            guard var gone = try store.item(id), gone.remote != nil else { continue }
            note(gone)
            gone.remote = nil
            try store.save(gone)
        }
    }

    // MARK: Paths

    /// The path of an item on the server.
    ///
    /// - Throws: ``RemoteError`` that may pass when the tree of the server is broken: its whole state is read anew.
    func path(of id: ItemID, _ report: inout SyncReport) throws -> RemotePath {
        var names: [String] = []
        var next = id
        while next != .root {
            guard names.count < NameRules.maximumDepth, let place = try store.item(next)?.remote?.place else {
                // Only a walk over everything can mend that.
                try store.setMeta(.cursor, nil)
                report.isFeedStale = true
                throw RemoteError(
                    .serverFault, "a folder is missing in the mirror's tree of the server, which is read anew")
            }
            names.append(place.name.text)
            next = place.parent
        }
        return try names.reversed().reduce(configuration.remoteRoot) { try $0.appending($1) }
    }

    /// The path of a place on the server.
    func path(of place: Place, _ report: inout SyncReport) throws -> RemotePath {
        try path(of: place.parent, &report).appending(place.name.text)
    }

    /// Whether the server has a folder.
    func isOnServer(_ folder: ItemID) throws -> Bool { try folder == .root || store.item(folder)?.remote != nil }

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

    /// Whether nothing has come between the plan and the write, as far as the tree knows: a write on condition of what
    /// the tree says would replace what nobody has seen.
    func isStillDue(_ operation: Operation, _ item: Item) throws -> Bool {
        switch operation {
        case .upload: item.remote == nil || item.synced != nil && !item.isEditedRemotely
        case .moveRemote: !item.isPlacedRemotely
        default: true
        }
    }

    // MARK: Scope

    /// Whether a folder lies outside of the mirrored one.
    func isOutside(_ folder: ItemID, _ walk: inout FeedWalk) throws -> Bool {
        if folder == .root { return false }
        if folder == .outside { return true }
        if let known = walk.outside[folder] { return known }
        let found = try store.item(folder)?.isOutside ?? true
        walk.outside[folder] = found
        return found
    }

    /// An item whose entry has come to a place, inside of the mirror or out of it: another one when it has left.
    ///
    /// What is outside of the mirrored folder, or kept out by the rules or by choice, is not in the mirror.
    private func rescoped(
        _ item: Item, to told: RemoteState, isOutside: Bool, _ walk: inout FeedWalk
    ) throws -> Item {
        var item = item
        let isNew = item.isEmpty
        if item.isFolder, !isNew { walk.forgetPlaces() }
        let isHidden = try isOutside || isExcluded(told.place, told.isFolder, &walk)
        if isHidden, !item.isExcluded, !isNew { item = try leaveScope(item) }
        if isHidden, item.isOutside != isOutside { try mark(below: item.id, isOutside: isOutside, isExcluded: true) }
        (item.isExcluded, item.isOutside) = (isHidden, isOutside)
        return item
    }

    /// Whether the rules or the selection keep out what is at a place on the server.
    private func isExcluded(_ place: Place, _ isFolder: Bool, _ walk: inout FeedWalk) throws -> Bool {
        guard let folder = try key(of: place.parent, &walk) else { return true }
        return scanner.rules.excludes(folder.appending(place.name.key), isFolder: isFolder)
    }

    /// The key of a folder's path as the server has it; nil when it is not in the mirrored folder.
    private func key(of folder: ItemID, _ walk: inout FeedWalk) throws -> PathKey? {
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
            key = key.appending(name)
            walk.keep(key, of: folder)
        }
        return key
    }

    /// An entry has left the mirror: to that it is gone, though the server still has it.
    ///
    /// - Returns: The item that stands for the entry from now on.
    private func leaveScope(_ item: Item) throws -> Item {
        var (left, twin) = (item, Item(try store.newItem()))
        (left.remote, left.lastNode) = (nil, nil)
        (twin.remote, twin.lastNode, twin.isExcluded) = (item.remote, item.remote?.node, true)
        try store.save(left)
        try store.save(twin)
        var folders = [(from: item.id, to: twin.id)]
        while let (from, to) = folders.popLast() {
            for child in try store.children(of: from, on: .remote) {
                var moved = child
                if !child.isExcluded {
                    var left = child
                    moved = Item(try store.newItem())
                    (left.remote, left.lastNode) = (nil, nil)
                    (moved.remote, moved.lastNode, moved.isExcluded) = (child.remote, child.remote?.node, true)
                    try store.save(left)
                    if child.isFolder { folders.append((child.id, moved.id)) }
                }
                moved.remote?.place.parent = to
                try store.save(moved)
            }
        }
        return twin
    }

    /// Marks all that the server has in a folder as being in the mirror or out of it.
    func mark(below folder: ItemID, isOutside: Bool, isExcluded: Bool) throws {
        try store.visitRemote(below: folder) { child in
            var child = child
            (child.isOutside, child.isExcluded) = (isOutside, isExcluded)
            try store.save(child)
        }
    }

    /// A folder has moved within the mirror or come into it, and with it all that the rules do not keep out there.
    private func revisit(_ folder: Item, wasHidden: Bool, _ walk: inout FeedWalk) throws {
        if wasHidden { try mark(below: folder.id, isOutside: false, isExcluded: false) }
        guard scanner.rules != ScanRules(), let key = try key(of: folder.id, &walk) else { return }
        try ExclusionPass(store: store, rules: scanner.rules).run(below: folder.id, key)
    }

    /// Refuses a place that no tree has: in the entry itself, or so deep that no path leads there.
    func checkPlace(of item: Item?, in folder: ItemID, _ name: EntryName, _ walk: inout FeedWalk) throws {
        // What is new holds nothing yet; a folder that was known may hold the one that it is said to be in.
        let mayHoldFolder = item?.isFolder == true && item?.remote?.place.parent != folder
        var below: [(folder: ItemID, length: Int)] = []
        var next = folder
        var length: Int?
        for _ in 0...NameRules.maximumDepth {
            if next == item?.id {
                throw RemoteError(.protocolViolation, "the server tells of a folder that lies in itself: '\(name)'")
            }
            length = length ?? walk.lengths[next]
            if next == .root || next == .outside || length != nil && !mayHoldFolder { break }
            guard let place = try store.item(next)?.remote?.place else { break }
            if length == nil { below.append((next, 1 + place.name.text.utf8.count)) }
            next = place.parent
        }
        var sum = length ?? 0
        for (folder, length) in below.reversed() {
            sum += length
            walk.keep(length: sum, of: folder)
        }
        guard sum + 1 + name.text.utf8.count <= NameRules.maximumPathBytes else { throw Self.tooDeep(name) }
    }

    private static func tooDeep(_ name: EntryName) -> RemoteError {
        RemoteError(
            .protocolViolation,
            "the server tells of '\(name)' in folders whose path is longer than \(NameRules.maximumPathBytes) bytes")
    }
}

extension PathKey {
    /// The key of an entry of the folder that has this key; the name is folded.
    func appending(_ name: String) -> PathKey { PathKey(folded: self == .root ? "/" + name : string + "/" + name) }
}
