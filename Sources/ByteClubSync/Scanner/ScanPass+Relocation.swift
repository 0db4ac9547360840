import ByteClubCore

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
        for old in relocations.vanished {
            guard let new = relocations.target[old] else { continue }
            try relocate(old, to: new, relocations.contents[new])
        }
        if !relocations.target.isEmpty { handles.forgetAll() }
        for id in relocations.vanished where relocations.target[id] == nil { try drop(id) }
    }

    /// Gives a vanished item the place in the tree of the new item that it is.
    private func relocate(_ id: ItemID, to new: ItemID, _ content: (hash: ContentHash, stat: FileStat)?) throws {
        guard var item = try store.item(id), var other = try store.item(new), var local = other.local else { return }
        if local.isFolder {
            for var child in try store.children(of: new, on: .local) {
                child.local?.location.parent = id
                try save(child)
            }
            try store.setListing(nil, of: id)
            report.racyFolders.insert(id)
        } else if let content, content.stat.handle == local.stat?.handle {
            (local.hash, local.size, local.stat) = (content.hash, content.stat.fingerprint.size, content.stat)
        }
        // A known listing names the items in its folder.
        try store.setListing(nil, of: local.location.parent)
        other.local = nil
        try save(other)
        item.local = local
        item.isFrozen = false
        try save(item)
        report.moved += 1
    }

    /// Watches folders that are others on disk than before.
    func watch(_ items: [ItemID]) throws {
        for id in items where try store.item(id)?.isFolder == true {
            // The next scan notices what is gone again.
            if let folder = try? handles.folder(id) { scanner.watch(folder, id, true) }
        }
    }
}
