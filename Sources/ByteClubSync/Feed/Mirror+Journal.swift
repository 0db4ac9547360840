import ByteClubCore

extension Mirror {
    /// Brings the remote tree up to one page of the journal, and moves the cursor, as one change.
    ///
    /// A page that does not start where the tree stands has been taken already, and is left out.
    @discardableResult
    func take(
        _ changes: SyncChanges, after cursor: String?, _ record: FeedRecord = FeedRecord()
    ) throws -> FeedWalk {
        guard try store.meta(.cursor) == cursor, cursor != nil || changes.page.isReset else { return FeedWalk(record) }
        var inline = changes.contents.makeIterator()
        for entry in changes.page.entries where entry.isInline {
            if let bytes = inline.next(), let hash = entry.hash { arrivals.add(bytes, hash) }
        }
        var walk = FeedWalk(record)
        if changes.page.isReset { walk.record.sequence = 0 }
        let formerRoot = rootNode
        do { try take(changes.page, &walk) } catch {
            rootNode = formerRoot
            throw error
        }
        isFeedOpen = changes.page.hasMore
        return walk
    }

    private func take(_ page: SyncPage, _ walk: inout FeedWalk) throws {
        try store.transaction(durably: false) {
            if page.isReset { try forgetIdentities(unless: page.cursor) }
            walk.generation = try beginWalk(isReset: page.isReset)
            walk.isForeign = try walk.generation != nil && store.meta(.isForeign) != nil
            for entry in page.entries {
                guard entry.sequence > walk.record.sequence else {
                    throw RemoteError(.protocolViolation, "the server's journal goes back to what it has told")
                }
                walk.record.sequence = entry.sequence
                try take(entry, &walk)
            }
            if walk.needsWholeState { return }
            if !page.hasMore { try endWalk(&walk) }
            try store.setMeta(.cursor, page.cursor)
            if let sequence = page.sequence { try store.setMeta(.sequence, "\(sequence)") }
        }
    }

    /// Takes what the server told of an entry.
    func take(_ entry: SyncEntry, _ walk: inout FeedWalk) throws {
        if entry.node == .root { return try walk.record.progress.takeRepeat() }
        if entry.isDeleted {
            if entry.node == rootNode { try setRootNode(nil) }
            return try takeDeletion(entry)
        }
        guard let parent = try item(folder: entry.parent) else {
            throw RemoteError(.protocolViolation, "the server's journal tells '\(entry.name)' before its folder")
        }
        if try parent != .root && parent != .outside && store.item(parent)?.isFolder != true {
            throw RemoteError(.protocolViolation, "the server's journal tells of '\(entry.name)' in a file")
        }
        if entry.node == rootNode { return try walk.record.progress.takeRepeat() }
        if (try? NameRules.check(entry.name)) == nil {
            // A name that is a path would lead out of the mirror.
            throw RemoteError(.protocolViolation, "the server's journal tells of an entry with an impossible name")
        }
        let name = EntryName(entry.name)
        let isOutside = try isOutside(parent, &walk)
        var item = try store.item(node: entry.node)
        if item == nil, walk.isForeign { item = try formerItem(at: Place(parent, name), isFolder: entry.isFolder) }
        if try isOutside && isMirroredFolder(entry, parent, name) { return try enterRoot(entry.node, item) }
        if let known = item, let seen = known.remote, walk.generation == nil, isOld(entry, seen) { return }
        if item?.remote == nil, entry.isFolder, walk.generation == nil, try wasTold(entry) { try readAnew(&walk) }
        try checkPlace(of: item, in: parent, name, &walk)
        var remote = RemoteState(
            node: entry.node, place: Place(parent, name), isFolder: entry.isFolder, hash: entry.hash,
            size: entry.bytes, revision: entry.revision, placeRevision: entry.placeRevision)
        remote.generation = walk.generation ?? item?.remote?.generation ?? 0
        try keep(remote, as: item, isOutside: isOutside, isRefresh: walk.generation != nil, &walk)
    }

    /// Whether the tree knows a newer state of an entry than the one that is told: an answer that came late.
    func isOld(_ entry: SyncEntry, _ seen: RemoteState) -> Bool {
        entry.revision < seen.revision || entry.placeRevision < seen.placeRevision
    }

    /// Whether the journal has told of an entry's making already, so that all that is in it was told as well.
    private func wasTold(_ entry: SyncEntry) throws -> Bool {
        try toldSequence().map { entry.revision <= $0 } ?? false
    }

    /// Up to which change the journal has told; nil before its first walk has ended.
    func toldSequence() throws -> Int64? { try store.meta(.sequence).flatMap { Int64($0) } }

    /// Asks for the server's whole state: what the tree has lost is not told again.
    ///
    /// So it is with a folder that somebody moved out of another one, right before we deleted that.
    private func readAnew(_ walk: inout FeedWalk) throws {
        walk.needsWholeState = true
        isFeedStale = true
        try store.setMeta(.cursor, nil)
    }

    /// Forgets identities when a walk over the whole state is not of the journal that was followed last.
    private func forgetIdentities(unless cursor: String) throws {
        let epoch = String(cursor.prefix { $0 != "." })
        let isForeign = try store.meta(.epoch) != epoch
        if isForeign { try forgetIdentities() }
        try store.setMeta(.isForeign, isForeign ? "1" : nil)
        try store.setMeta(.epoch, epoch)
    }

    private func takeDeletion(_ entry: SyncEntry) throws {
        guard var item = try store.item(node: entry.node) else { return }
        if let remote = item.remote, entry.revision < remote.revision { return }
        item.remote = nil
        item.lastNode = item.isOutside ? nil : entry.node
        try store.save(item)
    }

    /// The item of a folder by the server's name for it; nil when it was never told.
    func item(folder node: NodeID) throws -> ItemID? {
        if node == rootNode { return .root }
        if node == .root { return .outside }
        return try store.item(node: node)?.id
    }

    func setRootNode(_ node: NodeID?) throws {
        rootNode = node
        try store.setMeta(.rootNode, node.map { "\($0)" })
    }

    private func isMirroredFolder(_ entry: SyncEntry, _ parent: ItemID, _ name: EntryName) throws -> Bool {
        guard entry.isFolder, rootNode == nil else { return false }
        let wanted = configuration.remoteRoot.components.map(PathKey.fold)
        var keys = [name.key]
        var next = parent
        while next != .outside {
            guard keys.count < wanted.count, let place = try store.item(next)?.remote?.place else { return false }
            keys.insert(place.name.key, at: 0)
            next = place.parent
        }
        return keys == wanted
    }

    /// Takes a folder of the server for the mirrored one, with all that is in it.
    private func enterRoot(_ node: NodeID, _ known: Item?) throws {
        try setRootNode(node)
        guard var known else { return }
        for var child in try store.children(of: known.id, on: .remote) {
            child.remote?.place.parent = .root
            (child.isOutside, child.isExcluded) = (false, false)
            try store.save(child)
            try mark(below: child.id, isOutside: false, isExcluded: false)
        }
        known.remote = nil
        known.lastNode = nil
        try store.save(known)
    }
}
