import ByteClubCore

/// The server's side of the trees: how the feed's entries are stored, for both protocols.
final class RemoteTree {
    /// The most entries that are requested one by one.
    private static let mostAsked = 200

    let context: SyncContext
    let remote: any Remote
    private let scanner: Scanner
    /// Whether the server's revisions are ordered.
    let ordersRevisions: Bool

    private var store: any TreeStore { context.store }
    private var configuration: SyncConfiguration { context.configuration }

    init(_ context: SyncContext, _ remote: any Remote, _ scanner: Scanner, ordersRevisions: Bool) {
        self.context = context
        self.remote = remote
        self.scanner = scanner
        self.ordersRevisions = ordersRevisions
    }

    // MARK: Passes

    /// Restarts the feed when it was another server's, another folder's or of the other kind.
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

    /// Begins or continues a full pass over the server's state; nil when the feed lists changes only.
    func beginPass(isReset: Bool) throws -> Int64? {
        var generation = try store.meta(.generation).flatMap { Int64($0) } ?? 0
        if isReset {
            generation += 1
            try store.setMeta(.generation, "\(generation)")
            try store.setMeta(.isSweepPending, "1")
        }
        return try store.meta(.isSweepPending) == nil ? nil : generation
    }

    /// Ends a pass.
    ///
    /// An entry that a full pass has not shown does not exist, though it was not deleted: its merge base is dropped,
    /// and the disk's content is uploaded again (invariant I9).
    func endPass(_ pass: inout FeedPass, _ editor: inout TreeEditor, _ report: inout SyncReport) throws {
        guard let generation = pass.generation else { return }
        for item in try store.unseen(before: generation, limit: Self.mostAsked + 1) where item.synced != nil {
            if let path = try? path(of: item.id, &report) { pass.swept.append((item, path)) }
        }
        while true {
            let unseen = try store.unseen(before: generation, limit: 1_000)
            if unseen.isEmpty { break }
            for item in unseen { try editor.unseen(item) }
        }
        try store.setMeta(.isSweepPending, nil)
    }

    /// Asks the server about synced entries that a full pass did not show: those that were deleted after they were
    /// synced are ordinary deletions.
    func confirm(_ swept: [(item: Item, path: RemotePath)]) async throws {
        if swept.count > Self.mostAsked { return }
        for (item, path) in swept {
            guard let base = item.synced, let reported = try await metadata(at: path), reported.isDeleted,
                order(of: reported.rev, against: base.revision) == .later
            else { continue }
            try store.edit(durably: false) { editor in
                try editor.deletedAfterAll(item.id, base: base, node: item.remote?.node)
            }
        }
    }

    /// The server's metadata of a path; nil when it never existed.
    func metadata(at path: RemotePath) async throws(RemoteError) -> Metadata? {
        do {
            return try await remote.metadata(at: path)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    // MARK: Entries

    /// Stores an entry of the feed.
    func keep(
        _ reported: RemoteState, as known: Item?, isOutside: Bool, isRefresh: Bool, _ pass: inout FeedPass,
        _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws {
        var item: Item
        let isReplaced = known.map { $0.isFolder != reported.isFolder } ?? false
        if let known, !isReplaced {
            item = known
        } else {
            if var old = known {
                old.remote = nil
                old.lastNode = nil
                try store.save(old)
            }
            item = try itemThatWasSent(reported) ?? Item(try store.newItem())
        }
        let hasMoved = item.remote?.location != reported.location
        // What was moved or replaced may make room for others.
        let isAlone = !isReplaced && (!hasMoved || item.isEmpty)
        let wasHidden = item.isExcluded
        if hasMoved { item = try rescoped(item, to: reported, isOutside: isOutside, &pass) }
        let isRollback = isRefresh && isRollback(reported, of: item, isForeign: pass.isForeign)
        try pass.record.note(item.id)
        report.reported.insert(item.id)
        try editor.observeRemote(&item, as: reported, isRollback: isRollback)
        if item != known { report.noteChange(of: item, isAlone: isAlone) }
        if hasMoved, known != nil, item.isFolder, !item.isExcluded {
            try revisit(item, wasHidden: wasHidden, &pass)
        }
    }

    /// Whether the server was restored to an earlier state, so that what was synced is no merge base for it.
    ///
    /// Where the server's revisions have no order, each other one may be the earlier: merged with a later base, it would
    /// undo what was written since, so an edited file gets a conflict copy. One that is not edited is replaced, and its
    /// content stays in the trash.
    private func isRollback(_ reported: RemoteState, of item: Item, isForeign: Bool) -> Bool {
        if reported.hash == item.synced?.hash { return false }
        if isForeign { return true }
        guard let base = item.synced else { return false }
        return switch order(of: reported.revision, against: base.revision) {
        case .earlier: true
        case .unknown: ordersRevisions ? base.revision != nil : item.isEditedLocally
        case .same, .later: false
        }
    }

    /// Our own new entry that the server has accepted without an answer so far.
    private func itemThatWasSent(_ reported: RemoteState) throws -> Item? {
        try store.children(of: reported.location.parent, key: reported.location.name.key, on: .local).first {
            guard $0.remote == nil, $0.isFolder == reported.isFolder else { return false }
            return reported.isFolder ? $0.synced == nil : reported.hash != nil && $0.sent == reported.hash
        }
    }

    /// Drops the remote state of an entry and of all that was in it.
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

    // MARK: Revisions

    /// How a revision stands to one that was seen before.
    enum RevisionOrder {
        case same
        case earlier
        case later
        /// They differ, or one is missing, and the server does not tell more.
        case unknown
    }

    /// How a revision that the server tells now stands to one that is in the tree.
    ///
    /// One in the tree may be of another server.
    func order(of told: Revision?, against seen: Revision?) -> RevisionOrder {
        guard let told else { return .unknown }
        if told == seen { return .same }
        guard ordersRevisions, let new = JournalRevision(told), let seen, let old = JournalRevision(seen),
            old.namespace == new.namespace
        else { return .unknown }
        return new < old ? .earlier : .later
    }

    // MARK: Paths

    /// The path of an item on the server.
    ///
    /// - Throws: A transient ``RemoteError`` when the remote tree is broken: then a full pass is started.
    func path(of id: ItemID, _ report: inout SyncReport) throws -> RemotePath {
        var names: [String] = []
        var next = id
        while next != .root {
            guard names.count < NameRules.maximumDepth, let location = try store.item(next)?.remote?.location else {
                // Only a full pass can repair that.
                try store.setMeta(.cursor, nil)
                report.isFeedStale = true
                throw RemoteError(
                    .serverFault, "a folder is missing in the mirror's copy of the server's tree; reading it again")
            }
            names.append(location.name.text)
            next = location.parent
        }
        return try names.reversed().reduce(configuration.remoteRoot) { try $0.appending($1) }
    }

    /// The path of a place on the server.
    func path(of location: Location, _ report: inout SyncReport) throws -> RemotePath {
        try path(of: location.parent, &report).appending(location.name.text)
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

    // MARK: Scope

    /// Whether a folder lies outside of the mirrored one.
    func isOutside(_ folder: ItemID, _ pass: inout FeedPass) throws -> Bool {
        if folder == .root { return false }
        if folder == .outside { return true }
        if let known = pass.outside[folder] { return known }
        let found = try store.item(folder)?.isOutside ?? true
        pass.outside[folder] = found
        return found
    }

    /// The item of an entry that was moved into, within or out of the mirror: another item when it has left.
    ///
    /// Entries outside of the mirrored folder, ignored or deselected are not in the mirror.
    private func rescoped(
        _ item: Item, to reported: RemoteState, isOutside: Bool, _ pass: inout FeedPass
    ) throws -> Item {
        var item = item
        let isNew = item.isEmpty
        if item.isFolder, !isNew { pass.forgetLocations() }
        let isHidden = try isOutside || isExcluded(reported.location, reported.isFolder, &pass)
        if isHidden, !item.isExcluded, !isNew { item = try leaveScope(item) }
        if isHidden, item.isOutside != isOutside { try mark(below: item.id, isOutside: isOutside, isExcluded: true) }
        (item.isExcluded, item.isOutside) = (isHidden, isOutside)
        return item
    }

    /// Whether the rules or the selection exclude a location on the server.
    private func isExcluded(_ location: Location, _ isFolder: Bool, _ pass: inout FeedPass) throws -> Bool {
        guard let folder = try key(of: location.parent, &pass) else { return true }
        return scanner.rules.excludes(folder.appending(location.name.key), isFolder: isFolder)
    }

    /// The key of a folder's path as the server has it; nil when it is not in the mirrored folder.
    private func key(of folder: ItemID, _ pass: inout FeedPass) throws -> PathKey? {
        var below: [(folder: ItemID, name: String)] = []
        var next = folder
        while pass.keys[next] == nil {
            guard below.count < NameRules.maximumDepth, let location = try store.item(next)?.remote?.location else {
                return nil
            }
            below.append((next, location.name.key))
            next = location.parent
        }
        guard var key = pass.keys[next] else { return nil }
        for (folder, name) in below.reversed() {
            key = key.appending(name)
            pass.keep(key, of: folder)
        }
        return key
    }

    /// Handles an entry that has left the mirror: for the mirror it is deleted, though the server still has it.
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
                moved.remote?.location.parent = to
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

    /// Re-evaluates the exclusion of a folder's contents after it was moved within or into the mirror.
    private func revisit(_ folder: Item, wasHidden: Bool, _ pass: inout FeedPass) throws {
        if wasHidden { try mark(below: folder.id, isOutside: false, isExcluded: false) }
        guard wasHidden || scanner.rules != ScanRules(), let key = try key(of: folder.id, &pass) else { return }
        try ExclusionPass(store: store, rules: scanner.rules).run(below: folder.id, key)
    }

    /// Rejects an impossible location: inside the entry itself, or deeper than the longest path.
    ///
    /// - Throws: ``RemoteError`` with the code `protocolViolation`.
    func checkLocation(of item: Item?, in folder: ItemID, _ name: EntryName, _ pass: inout FeedPass) throws {
        // A new folder contains nothing yet; a known one may contain its alleged parent.
        let mayHoldFolder = item?.isFolder == true && item?.remote?.location.parent != folder
        var below: [(folder: ItemID, length: Int)] = []
        var next = folder
        var length: Int?
        for _ in 0...NameRules.maximumDepth {
            if next == item?.id {
                throw RemoteError(.protocolViolation, "the server lists a folder inside itself: '\(name)'")
            }
            length = length ?? pass.lengths[next]
            if next == .root || next == .outside || length != nil && !mayHoldFolder { break }
            guard let location = try store.item(next)?.remote?.location else { break }
            if length == nil { below.append((next, 1 + location.name.text.utf8.count)) }
            next = location.parent
        }
        var sum = length ?? 0
        for (folder, length) in below.reversed() {
            sum += length
            pass.keep(length: sum, of: folder)
        }
        guard sum + 1 + name.text.utf8.count <= NameRules.maximumPathBytes else { throw Self.tooDeep(name) }
    }

    private static func tooDeep(_ name: EntryName) -> RemoteError {
        RemoteError(
            .protocolViolation,
            "the server lists '\(name)' in folders whose path is longer than \(NameRules.maximumPathBytes) bytes")
    }
}

extension PathKey {
    /// The key of an entry of the folder that has this key; the name is folded.
    func appending(_ name: String) -> PathKey { PathKey(folded: self == .root ? "/" + name : string + "/" + name) }
}
