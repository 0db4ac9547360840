import ByteClubCore

extension Scanner {
    /// Scans single files of which somebody says that they were just saved, and reads small ones for their senders.
    ///
    /// So a note need not wait for a scan of all that is beside it. The folder's own scan is still to come; here, only
    /// what leaves no doubt is taken in.
    ///
    /// - Returns: The items that something is to be decided about, and the folders that need a scan of their own before
    ///   anything is.
    func scanFiles(_ closed: ClosedFiles, _ reader: FileReader) throws -> (ready: Set<ItemID>, rescans: Set<ItemID>) {
        var ready: Set<ItemID> = []
        var rescans: Set<ItemID> = []
        try store.transaction(durably: false) {
            let pass = try ScanPass(self)
            for (folder, names) in closed.sorted(by: { $0.key < $1.key }) {
                let isClear = try scan(names.sorted(), in: folder, pass, reader, &ready)
                if !isClear { rescans.insert(folder) }
            }
        }
        return (ready, rescans)
    }

    /// False when a scan of the whole folder has to tell.
    private func scan(
        _ names: [String], in id: ItemID, _ pass: ScanPass, _ reader: FileReader, _ ready: inout Set<ItemID>
    ) throws -> Bool {
        guard let found = try pass.walk.verified(id), found.item == id,
            let path = try LocalPath.path(of: id, in: store), !pass.problems.has(path)
        else { return false }
        for name in names {
            // What is gone was deleted or moved, and only the folder's scan tells.
            guard let entry = try? found.folder.entry(name) else { continue }
            guard let item = try take(entry, in: found.folder, at: Place(id, EntryName(name)), path, pass) else {
                return false
            }
            if item == .root { continue }
            try read(item, in: found.folder, reader)
            if try store.item(item)?.isSettled == false { ready.insert(item) }
        }
        if pass.writes > 0 { try store.setSeal(nil, of: id) }
        return true
    }

    /// Reads a small file whose content is not known, so that it can be decided about and sent at once.
    private func read(_ id: ItemID, in folder: any DiskFolder, _ reader: FileReader) throws {
        guard let local = try store.item(id)?.local, local.hash == nil,
            let content = reader.contentNow(id, local, in: folder), let look = content.local.look
        else { return }
        try store.editing { editor in try editor.read(id, content.hash, look) }
    }

    /// Takes in a file that the tree has under the same name, or that nobody knows; nil for anything else.
    ///
    /// - Returns: The item, or the root for what is kept out.
    private func take(
        _ entry: DiskEntry, in folder: any DiskFolder, at place: Place, _ folderPath: String, _ pass: ScanPass
    ) throws -> ItemID? {
        guard entry.kind == .file, entry.isDecodable else { return nil }
        let path = LocalPath.join(folderPath, entry.name)
        let key = PathKey(folded: "/" + PathKey.fold(path))
        switch rules.verdict(entry, key: key, depth: folderPath.isEmpty ? 0 : folderPath.utf8.count + 1) {
        case .included: break
        case .excluded: return .root
        case .problem: return nil
        }
        if pass.problems.has(path) { return nil }
        let namesakes = try store.children(of: place.parent, key: place.name.key, on: .local)
        guard let known = namesakes.first else {
            guard try store.items(handle: entry.look.handle).isEmpty else { return nil }
            let id = try store.newItem()
            try pass.create(id, entry, at: place)
            return id
        }
        guard namesakes.count == 1, !known.isFolder, !known.isFrozen, !known.isExcluded, known.local?.place == place
        else { return nil }
        if known.local?.look?.handle != entry.look.handle, try !store.items(handle: entry.look.handle).isEmpty {
            return nil
        }
        try pass.observe(known, entry, in: folder, at: place, path: path)
        return known.id
    }
}
