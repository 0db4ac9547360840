import ByteClubCore

/// Detects moves by content: vanished entries that are among the new ones, as when a tree was copied and its original
/// deleted, brought from another file system, or unpacked elsewhere.
///
/// A file is a moved one when both have the same content, and the same name or folder, and no third file matches. A
/// folder is a moved one when at least half of the old one's entries are in it, and no other folder has as many.
/// Entries of the same name in both are then the same.
final class Relocations {
    /// The most entries on either side; with more, no moves are detected.
    private static let maximumEntries = 200_000
    /// The most bytes that are read for it in a scan.
    private static let maximumBytes: Int64 = 2 << 30

    private let store: any TreeStore
    private let scanner: Scanner
    /// The vanished entries with all that was in them, folders first.
    private(set) var vanished: [ItemID] = []
    /// The synced ones of them, by their items.
    private var origins: [ItemID: LooseEntry] = [:]
    private var inner: [ItemID: [ItemID]] = [:]
    /// The vanished entry of each new entry that is one.
    private var origin: [ItemID: ItemID] = [:]
    /// The new entry of each vanished entry that was found.
    private(set) var target: [ItemID: ItemID] = [:]
    /// What has been read of new files.
    private(set) var contents: [ItemID: (hash: ContentHash, stat: FileStat)] = [:]

    /// Detects moves of the vanished entries, given by their topmost ones, of a complete full scan.
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
                inner[local.location.parent, default: []].append(id)
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

    /// The local state of an entry that the server never had; nil for others.
    private static func novelty(_ item: Item) -> LocalState? {
        guard let local = item.local, item.remote == nil, item.synced == nil, item.sent == nil, item.lastNode == nil,
            !item.isFrozen, !item.isExcluded, !local.isLeftover
        else { return nil }
        return local
    }

    /// Hashes files up to the limit; those that cannot be read now are left out.
    private func read(_ files: [LooseEntry]) throws -> [LooseEntry] {
        var rest = Self.maximumBytes
        var known: [LooseEntry] = []
        for var file in files {
            rest -= file.size
            if rest < 0 { break }
            guard case .content(let hash, let stat) = try scanner.readHash(of: file.id),
                try store.item(file.id)?.local?.stat?.handle == stat.handle
            else { continue }
            contents[file.id] = (hash, stat)
            file.hash = hash
            known.append(file)
        }
        return known
    }

    // MARK: Folders

    /// Finds the new folder that has at least half of a vanished folder's entries.
    private func vote(_ folder: ItemID) throws {
        var children = Set(inner[folder] ?? [])
        for item in try store.children(of: folder, on: .remote) where item.synced?.location.parent == folder {
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

    /// The number of entries that support each match of a folder.
    private var claims: [ItemID: Int] = [:]

    /// The folder in which a vanished entry is now; nil when unknown.
    private func home(of id: ItemID) throws -> ItemID? {
        if origins[id] != nil {
            return try target[id].flatMap { try store.item($0)?.local?.location.parent }
        }
        return try store.item(id)?.local?.location.parent
    }

    /// Matches entries of the same name in a moved folder.
    private func matchNames(_ folder: ItemID) throws {
        guard let new = target[folder] else { return }
        var old: [EntryName: LooseEntry] = [:]
        for id in inner[folder] ?? [] where target[id] == nil {
            if let entry = origins[id] { old[entry.location.name] = entry }
        }
        for item in try store.children(of: new, on: .local) where origin[item.id] == nil {
            guard let local = Self.novelty(item), let known = old[local.location.name], known.isFolder == local.isFolder
            else { continue }
            pair(known.id, item.id)
        }
    }

    private func pair(_ old: ItemID, _ new: ItemID) {
        target[old] = new
        origin[new] = old
    }
}

/// A vanished or a new entry: one end of a possible move that was not observed.
struct LooseEntry {
    let id: ItemID
    let location: Location
    let isFolder: Bool
    let size: Int64
    /// A file's hash; nil when it was not read.
    var hash: ContentHash?

    init(_ id: ItemID, _ local: LocalState) {
        self.id = id
        location = local.location
        isFolder = local.isFolder
        size = local.size
        hash = local.hash
    }
}

/// An index of files by what identifies the other end of a move: the same content under the same name or in the same
/// folder.
struct LooseFiles {
    private struct Named: Hashable {
        let hash: ContentHash
        let name: EntryName
    }

    private struct Neighbour: Hashable {
        let hash: ContentHash
        let folder: ItemID
    }

    private enum Found {
        case one(ItemID)
        case several
    }

    private var byName: [Named: Found] = [:]
    private var byFolder: [Neighbour: Found] = [:]

    /// Adds a file whose content is known.
    mutating func add(_ file: LooseEntry) {
        guard let hash = file.hash else { return }
        let (named, neighbour) = (
            Named(hash: hash, name: file.location.name), Neighbour(hash: hash, folder: file.location.parent)
        )
        byName[named] = byName[named] == nil ? .one(file.id) : .several
        byFolder[neighbour] = byFolder[neighbour] == nil ? .one(file.id) : .several
    }

    /// The only file that can be the other end of a file's move; nil when there is none, or several.
    func only(for file: LooseEntry) -> ItemID? {
        guard let hash = file.hash else { return nil }
        let named = byName[Named(hash: hash, name: file.location.name)]
        let neighbour = byFolder[Neighbour(hash: hash, folder: file.location.parent)]
        switch (named, neighbour) {
        case (.one(let id), nil), (nil, .one(let id)): return id
        case (.one(let id), .one(let other)): return id == other ? id : nil
        default: return nil
        }
    }
}

/// The files that are worth reading: with the size of a vanished one, and the same name or folder.
struct LooseSizes {
    private struct Named: Hashable {
        let size: Int64
        let name: EntryName
    }

    private struct Neighbour: Hashable {
        let size: Int64
        let folder: ItemID
    }

    private var byName: Set<Named> = []
    private var byFolder: Set<Neighbour> = []

    /// Adds a vanished file whose content is known.
    mutating func add(_ file: LooseEntry) {
        byName.insert(Named(size: file.size, name: file.location.name))
        byFolder.insert(Neighbour(size: file.size, folder: file.location.parent))
    }

    /// Whether a new file may be one of the added ones.
    func mayHave(_ file: LooseEntry) -> Bool {
        byName.contains(Named(size: file.size, name: file.location.name))
            || byFolder.contains(Neighbour(size: file.size, folder: file.location.parent))
    }
}
