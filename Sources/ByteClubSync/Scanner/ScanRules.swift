import ByteClubCore

/// Which entries of the disk are part of the mirror.
struct ScanRules: Sendable, Equatable {
    /// Whether an entry is synced.
    enum Verdict: Hashable, Sendable {
        /// It is part of the tree.
        case included
        /// It is ignored by a rule or deselected.
        case excluded
        /// It cannot be synced; the line has the reason.
        case problem(String)
    }

    /// The rules of the mirror's ignore file.
    var ignored = IgnoreRules()
    /// The keys of the deselected folders.
    var deselected: Set<PathKey> = []

    /// Whether an entry or a folder above it is excluded; the key is relative to the mirror's root.
    func excludes(_ key: PathKey, isFolder: Bool) -> Bool {
        if ignored.excludes(key, isFolder: isFolder) { return true }
        return deselected.contains { key == $0 ? isFolder : key.isBelow($0) }
    }

    /// Classifies an entry by its path as a key; `depth` is the length in bytes of its folder's path on the server.
    func verdict(_ entry: DiskEntry, key: PathKey, depth: Int) -> Verdict {
        guard entry.isDecodable else { return .problem("the name is not UTF-8") }
        let isFolder = entry.kind == .folder
        if excludes(key, isFolder: isFolder) { return .excluded }
        if case .other(let what) = entry.kind { return .problem("\(what) is not synced") }
        do {
            let checked = try RemotePath.root.appending(entry.name)
            if depth + checked.string.utf8.count > NameRules.maximumPathBytes {
                return .problem("the path is longer than \(NameRules.maximumPathBytes) bytes")
            }
        } catch {
            return .problem(error.message)
        }
        return .included
    }
}

/// Applies changed rules to both trees: newly excluded entries are neither present nor deleted, and entries that are
/// included again are as the server has them.
///
/// All known listings are dropped, so that the next full scan finds newly included entries on disk.
struct ExclusionPass {
    let store: any TreeStore
    let rules: ScanRules

    /// Applies the rules to all entries; to be called in a transaction.
    func run() throws {
        try store.setListing(nil, of: .root)
        try visit(.root, .root, .local)
        try visit(.root, .root, .remote)
    }

    /// Applies the rules to the server's entries in a folder that has moved.
    func run(below folder: ItemID, _ key: PathKey) throws { try visit(folder, key, .remote) }

    /// How many synced entries the rules would exclude; changes nothing.
    func losses(in folder: ItemID = .root, _ key: PathKey = .root) throws -> Int {
        try store.children(of: folder, on: .local).reduce(0) { count, item in
            guard let location = item.local?.location, !item.isExcluded else { return count }
            let key = key.appending(location.name.key)
            if rules.excludes(key, isFolder: item.isFolder) { return try count + syncedCount(item) }
            return try item.isFolder ? count + losses(in: item.id, key) : count
        }
    }

    private func syncedCount(_ item: Item) throws -> Int {
        let own = item.synced == nil ? 0 : 1
        if !item.isFolder { return own }
        return try store.children(of: item.id, on: .local).reduce(own) { try $0 + syncedCount($1) }
    }

    private func visit(_ folder: ItemID, _ key: PathKey, _ side: Side) throws {
        for item in try store.children(of: folder, on: side) {
            guard let location = item.location(on: side), !item.isOutside else { continue }
            let key = key.appending(location.name.key)
            if rules.excludes(key, isFolder: item.isFolder) {
                if !item.isExcluded { try store.editing { editor in try editor.exclude(item.id) } }
                continue
            }
            if item.isExcluded { try store.editing { editor in try editor.include(item) } }
            guard item.isFolder else { continue }
            try store.setListing(nil, of: item.id)
            try visit(item.id, key, side)
        }
    }
}

/// The number of ignored entries in each folder on disk; ignored folders are not scanned.
struct IgnoredOnDisk: Hashable, Sendable {
    /// How many of a folder's entries are ignored.
    struct Count: Hashable, Sendable {
        let folder: ItemID
        let count: Int64
    }

    private var counts: [ItemID: Int64] = [:]

    /// Reads it from the database.
    init(_ store: some TreeStore) throws {
        counts = Dictionary(
            try store.records(Count.self).map { ($0.folder, $0.count) }, uniquingKeysWith: { $1 })
    }

    /// Saves it in the database.
    func save(in store: some TreeStore) throws {
        try store.replace(counts.sorted { $0.key < $1.key }.map { Count(folder: $0.key, count: $0.value) })
    }

    /// Notes what a listing of a folder has shown.
    mutating func note(_ count: Int, in folder: ItemID) { counts[folder] = count == 0 ? nil : Int64(count) }

    /// The folders that have some.
    var folders: Set<ItemID> { Set(counts.keys) }

    /// How many there are in the folders that are still there.
    func total(in view: some TreeView) throws -> Int {
        Int(try counts.reduce(0) { try $0 + (view.item($1.key)?.local == nil ? 0 : $1.value) })
    }
}
