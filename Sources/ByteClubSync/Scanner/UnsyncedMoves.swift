import ByteClubCore

/// Synced entries that were renamed on disk to a name, or moved into a folder, that is not synced.
///
/// The trees alone would show deletions, which no user wanted. So each entry stays in the tree at its old place,
/// frozen, and the problem of a scan names both places. That ends when the entry is at a synced name again, when it no
/// longer exists, and when a person has decided about it as about any held deletion.
final class UnsyncedMoves {
    /// The most entries that are looked at in one search.
    private static let maximumEntries = 200_000

    private let scanner: Scanner
    /// The problems, by the bytes of the paths at which the entries are now.
    private var byPath: [[UInt8]: ProblemRecord]
    /// The frozen items.
    private var items: Set<ItemID>
    /// Whether any was added or removed.
    private(set) var hasChanged = false

    private var store: any TreeStore { scanner.store }

    /// Loads the moves among the problems in the database.
    init(_ scanner: Scanner, among problems: [ProblemRecord]) throws {
        self.scanner = scanner
        let known = try scanner.store.unsyncedMoves(among: problems)
        byPath = Dictionary(known.map { (Array($0.path.utf8), $0) }, uniquingKeysWith: { first, _ in first })
        items = Set(known.compactMap(\.item))
    }

    var count: Int { byPath.count }

    /// Whether one of them is at a path now.
    func has(_ path: String) -> Bool { !byPath.isEmpty && byPath[Array(path.utf8)] != nil }

    /// Whether an item is one of them.
    func holds(_ item: ItemID) -> Bool { items.contains(item) }

    // MARK: Their end

    /// Notes that an entry is at a place where it is synced; returns its item as it is then.
    func found(_ item: Item, _ pass: ScanPass) throws -> Item {
        guard items.remove(item.id) != nil else { return item }
        for (path, record) in byPath where record.item == item.id {
            byPath[path] = nil
            try store.setProblem(nil, path: record.path)
        }
        hasChanged = true
        return try pass.setFrozen(item, false)
    }

    /// Lets those go that are not where they were, or whose place is synced by now; to be called in a transaction.
    ///
    /// When deletions are approved whatever they are, all go.
    func review(_ pass: ScanPass) throws {
        for record in byPath.values.sorted(by: { $0.path < $1.path }) {
            if try scanner.approvesDeletions || !isThere(record) { try release(record, pass) }
        }
    }

    /// Has the scan look for an entry as for any other that is not where the tree has it.
    private func release(_ record: ProblemRecord, _ pass: ScanPass) throws {
        byPath[Array(record.path.utf8)] = nil
        hasChanged = true
        try store.setProblem(nil, path: record.path)
        // The entry at the old place may be reported again.
        for folder in try store.items(at: LocalPath.split(record.path).parent) {
            try store.setListing(nil, of: folder.id)
        }
        guard let id = record.item, !byPath.values.contains(where: { $0.item == id }) else { return }
        items.remove(id)
        guard let item = try store.item(id), let local = item.local else { return }
        try pass.setFrozen(item, false)
        try store.setListing(nil, of: local.location.parent)
        pass.noteVanished(item)
    }

    private func isThere(_ record: ProblemRecord) throws -> Bool {
        let (parent, name) = LocalPath.split(record.path)
        do {
            let folder = try scanner.root.folder(below: parent)
            if let entry = try folder.entry(name), try isPart(entry, of: record.item) {
                return !isSynced(entry, at: record.path)
            }
            // A name that is not UTF-8 is found by the handle alone.
            guard name.unicodeScalars.contains("\u{FFFD}") else { return false }
            return try folder.list().contains { try !$0.isDecodable && isPart($0, of: record.item) }
        } catch let error as FileError {
            // What cannot be looked at may be there.
            return !error.isMissing
        }
    }

    /// Whether an entry is an item's, or was in its folder.
    private func isPart(_ entry: DiskEntry, of item: ItemID?) throws -> Bool {
        try store.items(handle: entry.stat.handle).contains { known in
            try store.localChain(of: known.id)?.contains { $0.item == item } ?? false
        }
    }

    private func isSynced(_ entry: DiskEntry, at path: String) -> Bool {
        guard entry.isDecodable, let key = try? RemotePath("/" + path).key else { return false }
        if case .other = entry.kind { return false }
        return !scanner.rules.excludes(key, isFolder: entry.kind == .folder)
    }

    // MARK: Their beginning

    /// Looks for vanished entries, given by their topmost ones, among unsynced entries, and freezes those that are
    /// there; to be called in a transaction.
    ///
    /// - Returns: Which these are, of the topmost ones.
    func hold(_ gone: [ItemID], _ pass: ScanPass) throws -> Set<ItemID> {
        if scanner.approvesDeletions { return [] }
        var search = try Search(gone, in: store)
        if search.isOver { return [] }
        for folder in try folders(besides: gone, pass.ignored) where !search.isOver {
            // Of a folder that cannot be read, nothing is known.
            try? look(in: folder, &search)
        }
        for find in search.found { try hold(find, pass) }
        return Set(search.found.map(\.item))
    }

    /// The folders of the tree in which something may be that is not synced: whose entries have vanished, with problems,
    /// with ignored entries, and above folders that are left out.
    private func folders(besides gone: [ItemID], _ ignored: IgnoredOnDisk) throws -> [String] {
        var folders: Set<ItemID> = ignored.folders
        for id in gone { if let parent = try store.item(id)?.local?.location.parent { folders.insert(parent) } }
        var paths = Set(try folders.compactMap { try store.localPath(of: $0) })
        for problem in try store.problems() where problem.isFromScan {
            paths.insert(LocalPath.split(problem.path).parent)
        }
        for key in scanner.rules.deselected {
            let parent = String(LocalPath.split(key.string).parent.dropFirst())
            for item in try store.items(at: parent) {
                if let path = try store.localPath(of: item.id) { paths.insert(path) }
            }
        }
        return paths.sorted()
    }

    /// Searches the unsynced entries in a folder of the tree, at any depth.
    private func look(in path: String, _ search: inout Search) throws(FileError) {
        var left = try unsynced(in: scanner.root.folder(below: path), path, isInTree: true, &search)
        while let (folder, name, path) = left.popLast(), !search.isOver {
            guard let inner = try? folder.folder(name) else { continue }
            left += (try? unsynced(in: inner, path, isInTree: false, &search)) ?? []
        }
    }

    /// Compares the unsynced entries of a folder with the wanted ones; returns those that are folders.
    private func unsynced(
        in folder: any DiskFolder, _ path: String, isInTree: Bool, _ search: inout Search
    ) throws(FileError) -> [(folder: any DiskFolder, name: String, path: String)] {
        var folders: [(folder: any DiskFolder, name: String, path: String)] = []
        for entry in try folder.list() {
            let place = LocalPath.join(path, entry.name)
            if isInTree, isSynced(entry, at: place) || entry.name == MirrorDirectory.privateName { continue }
            search.left -= 1
            if search.take(entry, at: place, isInTree ? reason(entry, at: place) : "its folder is not synced") {
                continue
            }
            if entry.kind == .folder, entry.isDecodable { folders.append((folder, entry.name, place)) }
        }
        return folders
    }

    private func reason(_ entry: DiskEntry, at path: String) -> String {
        let key = PathKey(folded: "/" + PathKey.fold(path))
        switch scanner.rules.verdict(entry, key: key, depth: path.utf8.count - entry.name.utf8.count) {
        case .problem(let message): return message
        case .excluded, .included: return "it is excluded here"
        }
    }

    private func hold(_ find: Search.Find, _ pass: ScanPass) throws {
        guard let item = try store.item(find.item) else { return }
        var path = find.path
        // Names that are not UTF-8 may look alike.
        while has(path) { path += "\u{FFFD}" }
        let old = try store.localPath(of: find.part) ?? ""
        let problem = ProblemRecord(
            path: path, item: item.id,
            message: "\(find.reason): the former '\(old)' stays on the server until it has a synced name again, "
                + "or you decide with 'byteclub sync deletes review'",
            isFromScan: true)
        // A scan of its folder has reported that this name is not synced.
        if pass.problems.has(path) { try pass.problems.clear(path) }
        try store.setProblem(problem, path: path)
        byPath[Array(path.utf8)] = problem
        items.insert(item.id)
        hasChanged = true
        try pass.setFrozen(item, true)
    }

    /// A search for vanished entries by their handles.
    private struct Search {
        /// An entry that was found.
        struct Find {
            /// The topmost vanished item.
            let item: ItemID
            /// The item that was found, which was in that one or is it.
            let part: ItemID
            let path: String
            let reason: String
        }

        private var wanted: [FileHandle: (top: ItemID, item: ItemID, isFolder: Bool)] = [:]
        /// How many entries may still be looked at.
        var left = UnsyncedMoves.maximumEntries
        private(set) var found: [Find] = []

        /// Looks for vanished entries that the server may have, and for those in them.
        init(_ gone: [ItemID], in store: any TreeStore) throws {
            var rest = gone.map { (top: $0, item: $0) }
            while let (top, id) = rest.popLast() {
                guard let item = try store.item(id), let local = item.local else { continue }
                if item.isFolder { rest += try store.children(of: id, on: .local).map { (top, $0.id) } }
                guard item.remote != nil || item.synced != nil, let handle = local.stat?.handle else { continue }
                wanted[handle] = (top, id, item.isFolder)
            }
        }

        var isOver: Bool { wanted.isEmpty || left <= 0 }

        /// Records an entry if it is a wanted one.
        mutating func take(_ entry: DiskEntry, at path: String, _ reason: @autoclosure () -> String) -> Bool {
            guard let (top, item, isFolder) = wanted[entry.stat.handle], isFolder == (entry.kind == .folder),
                !TemporaryFiles.isDeleted(entry.name)
            else { return false }
            wanted[entry.stat.handle] = nil
            found.append(Find(item: top, part: item, path: path, reason: reason()))
            return true
        }
    }
}

extension TreeStore {
    /// The problems of synced entries that are where they are not synced: each has the frozen item, and as its path the
    /// place on disk, which is not the tree's.
    func unsyncedMoves(among known: [ProblemRecord]? = nil) throws -> [ProblemRecord] {
        try (known ?? problems()).filter { problem in
            guard problem.isFromScan, let id = problem.item, try item(id)?.isFrozen == true else { return false }
            return try localPath(of: id).map { !$0.utf8.elementsEqual(problem.path.utf8) } ?? false
        }
    }

    /// The deletions that such entries would be, for the guard that holds them.
    func unsyncedDeletions() throws -> [PlannedOperation] {
        Set(try unsyncedMoves().compactMap(\.item)).sorted().map { .server($0, .delete) }
    }

    /// Treats an entry at an unsynced name as deleted, since a person has decided so.
    func letGo(_ id: ItemID) throws {
        for var problem in try unsyncedMoves() where problem.item == id {
            // The next scan reports the problem of the name alone.
            problem.item = nil
            try setProblem(problem, path: problem.path)
            let folders = try items(at: LocalPath.split(problem.path).parent)
            try editing { editor in for folder in folders { try editor.invalidate(folder.id) } }
        }
        _ = try editing { editor in try editor.lost(id) }
    }
}
