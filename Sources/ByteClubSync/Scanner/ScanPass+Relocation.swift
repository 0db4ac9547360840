import ByteClubCore

extension ScanPass {
    /// Gives vanished entries the places in which they were found, and takes the others out of the tree of the disk.
    ///
    /// To be called in a transaction.
    func settle(_ gone: [ItemID], _ relocations: Relocations) throws {
        if problems.count > 0 {
            for id in gone {
                if let path = try LocalPath.path(of: id, in: store) { try problems.move(path, to: nil) }
            }
        }
        for old in relocations.vanished {
            guard let new = relocations.target[old] else { continue }
            try relocate(old, to: new, relocations.contents[new])
        }
        if !relocations.target.isEmpty { walk.forget() }
        for id in relocations.vanished where relocations.target[id] == nil { try drop(id) }
    }

    /// Makes a vanished item the one that was taken for new, with all that is in it on disk.
    private func relocate(_ id: ItemID, to new: ItemID, _ content: (hash: ContentHash, look: DiskLook)?) throws {
        guard var item = try store.item(id), var other = try store.item(new), var local = other.local else { return }
        if local.isFolder {
            for var child in try store.children(of: new, on: .local) {
                child.local?.place.parent = id
                try save(child)
            }
            try store.setSeal(nil, of: id)
            report.restless.insert(id)
        } else if let content, content.look.handle == local.look?.handle {
            (local.hash, local.size, local.look) = (content.hash, content.look.fingerprint.size, content.look)
        }
        // Seals name the items in their folders.
        try store.setSeal(nil, of: local.place.parent)
        other.local = nil
        try save(other)
        item.local = local
        item.isFrozen = false
        try save(item)
        report.moved += 1
    }

    /// Has folders watched that are other ones on disk than before.
    func watch(_ items: [ItemID]) throws {
        for id in items where try store.item(id)?.isFolder == true {
            // What is gone again is told by the next look.
            if let folder = try? walk.folder(id) { scanner.watch(folder, id, true) }
        }
    }
}
