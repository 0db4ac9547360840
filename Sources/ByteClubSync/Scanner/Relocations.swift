import ByteClubCore

/// Finds out which entries that have vanished are among the new ones, by what is in them: a tree that was copied before
/// its original was deleted, brought from another file system, or unpacked elsewhere.
///
/// A file is another one moved when both have the same content, and the same name or folder, and no third file is like
/// them. A folder is another one moved when at least half of what was in that has come into it, and into no other as
/// much. What then has the same name in both is the same.
final class Relocations {
    /// The most entries on either side, beyond which nothing is looked for.
    private static let maximumEntries = 200_000
    /// The most bytes that are read for it in one scan.
    private static let maximumBytes: Int64 = 2 << 30

    private let store: any TreeStore
    private let scanner: Scanner
    /// What has vanished with all that was in it, folders first.
    private(set) var vanished: [ItemID] = []
    /// What of it both sides knew, by its identity.
    private var origins: [ItemID: LooseEntry] = [:]
    private var inner: [ItemID: [ItemID]] = [:]
    /// For each new entry that is a vanished one, which.
    private var origin: [ItemID: ItemID] = [:]
    /// For each vanished entry that has been found, the new one.
    private(set) var target: [ItemID: ItemID] = [:]
    /// What has been read of new files.
    private(set) var contents: [ItemID: (hash: ContentHash, look: DiskLook)] = [:]

    /// Takes what has vanished, the topmost entries only, from a look at everything that came to its end.
    init(_ scanner: Scanner, _ gone: [ItemID]) throws {
        self.scanner = scanner
        store = scanner.store
        try gather(gone)
        guard !origins.isEmpty, vanished.count <= Self.maximumEntries else { return }
        try matchFiles()
        for folder in vanished.reversed() where origins[folder]?.isFolder == true { try vote(folder) }
        for folder in vanished where target[folder] != nil && origins[folder]?.isFolder == true {
            try matchNames(folder)
        }
    }

    private func gather(_ gone: [ItemID]) throws {
        vanished = gone
        var next = 0
        while next < vanished.count {
            let id = vanished[next]
            next += 1
            guard let item = try store.item(id), let local = item.local else { continue }
            if item.remote != nil || item.synced != nil, !item.isFrozen {
                origins[id] = LooseEntry(id, local)
                inner[local.place.parent, default: []].append(id)
            }
            if local.isFolder { vanished += try store.children(of: id, on: .local).map(\.id) }
        }
    }

    // MARK: Files

    private func matchFiles() throws {
        let old = vanished.compactMap { origins[$0] }.filter { !$0.isFolder && $0.hash != nil }
        var sizes = LooseSizes()
        for file in old { sizes.add(file) }
        let new = try read(newFiles(sizes))
        if new.isEmpty { return }
        var (olds, news) = (LooseFiles(), LooseFiles())
        for file in old { olds.add(file) }
        for file in new { news.add(file) }
        for file in new {
            guard let id = olds.only(for: file), let known = origins[id], news.only(for: known) == file.id else {
                continue
            }
            pair(id, file.id)
        }
    }

    /// The new files that may be vanished ones, in the order of their identities.
    private func newFiles(_ sizes: LooseSizes) throws -> [LooseEntry] {
        let gone = Set(vanished)
        var found: [LooseEntry] = []
        var chunks = UnsettledChunks(store, of: 4_096)
        while found.count <= Self.maximumEntries {
            guard let chunk = try chunks.next() else { return found }
            for item in chunk {
                guard let local = Self.novelty(item), !local.isFolder, !gone.contains(item.id) else { continue }
                let file = LooseEntry(item.id, local)
                if sizes.mayHave(file) { found.append(file) }
            }
        }
        return []
    }

    /// What the disk has of an entry of which the server was never told.
    private static func novelty(_ item: Item) -> LocalState? {
        guard let local = item.local, item.remote == nil, item.synced == nil, item.sent == nil, item.lastNode == nil,
            !item.isFrozen, !item.isExcluded, !local.isLeftover
        else { return nil }
        return local
    }

    /// Reads files as long as that is not too much; those that cannot be read now are left out.
    private func read(_ files: [LooseEntry]) throws -> [LooseEntry] {
        var rest = Self.maximumBytes
        var known: [LooseEntry] = []
        for var file in files {
            rest -= file.size
            if rest < 0 { break }
            guard case .content(let hash, let look) = try scanner.readHash(of: file.id),
                try store.item(file.id)?.local?.look?.handle == look.handle
            else { continue }
            contents[file.id] = (hash, look)
            file.hash = hash
            known.append(file)
        }
        return known
    }

    // MARK: Folders

    /// Looks for the new folder into which at least half of what was in a vanished one has come.
    private func vote(_ folder: ItemID) throws {
        var children = Set(inner[folder] ?? [])
        for item in try store.children(of: folder, on: .remote) where item.synced?.place.parent == folder {
            children.insert(item.id)
        }
        var votes: [ItemID: Int] = [:]
        for child in children { if let now = try home(of: child) { votes[now, default: 0] += 1 } }
        guard let most = votes.values.max(), 2 * most >= children.count else { return }
        let best = votes.filter { $0.value == most }.keys
        guard best.count == 1, let new = best.first, let item = try store.item(new), origins[new] == nil,
            Self.novelty(item)?.isFolder == true
        else { return }
        if let rival = origin[new] {
            guard most > claims[new] ?? 0 else { return }
            target[rival] = nil
        }
        claims[new] = most
        pair(folder, new)
    }

    /// How many entries have come into a new folder from the one that it was.
    private var claims: [ItemID: Int] = [:]

    /// The folder in which something is now that was in a vanished one; nil when nobody knows.
    private func home(of id: ItemID) throws -> ItemID? {
        if origins[id] != nil {
            return try target[id].flatMap { try store.item($0)?.local?.place.parent }
        }
        return try store.item(id)?.local?.place.parent
    }

    /// Takes what has the same name in a folder that was moved for the same.
    private func matchNames(_ folder: ItemID) throws {
        guard let new = target[folder] else { return }
        var old: [EntryName: LooseEntry] = [:]
        for id in inner[folder] ?? [] where target[id] == nil {
            if let entry = origins[id] { old[entry.place.name] = entry }
        }
        for item in try store.children(of: new, on: .local) where origin[item.id] == nil {
            guard let local = Self.novelty(item), let known = old[local.place.name], known.isFolder == local.isFolder
            else { continue }
            pair(known.id, item.id)
        }
    }

    private func pair(_ old: ItemID, _ new: ItemID) {
        target[old] = new
        origin[new] = old
    }
}
