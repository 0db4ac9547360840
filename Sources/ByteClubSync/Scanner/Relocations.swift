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
        for folder in vanished.reversed() where origins[folder]?.local.isFolder == true { try vote(folder) }
        for folder in vanished where target[folder] != nil && origins[folder]?.local.isFolder == true {
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
                origins[id] = LooseEntry(id: id, local: local)
                inner[local.location.parent, default: []].append(id)
            }
            if local.isFolder { vanished += try store.children(of: id, on: .local).map(\.id) }
        }
    }

    // MARK: Files

    private func matchFiles() throws {
        let old = vanished.compactMap { origins[$0] }.filter { !$0.local.isFolder && $0.local.hash != nil }
        var sizes = LooseFiles<Int64>()
        for file in old { sizes.add(file, file.local.size) }
        let new = try read(newFiles(sizes))
        if new.isEmpty { return }
        var (olds, news) = (LooseFiles<ContentHash?>(), LooseFiles<ContentHash?>())
        for file in old { olds.add(file, file.local.hash) }
        for file in new { news.add(file, file.local.hash) }
        for file in new {
            guard let id = olds.only(for: file, file.local.hash), let known = origins[id],
                news.only(for: known, known.local.hash) == file.id
            else { continue }
            pair(id, file.id)
        }
    }

    /// The new files that may be vanished ones, in the order of their identities.
    private func newFiles(_ sizes: LooseFiles<Int64>) throws -> [LooseEntry] {
        let gone = Set(vanished)
        var found: [LooseEntry] = []
        var chunks = UnsettledChunks(store, of: 4_096)
        while found.count <= Self.maximumEntries {
            guard let chunk = try chunks.next() else { return found }
            for item in chunk {
                guard let local = Self.novelty(item), !local.isFolder, !gone.contains(item.id) else { continue }
                let file = LooseEntry(id: item.id, local: local)
                if sizes.contains(file, file.local.size) { found.append(file) }
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
            rest -= file.local.size
            if rest < 0 { break }
            guard case .content(let hash, let stat) = try scanner.readHash(of: file.id),
                try store.item(file.id)?.local?.stat?.handle == stat.handle
            else { continue }
            contents[file.id] = (hash, stat)
            file.local.hash = hash
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
            if let entry = origins[id] { old[entry.local.location.name] = entry }
        }
        for item in try store.children(of: new, on: .local) where origin[item.id] == nil {
            guard let local = Self.novelty(item), let known = old[local.location.name],
                known.local.isFolder == local.isFolder
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
    var local: LocalState
}

/// An index of files by a value, such as the content's hash, together with the name, and together with the folder.
struct LooseFiles<Value: Hashable> {
    private enum Key: Hashable {
        case name(EntryName, Value)
        case folder(ItemID, Value)
    }

    /// Nil for several files.
    private var files: [Key: ItemID?] = [:]

    private static func keys(of file: LooseEntry, _ value: Value) -> [Key] {
        [.name(file.local.location.name, value), .folder(file.local.location.parent, value)]
    }

    mutating func add(_ file: LooseEntry, _ value: Value) {
        for key in Self.keys(of: file, value) {
            files[key] = files.keys.contains(key) ? .some(nil) : .some(file.id)
        }
    }

    /// Whether a file has the value together with the name or the folder of this one.
    func contains(_ file: LooseEntry, _ value: Value) -> Bool {
        Self.keys(of: file, value).contains { files.keys.contains($0) }
    }

    /// The only file that can be the other end of this one's move; nil when there is none, or several.
    func only(for file: LooseEntry, _ value: Value) -> ItemID? {
        let found = Self.keys(of: file, value).compactMap { files[$0] }
        guard let id = found.first ?? nil, found.allSatisfy({ $0 == id }) else { return nil }
        return id
    }
}
