import ByteClubCore

/// Files that were just saved or moved somewhere: names on disk, by the folder.
typealias SavedFiles = [ItemID: Set<String>]

extension Scanner {
    /// Looks at single files of which somebody says that they were just saved.
    ///
    /// So a note need not wait for a look at all that is beside it. The folder's own look is still to come; here, only
    /// what leaves no doubt is taken in.
    ///
    /// - Returns: The folders that need a look of their own before anything is decided.
    func glance(at saved: SavedFiles) throws -> Set<ItemID> {
        if saved.isEmpty { return [] }
        var doubtful: Set<ItemID> = []
        try store.transaction(durably: false) {
            let pass = try ScanPass(self)
            for (folder, names) in saved.sorted(by: { $0.key < $1.key }) {
                let isClear = try glance(at: names.sorted(), in: folder, pass)
                if !isClear { doubtful.insert(folder) }
            }
        }
        return doubtful
    }

    /// False when a look at the whole folder has to tell.
    private func glance(at names: [String], in id: ItemID, _ pass: ScanPass) throws -> Bool {
        guard let found = try pass.walk.verified(id), found.item == id,
            let path = try LocalPath.path(of: id, in: store), !pass.problems.has(path)
        else { return false }
        for name in names {
            // What is gone was deleted or moved, and only the folder's look tells.
            guard let entry = try? found.folder.entry(name) else { continue }
            let isClear = try take(entry, at: Place(id, EntryName(name)), in: path, pass)
            if !isClear { return false }
        }
        try store.setSeal(nil, of: id)
        return true
    }

    /// Takes in a file that the tree has under the same name, or that nobody knows; false for anything else.
    private func take(_ entry: DiskEntry, at place: Place, in folder: String, _ pass: ScanPass) throws -> Bool {
        guard entry.kind == .file, entry.isDecodable else { return false }
        let path = LocalPath.join(folder, entry.name)
        let key = PathKey(folded: "/" + PathKey.fold(path))
        switch rules.verdict(entry, key: key, depth: folder.isEmpty ? 0 : folder.utf8.count + 1) {
        case .included: break
        case .excluded: return true
        case .problem: return false
        }
        if pass.problems.has(path) { return false }
        let namesakes = try store.children(of: place.parent, key: place.name.key, on: .local)
        guard let known = namesakes.first else {
            guard try store.items(handle: entry.look.handle).isEmpty else { return false }
            try pass.create(store.newItem(), entry, at: place)
            return true
        }
        guard namesakes.count == 1, !known.isFolder, !known.isFrozen, !known.isExcluded, known.local?.place == place
        else { return false }
        if known.local?.look?.handle != entry.look.handle, try !store.items(handle: entry.look.handle).isEmpty {
            return false
        }
        try pass.observe(known, entry, at: place, path: path)
        return true
    }
}
