import ByteClubCore

/// What a pass writes about single items.
extension ScanPass {
    /// Notes an entry that nobody knew.
    func create(_ id: ItemID, _ entry: DiskEntry, at place: Place) throws {
        let isFolder = entry.kind == .folder
        let size = isFolder ? 0 : entry.look.fingerprint.size
        try save(Item(id, local: LocalState(place: place, isFolder: isFolder, size: size, look: entry.look)))
        report.created += 1
        report.bytes += size
    }

    /// Notes how and where an item is now, which was found in an open folder: `known` is what the tree has, `path` is the
    /// same place as `place`.
    func observe(
        _ known: Item, _ entry: DiskEntry, in folder: any DiskFolder, at place: Place, path: String
    ) throws {
        guard var local = known.local else { return }
        var item = known
        let look = local.look
        let isMoved = local.place != place
        local.place = place
        if isMoved { report.moved += 1 }
        if item.isFolder {
            // A folder's times change with what is in it, and say nothing.
            if look?.handle != entry.look.handle { local.look = entry.look }
        } else {
            local.look = entry.look
            local.size = entry.look.fingerprint.size
            let isSame =
                Self.isSameContent(look, entry.look, isMoved: isMoved)
                || Self.isReadAgain(entry, in: folder, look, local.hash, isMoved: isMoved)
            if isSame {
                // A rename stamps the file anew, but a write would have changed the time of the content, too.
                if isMoved, look?.isRacy == false { local.look?.isRacy = false }
            } else {
                local.hash = nil
                report.edited += 1
                report.bytes += local.size
                item.isFrozen = false
            }
        }
        if !item.isFolder, problems.has(path) { item.isFrozen = false }
        item.local = local
        if item == known { return }
        try save(item, isNews: isMoved || item.isFrozen != known.isFrozen || !item.isSettled)
    }

    /// Whether what was read when a file looked one way is what is in it now that it looks another.
    private static func isSameContent(_ old: DiskLook?, _ new: DiskLook, isMoved: Bool) -> Bool {
        // A write right after a racy look leaves no trace. The doubt stays as long as the look is racy, and then ends.
        guard let old, !old.isRacy || new.isRacy else { return false }
        return looksSame(old, new, isMoved: isMoved)
    }

    private static func looksSame(_ old: DiskLook, _ new: DiskLook, isMoved: Bool) -> Bool {
        guard old.handle == new.handle else { return false }
        if isMoved { return new.fingerprint.isSameContent(as: old.fingerprint) }
        return new.fingerprint.isUntouched(since: old.fingerprint)
    }

    /// Whether a small file that was read right after a change has the same content now that a write would show, so that
    /// nothing need be decided about it.
    private static func isReadAgain(
        _ entry: DiskEntry, in folder: any DiskFolder, _ old: DiskLook?, _ hash: ContentHash?, isMoved: Bool
    ) -> Bool {
        guard let old, let hash, old.isRacy, !entry.look.isRacy, looksSame(old, entry.look, isMoved: isMoved),
            entry.look.fingerprint.size <= SyncBatch.maximumInlineBytes, let file = try? folder.open(entry.name),
            !file.isBeingWritten,
            let bytes = try? file.bytes(limit: Int(entry.look.fingerprint.size) + 1),
            ContentHasher.hash(bytes) == hash, let after = try? file.look()
        else { return false }
        return after.handle == entry.look.handle && after.fingerprint.isUntouched(since: entry.look.fingerprint)
    }

    /// Whether a folder is another's, or above it.
    func isAbove(_ folder: ItemID, _ other: ItemID) throws -> Bool {
        if folder == other { return true }
        guard let chain = try LocalPath.chain(of: other, in: store) else { return true }
        return chain.contains { $0.item == folder }
    }

    /// Takes along what is known by path of an item that is about to be moved.
    func noteMove(_ item: Item, to path: String) throws {
        if let folder = item.local?.place.parent { vanished[folder]?[item.id] = nil }
        guard item.isFolder else { return }
        if problems.count > 0, let old = try LocalPath.path(of: item.id, in: store) {
            try problems.move(old, to: path)
        }
        walk.forget()
    }

    /// Notes that a folder is listed anew: what had vanished from it is looked for again.
    func noteListed(_ folder: ItemID) { vanished[folder] = nil }

    /// Notes that an item is not where the tree has it.
    func noteVanished(_ item: Item) {
        guard let place = item.local?.place else { return }
        vanished[place.parent, default: [:]][item.id] = place
    }

    /// Takes an item out of the tree of the disk, with all that is in it.
    func drop(_ id: ItemID) throws {
        guard var item = try store.item(id), item.local != nil else { return }
        if item.isFolder {
            for inner in try store.children(of: id, on: .local) { try drop(inner.id) }
            try store.setSeal(nil, of: id)
        }
        item.local = nil
        item.isFrozen = false
        report.deleted += 1
        try save(item)
    }

    /// Leaves an item out from now on, with all that is in it: it is neither there nor deleted.
    func exclude(_ id: ItemID) throws {
        try store.editing { editor in try editor.exclude(id) }
        writes += 1
        report.hasChanges = true
    }
}
