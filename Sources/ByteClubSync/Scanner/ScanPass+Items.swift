import ByteClubCore

/// What a pass records about single items.
extension ScanPass {
    /// Records a new entry.
    func create(_ id: ItemID, _ entry: DiskEntry, at location: Location) throws {
        let isFolder = entry.kind == .folder
        let size = isFolder ? 0 : entry.stat.fingerprint.size
        let local = LocalState(location: location, isFolder: isFolder, size: size, stat: entry.stat)
        try editing { editor in try editor.found(id, local) }
        report.created += 1
    }

    /// Records the current state of an item that was found in an open folder: `known` is the tree's.
    ///
    /// A file that is found at a synced name is not frozen any more. A folder stays so until it has been listed.
    func observe(_ known: Item, _ entry: DiskEntry, in folder: any DiskFolder, at location: Location) throws {
        guard var local = known.local else { return }
        let isFrozen = known.isFolder && known.isFrozen
        let stat = local.stat
        let isMoved = local.location != location
        local.location = location
        if isMoved { report.moved += 1 }
        if known.isFolder {
            // A folder's times change with its contents and do not matter.
            if stat?.handle != entry.stat.handle { local.stat = entry.stat }
        } else {
            local.stat = entry.stat
            local.size = entry.stat.fingerprint.size
            let isSame =
                Self.isSameContent(stat, entry.stat, isMoved: isMoved)
                || Self.isReadAgain(entry, in: folder, stat, local.hash, isMoved: isMoved)
            if isSame {
                // A rename sets the change time, but a write would have set the modification time, too.
                if isMoved, stat?.isRacy == false { local.stat?.isRacy = false }
            } else {
                local.hash = nil
                report.edited += 1
            }
        }
        if local == known.local, isFrozen == known.isFrozen { return }
        let item = try store.editing { editor in try editor.observeLocal(known, as: local, isFrozen: isFrozen) }
        writes += 1
        if isMoved || isFrozen != known.isFrozen || !item.isSettled { report.hasChanges = true }
    }

    /// Whether the content that was read with the old stat is still the file's, by the new one.
    private static func isSameContent(_ old: FileStat?, _ new: FileStat, isMoved: Bool) -> Bool {
        // A write right after a racy stat leaves no trace, so the file is read again once its stat is no longer racy.
        guard let old, !old.isRacy || new.isRacy else { return false }
        return looksSame(old, new, isMoved: isMoved)
    }

    private static func looksSame(_ old: FileStat, _ new: FileStat, isMoved: Bool) -> Bool {
        guard old.handle == new.handle else { return false }
        if isMoved { return new.fingerprint.isSameContent(as: old.fingerprint) }
        return new.fingerprint.isUntouched(since: old.fingerprint)
    }

    /// Whether a small file that was read while its stat was racy still has the same content now that a write would
    /// show, so that it stays settled.
    private static func isReadAgain(
        _ entry: DiskEntry, in folder: any DiskFolder, _ old: FileStat?, _ hash: ContentHash?, isMoved: Bool
    ) -> Bool {
        guard let old, let hash, old.isRacy, !entry.stat.isRacy, looksSame(old, entry.stat, isMoved: isMoved),
            entry.stat.fingerprint.size <= SyncBatch.maximumInlineBytes, let file = try? folder.open(entry.name),
            !file.isBeingWritten,
            let bytes = try? file.bytes(limit: Int(entry.stat.fingerprint.size) + 1),
            ContentHasher.hash(bytes) == hash, let after = try? file.stat()
        else { return false }
        return after.handle == entry.stat.handle && after.fingerprint.isUntouched(since: entry.stat.fingerprint)
    }

    /// Whether a folder is another's, or above it.
    func isAbove(_ folder: ItemID, _ other: ItemID) throws -> Bool {
        if folder == other { return true }
        guard let chain = try store.localChain(of: other) else { return true }
        return chain.contains { $0.item == folder }
    }

    /// Moves the path-based problems of an item that is about to be moved.
    func noteMove(_ item: Item, to path: String) throws {
        if let folder = item.local?.location.parent { vanished[folder]?[item.id] = nil }
        guard item.isFolder else { return }
        if problems.count > 0, let old = try store.localPath(of: item.id) {
            try problems.move(old, to: path)
        }
        handles.forgetAll()
    }

    /// Notes that an item is not where the tree has it.
    func noteVanished(_ item: Item) {
        guard let location = item.local?.location else { return }
        vanished[location.parent, default: [:]][item.id] = location
    }

    /// Removes an item from the local tree, with all that is in it.
    func drop(_ id: ItemID) throws {
        let lost = try store.editing { editor in try editor.lost(id) }
        if lost == 0 { return }
        report.deleted += lost
        writes += lost
        report.hasChanges = true
    }
}

extension ScanPass {
    /// Moves vanished items to where they were found, and removes the others from the local tree.
    ///
    /// To be called in a transaction.
    func settle(_ gone: [ItemID], _ relocations: Relocations) throws {
        if problems.count > 0 {
            for id in gone {
                if let path = try store.localPath(of: id) { try problems.move(path, to: nil) }
            }
        }
        try store.editing { editor in
            for old in relocations.vanished {
                guard let new = relocations.target[old] else { continue }
                try relocate(old, to: new, relocations.contents[new], &editor)
            }
        }
        if !relocations.target.isEmpty { handles.forgetAll() }
        for id in relocations.vanished where relocations.target[id] == nil { try drop(id) }
    }

    /// Gives a vanished item the place in the tree of the new item that it is.
    private func relocate(
        _ id: ItemID, to new: ItemID, _ content: (hash: ContentHash, stat: FileStat)?, _ editor: inout TreeEditor
    ) throws {
        guard try store.item(id) != nil, var local = try store.item(new)?.local else { return }
        if local.isFolder {
            report.racyFolders.insert(id)
        } else if let content, content.stat.handle == local.stat?.handle {
            (local.hash, local.size, local.stat) = (content.hash, content.stat.fingerprint.size, content.stat)
        }
        try editor.relocated(id, to: new, as: local)
        writes += 1
        report.moved += 1
        report.hasChanges = true
    }

    /// Watches folders that are others on disk than before.
    func watch(_ items: [ItemID]) throws {
        for id in items where try store.item(id)?.isFolder == true {
            // The next scan notices a folder that is missing again.
            if let folder = try? handles.folder(id) { scanner.watch(folder, id, true) }
        }
    }
}
