import ByteClubCore

/// Turns the pages of a server's feed into the server's side of the trees, for every protocol.
///
/// A page is applied in one transaction, with the cursor at which the next one begins.
final class FeedIngest {
    /// The most entries that are requested one by one.
    private static let mostAsked = 200

    /// An entry's place in the tree.
    private struct Place {
        let parent: ItemID
        let name: EntryName
        /// The item that the tree has for the entry.
        let known: Item?
        var isOutside = false
    }

    let tree: RemoteTree
    /// The identity of the mirrored folder; nil when it does not exist, and in a feed of paths.
    private(set) var root: EntryID?

    private var store: any TreeStore { tree.context.store }
    private var configuration: SyncConfiguration { tree.context.configuration }
    private var rules: ScanRules { tree.scanner.rules }

    init(_ tree: RemoteTree, root: EntryID? = nil) {
        self.tree = tree
        self.root = root
    }

    // MARK: Pages

    /// Restarts the feed when it was another server's, another folder's or of the other kind.
    func checkFeed(_ kind: String) throws {
        let identity = "\(kind) \(configuration.remoteRoot) \(configuration.serverIdentity)"
        guard try store.meta(.remoteIdentity) != identity else { return }
        try store.transaction(durably: false) {
            try store.setMeta(.remoteIdentity, identity)
            try store.setMeta(.cursor, nil)
        }
        if !configuration.remoteRoot.isRoot { try setRoot(nil) }
    }

    /// Applies a page to the tree and advances the cursor.
    ///
    /// - Throws: ``RemoteError`` with the code `protocolViolation` for a page that no server may send, and the store's
    ///   errors; nothing is changed then.
    func apply(_ page: FeedPage, _ record: FeedRecord, _ report: inout SyncReport) throws -> FeedPass {
        var pass = FeedPass(record)
        let formerRoot = root
        do {
            try store.edit(durably: false) { editor in try apply(page, &pass, &editor, &report) }
        } catch {
            root = formerRoot
            throw error
        }
        return pass
    }

    private func apply(
        _ page: FeedPage, _ pass: inout FeedPass, _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws {
        if page.isReset, let epoch = page.epoch { try forgetIdentities(unless: epoch, &editor) }
        pass.generation = try beginPass(isReset: page.isReset)
        pass.isForeign = try page.epoch != nil && pass.generation != nil && store.meta(.isForeign) != nil
        for change in page.changes { try apply(change, &pass, &editor, &report) }
        if pass.needsWholeState { return }
        if !page.hasMore {
            if page.epoch == nil {
                let moves = try pass.record.isContinued ? MoveDetector(unsettledIn: store) : pass.record.moves
                try moves.run(&editor)
            }
            try endPass(&pass, &editor, &report)
        }
        try advance(to: page, pass, report)
    }

    private func advance(to page: FeedPage, _ pass: FeedPass, _ report: SyncReport) throws {
        guard page.epoch != nil else {
            let isOpen = try store.meta(.isDeltaOpen) != nil
            if page.hasMore != isOpen { try store.setMeta(.isDeltaOpen, page.hasMore ? "1" : nil) }
            return try store.setMeta(.cursor, page.cursor)
        }
        if pass.generation == nil, !report.hasChanges {
            // Best effort: the server lists it again if it is lost.
            try store.setMetaLater(.cursor, page.cursor)
            if let position = page.position { try store.setMetaLater(.sequence, "\(position)") }
            return
        }
        try store.setMeta(.cursor, page.cursor)
        if let position = page.position { try store.setMeta(.sequence, "\(position)") }
    }

    /// The journal's position up to which everything was listed; nil before the first pass has ended.
    func position() throws -> Int64? { try store.meta(.sequence).flatMap { Int64($0) } }

    /// Begins or continues a full pass over the server's state; nil when the feed lists changes only.
    private func beginPass(isReset: Bool) throws -> Int64? {
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
    private func endPass(_ pass: inout FeedPass, _ editor: inout TreeEditor, _ report: inout SyncReport) throws {
        guard let generation = pass.generation else { return }
        for item in try store.unseen(before: generation, limit: Self.mostAsked + 1) where item.synced != nil {
            if let path = try? tree.path(of: item.id, &report) { pass.swept.append((item, path)) }
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
            guard let base = item.synced, let reported = try await tree.metadata(at: path), reported.isDeleted,
                tree.order(of: reported.rev, against: base.revision) == .later
            else { continue }
            try store.edit(durably: false) { editor in
                try editor.deletedAfterAll(item.id, base: base, node: item.remote?.node)
            }
        }
    }

    // MARK: Changes

    /// Applies a change, of a page or of an answer.
    func apply(
        _ change: FeedChange, _ pass: inout FeedPass, _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws {
        switch change {
        case .upsert(let entry): try put(entry, &pass, &editor, &report)
        case .gone(let node, let revision): try remove(node, revision, &pass, &editor, &report)
        case .goneFrom(let key):
            guard let names = relative(key) else { return }
            if names.isEmpty {
                for child in try store.children(of: .root, on: .remote) { try forget(child, &pass, &editor) }
            } else if let item = try tree.item(at: names) {
                try forget(item, &pass, &editor)
            }
        }
    }

    private func put(
        _ entry: RemoteEntry, _ pass: inout FeedPass, _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws {
        guard let place = try place(of: entry, &pass, &editor, &report) else { return }
        let known = place.known
        if pass.generation == nil, let seen = known?.remote, isOlder(entry, than: seen) { return }
        switch entry.place {
        case .node:
            if known?.remote == nil, entry.isFolder, pass.generation == nil, try isListed(entry) {
                // The journal does not repeat what the tree has dropped, as for a folder that was moved out of another
                // one right before we deleted that.
                pass.needsWholeState = true
                try tree.restartFeed(&report)
            }
            try checkLocation(of: known, in: place.parent, place.name, &pass)
        case .path:
            if let known, known.isFolder != entry.isFolder { try forget(known, &pass, &editor) }
        }
        var reported = entry.state(at: Location(place.parent, place.name))
        reported.generation = pass.generation ?? known?.remote?.generation ?? 0
        if reported.hash == nil, known?.remote?.revision == reported.revision { reported.hash = known?.remote?.hash }
        let kept = try keep(
            reported, as: known, isOutside: place.isOutside, isRefresh: pass.generation != nil, &pass, &editor, &report)
        if known == nil, case .path = entry.place { pass.record.moves.new.append(kept) }
    }

    /// Whether the tree has a newer state of an entry, so that the page is outdated.
    private func isOlder(_ entry: RemoteEntry, than seen: RemoteState) -> Bool {
        switch entry.place {
        case .node: isOlder(entry.revision, than: seen) || entry.placeRevision < seen.placeRevision
        case .path: tree.order(of: entry.revision, against: seen.revision) == .earlier
        }
    }

    /// Whether the tree has a newer content than a journal's revision.
    private func isOlder(_ revision: Revision?, than seen: RemoteState) -> Bool {
        revision?.journalNumber ?? .max < seen.revision?.journalNumber ?? 0
    }

    /// Whether the journal listed an entry's creation before, and therefore its contents as well.
    private func isListed(_ entry: RemoteEntry) throws -> Bool {
        guard let position = try position(), let number = entry.revision?.journalNumber else { return false }
        return number <= position
    }

    private func remove(
        _ node: EntryID, _ revision: Revision?, _ pass: inout FeedPass, _ editor: inout TreeEditor,
        _ report: inout SyncReport
    ) throws {
        if node == .root { return try pass.record.progress.takeRepeat() }
        if node == root {
            try setRoot(nil)
            report.noteChanges()
        }
        guard let item = try store.item(node: node) else { return }
        if let seen = item.remote, isOlder(revision, than: seen) { return }
        if item.remote != nil { report.noteChanges() }
        try editor.deletedRemotely(item, node: item.isOutside ? nil : node)
    }

    private func forget(_ item: Item, _ pass: inout FeedPass, _ editor: inout TreeEditor) throws {
        pass.record.moves.gone += try editor.forgetRemote(item).compactMap { item in
            item.remote.map { (item.id, $0) }
        }
    }

    /// Stores an entry of the feed.
    private func keep(
        _ reported: RemoteState, as known: Item?, isOutside: Bool, isRefresh: Bool, _ pass: inout FeedPass,
        _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws -> ItemID {
        var item: Item
        let isReplaced = known.map { $0.isFolder != reported.isFolder } ?? false
        if let known, !isReplaced {
            item = known
        } else {
            if let known { try editor.detach(known) }
            item = try itemThatWasSent(reported) ?? Item(try store.newItem())
        }
        let hasMoved = item.remote?.location != reported.location
        // An entry that moved, or replaced another, may make room for others.
        let isAlone = !isReplaced && (!hasMoved || item.isEmpty)
        let wasHidden = item.isExcluded
        if hasMoved { item = try rescoped(item, to: reported, isOutside: isOutside, &pass, &editor) }
        let isRollback = isRefresh && isRollback(reported, of: item, isForeign: pass.isForeign)
        try pass.record.note(item.id)
        report.reported.insert(item.id)
        try editor.observeRemote(&item, as: reported, isRollback: isRollback)
        if item != known { report.noteChange(of: item, isAlone: isAlone) }
        if hasMoved, known != nil, item.isFolder, !item.isExcluded {
            try revisit(item, wasHidden: wasHidden, &pass, &editor)
        }
        return item.id
    }

    /// Whether the server was restored to an earlier state, so that the last synced state is no merge base for it.
    ///
    /// Without an order of revisions, each other revision may be an earlier one. A merge with a later base would undo the
    /// writes in between, so an edited file gets a conflict copy. An unedited file is replaced, and its content stays in
    /// the trash.
    private func isRollback(_ reported: RemoteState, of item: Item, isForeign: Bool) -> Bool {
        if reported.hash == item.synced?.hash { return false }
        if isForeign { return true }
        guard let base = item.synced else { return false }
        return switch tree.order(of: reported.revision, against: base.revision) {
        case .earlier: true
        case .unknown: tree.ordersRevisions ? base.revision != nil : item.isEditedLocally
        case .same, .later: false
        }
    }

    /// This engine's own new entry, which the server has accepted although no answer arrived.
    private func itemThatWasSent(_ reported: RemoteState) throws -> Item? {
        try store.children(of: reported.location.parent, key: reported.location.name.key, on: .local).first {
            guard $0.remote == nil, $0.isFolder == reported.isFolder else { return false }
            return reported.isFolder ? $0.synced == nil : reported.hash != nil && $0.sent == reported.hash
        }
    }

    // MARK: Identities

    /// The place of an entry; nil when nothing is to be stored, as for the mirrored folder itself.
    private func place(
        of entry: RemoteEntry, _ pass: inout FeedPass, _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws -> Place? {
        if case .path(let path) = entry.place {
            return try place(at: path, isFolder: entry.isFolder, &pass, &editor, &report)
        }
        guard case .node(let node, let folder, let text) = entry.place else { return nil }
        if node == .root {
            try pass.record.progress.takeRepeat()
            return nil
        }
        guard let parent = try item(folder: folder) else {
            throw RemoteError(.protocolViolation, "the server's journal lists '\(text)' before its folder")
        }
        if try parent != .root && parent != .outside && store.item(parent)?.isFolder != true {
            throw RemoteError(.protocolViolation, "the server's journal lists '\(text)' inside a file")
        }
        if node == root {
            try pass.record.progress.takeRepeat()
            return nil
        }
        if (try? NameRules.check(text)) == nil {
            // A name that contains a slash would lead out of the mirror.
            throw RemoteError(.protocolViolation, "the server's journal lists an entry with an invalid name")
        }
        let name = EntryName(text)
        let isOutside = try isOutside(parent, &pass)
        var known = try store.item(node: node)
        if known == nil, pass.isForeign { known = try formerItem(at: Location(parent, name), isFolder: entry.isFolder) }
        if try isOutside && entry.isFolder && isMirroredFolder(parent, name) {
            report.noteChanges()
            try setRoot(node)
            if let known { try editor.enterRoot(known) }
            return nil
        }
        return Place(parent: parent, name: name, known: known, isOutside: isOutside)
    }

    /// Drops identities when a full pass is of another journal than the last one; entries are then matched by their
    /// locations.
    private func forgetIdentities(unless epoch: String, _ editor: inout TreeEditor) throws {
        let isForeign = try store.meta(.epoch) != epoch
        if isForeign {
            try editor.forgetNodes()
            if !configuration.remoteRoot.isRoot { try setRoot(nil) }
        }
        try store.setMeta(.isForeign, isForeign ? "1" : nil)
        try store.setMeta(.epoch, epoch)
    }

    /// The item that the server had at a location before its numbering restarted.
    private func formerItem(at location: Location, isFolder: Bool) throws -> Item? {
        try store.children(of: location.parent, key: location.name.key, on: .remote).first {
            $0.remote?.node == nil && $0.isFolder == isFolder
        }
    }

    /// The item of a folder by its node; nil when it was never listed.
    func item(folder node: EntryID) throws -> ItemID? {
        if node == root { return .root }
        if node == .root { return .outside }
        return try store.item(node: node)?.id
    }

    /// Notes which folder of the server is the mirrored one; nil when it has none.
    func setRoot(_ node: EntryID?) throws {
        root = node
        try store.setMeta(.rootNode, node.map { "\($0)" })
    }

    /// Whether a folder is the mirrored one, which the server did not have so far.
    private func isMirroredFolder(_ parent: ItemID, _ name: EntryName) throws -> Bool {
        if root != nil { return false }
        let wanted = configuration.remoteRoot.components.map(PathKey.fold)
        var keys = [name.key]
        var next = parent
        while next != .outside {
            guard keys.count < wanted.count, let location = try store.item(next)?.remote?.location else { return false }
            keys.insert(location.name.key, at: 0)
            next = location.parent
        }
        return keys == wanted
    }

    // MARK: Paths

    private func place(
        at path: RemotePath, isFolder: Bool, _ pass: inout FeedPass, _ editor: inout TreeEditor,
        _ report: inout SyncReport
    ) throws -> Place? {
        let root = configuration.remoteRoot
        guard let below = path.rebased(from: root, to: .root), !below.isRoot else {
            try pass.record.progress.takeRepeat()
            if path.key == root.key, !isFolder {
                throw SyncError(.configuration, "'\(root)' on the server is a file, not a folder")
            }
            return nil
        }
        let names = below.components.map { EntryName($0) }
        guard let last = names.last, let parent = try folder(names.dropLast(), &pass, &editor, &report) else {
            return nil
        }
        let known = try store.children(of: parent, key: last.key, on: .remote).first
        return Place(parent: parent, name: last, known: known)
    }

    /// The names below the mirrored folder; empty for that folder or one above it, nil for other paths.
    private func relative(_ key: PathKey) -> [String]? {
        let root = configuration.remoteRoot.key
        if key == root || root.isBelow(key) { return [] }
        guard key.isBelow(root) else { return nil }
        let names = key.string.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        return Array(names.dropFirst(configuration.remoteRoot.components.count))
    }

    /// The folder with these names from the mirror's root, created in the tree where the server has not listed it yet.
    private func folder(
        _ names: ArraySlice<EntryName>, _ pass: inout FeedPass, _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws -> ItemID? {
        var parent = ItemID.root
        for name in names {
            if let known = try store.children(of: parent, key: name.key, on: .remote).first {
                guard known.isFolder else { return nil }
                parent = known.id
                continue
            }
            var reported = RemoteState(location: Location(parent, name), isFolder: true)
            reported.generation = pass.generation ?? 0
            pass.record.unreportedFolders += 1
            if pass.record.unreportedFolders > FeedProgress.mostRepeats {
                throw RemoteError(.protocolViolation, "the server's list of changes lacks the folders")
            }
            parent = try keep(reported, as: nil, isOutside: false, isRefresh: false, &pass, &editor, &report)
            pass.record.moves.new.append(parent)
        }
        return parent
    }

    // MARK: Scope

    /// Whether a folder is outside of the mirrored one.
    private func isOutside(_ folder: ItemID, _ pass: inout FeedPass) throws -> Bool {
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
        _ item: Item, to reported: RemoteState, isOutside: Bool, _ pass: inout FeedPass, _ editor: inout TreeEditor
    ) throws -> Item {
        var item = item
        let isNew = item.isEmpty
        if item.isFolder, !isNew { pass.forgetLocations() }
        let isHidden = try isOutside || isExcluded(reported.location, reported.isFolder, &pass)
        if isHidden, !item.isExcluded, !isNew { item = try editor.leaveScope(item) }
        if isHidden, item.isOutside != isOutside {
            try editor.mark(below: item.id, isOutside: isOutside, isExcluded: true)
        }
        (item.isExcluded, item.isOutside) = (isHidden, isOutside)
        return item
    }

    /// Whether the rules or the selection exclude a location on the server.
    private func isExcluded(_ location: Location, _ isFolder: Bool, _ pass: inout FeedPass) throws -> Bool {
        guard let folder = try key(of: location.parent, &pass) else { return true }
        return rules.excludes(folder.appending(location.name.key), isFolder: isFolder)
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

    /// Re-evaluates the exclusion of a folder's contents after it was moved within or into the mirror.
    private func revisit(
        _ folder: Item, wasHidden: Bool, _ pass: inout FeedPass, _ editor: inout TreeEditor
    ) throws {
        if wasHidden { try editor.mark(below: folder.id, isOutside: false, isExcluded: false) }
        guard wasHidden || rules != ScanRules(), let key = try key(of: folder.id, &pass) else { return }
        try ExclusionPass(store: store, rules: rules).run(below: folder.id, key)
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
        if sum + 1 + name.text.utf8.count > NameRules.maximumPathBytes {
            throw RemoteError(
                .protocolViolation,
                "the server lists '\(name)' in folders whose path is longer than \(NameRules.maximumPathBytes) bytes")
        }
    }
}

extension PathKey {
    /// The key of an entry of the folder that has this key; the name is folded.
    func appending(_ name: String) -> PathKey { PathKey(folded: self == .root ? "/" + name : string + "/" + name) }
}
