import ByteClubCore

extension ScanPass {
    /// Moves vanished items to where they were found, and removes the others from the local tree.
    ///
    /// To be called in a transaction.
    func settle(_ gone: [ItemID], _ relocations: Relocations) throws {
        if problems.count > 0 {
            for id in gone {
                if let path = try LocalPath.path(of: id, in: store) { try problems.move(path, to: nil) }
            }
        }
        try store.editing { editor in
            for old in relocations.vanished {
                guard let new = relocations.target[old] else { continue }
                try relocate(old, to: new, relocations.contents[new], &editor)
            }
        }
        if !relocations.target.isEmpty { walk.forget() }
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
            // The next scan notices what is gone again.
            if let folder = try? walk.folder(id) { scanner.watch(folder, id, true) }
        }
    }
}
