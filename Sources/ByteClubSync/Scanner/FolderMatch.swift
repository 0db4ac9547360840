import ByteClubCore

/// Compares a folder's listing with the tree and matches entries to items.
///
/// The same name with the same file is the same item. An unknown file under a known name is that name's item with new
/// content, as editors save. A file that is known from another location and is no longer there has been moved.
/// Everything else is new.
struct FolderMatch {
    private let pass: ScanPass
    private let visit: ScanPass.Visit
    private let folder: any DiskFolder
    private let entries: [DiskEntry]
    /// Items of this folder for which no entry has been found.
    private var missing: [EntryName: Item] = [:]
    /// Items that share a name: one has vanished and an entry of another kind has replaced it.
    private var doubles: [Item] = []
    /// Entries that cannot be synced: the name, if it is valid, and why.
    private var problems: [(name: EntryName?, path: String, message: String)] = []
    private var folders: [ListedFolder] = []
    private var isSettled = true

    private var store: any TreeStore { pass.store }

    init(_ pass: ScanPass, _ visit: ScanPass.Visit, _ folder: any DiskFolder, _ entries: [DiskEntry]) throws {
        self.pass = pass
        self.visit = visit
        self.folder = folder
        self.entries = entries
        for item in try pass.store.children(of: visit.item, on: .local) {
            guard let name = item.local?.location.name else { continue }
            if let other = missing.updateValue(item, forKey: name) { doubles.append(other) }
        }
    }

    /// An entry that may become part of the tree.
    private struct Candidate {
        let entry: DiskEntry
        let name: EntryName
        var isFolder: Bool { entry.kind == .folder }
    }

    /// Updates the tree; returns the subfolders, and whether every entry was decided.
    consuming func run() throws -> (folders: [ListedFolder], isSettled: Bool) {
        pass.vanished[visit.item] = nil
        var strangers: [Candidate] = []
        for candidate in try included() {
            if let item = takeSame(candidate) {
                try keep(item, candidate, isNew: false)
            } else {
                strangers.append(candidate)
            }
        }
        if !strangers.isEmpty {
            let origin = OriginFinder(pass.handles, store, folder: visit.item, entries)
            var newcomers: [Candidate] = []
            for stranger in strangers where try !settle(stranger, origin) { newcomers.append(stranger) }
            for newcomer in newcomers {
                let id = try store.newItem()
                try pass.create(id, newcomer.entry, at: Location(visit.item, newcomer.name))
                enter(id, newcomer, isNew: true)
            }
        }
        try noteProblems()
        for item in (missing.values + doubles).sorted(by: { $0.id < $1.id }) where !pass.moves.holds(item.id) {
            isSettled = false
            pass.noteVanished(item)
        }
        return (folders.sorted { $0.item < $1.item }, isSettled)
    }

    /// Removes and returns the item with the same file and the same name.
    private mutating func takeSame(_ candidate: Candidate) -> Item? {
        let isSame = { (item: Item) in
            item.isFolder == candidate.isFolder && item.local?.stat?.handle == candidate.entry.stat.handle
                && item.local?.location.name == candidate.name
        }
        if let item = missing[candidate.name], isSame(item) {
            missing[candidate.name] = nil
            return item
        }
        return doubles.firstIndex(where: isSame).map { doubles.remove(at: $0) }
    }

    /// Records entries that cannot be synced, and freezes the items whose names they have.
    private mutating func noteProblems() throws {
        // Whether a subfolder can be listed is found out when it is scanned.
        var paths = Set(folders.map { LocalPath.join(visit.path, $0.name) })
        for problem in problems {
            paths.insert(problem.path)
            if pass.moves.has(problem.path) { continue }
            let item = problem.name.flatMap { missing.removeValue(forKey: $0) }
            try pass.problems.set(problem.path, item?.id, problem.message)
            if let item, !item.isFrozen { try pass.setFrozen(item, true) }
        }
        try pass.problems.keepOnly(paths, in: visit.path)
    }

    /// The entries that the rules include; collects those that cannot be synced.
    private mutating func included() throws -> [Candidate] {
        var result: [Candidate] = []
        result.reserveCapacity(entries.count)
        var ignored = 0
        for entry in entries {
            let name = EntryName(entry.name)
            let key = visit.key.appending(name.key)
            switch pass.scanner.rules.verdict(
                entry, key: key, depth: visit.path.isEmpty ? 0 : visit.path.utf8.count + 1)
            {
            case .included:
                result.append(Candidate(entry: entry, name: name))
            case .excluded:
                if let item = missing.removeValue(forKey: name) { try pass.editing { try $0.exclude(item.id) } }
                if pass.scanner.rules.ignored.ignores(key, isFolder: entry.kind == .folder) { ignored += 1 }
            case .problem(let message):
                let path = LocalPath.join(visit.path, entry.name)
                problems.append((entry.isDecodable ? name : nil, path, message))
            }
        }
        pass.ignored.note(ignored, in: visit.item)
        return result
    }

    /// Finds the item of an entry that is another file than the tree has under its name; false when there is none.
    private mutating func settle(_ stranger: Candidate, _ origin: OriginFinder) throws -> Bool {
        let owner = missing[stranger.name].flatMap { $0.isFolder == stranger.isFolder ? $0 : nil }
        let mover: Item?
        do {
            mover = try origin.origin(of: stranger.entry, owner: owner)
        } catch is FileError {
            // It cannot be decided now: the next scan tries again.
            isSettled = false
            pass.report.isComplete = false
            pass.report.isUnsure = true
            return true
        }
        if let mover {
            if mover.isFolder, try pass.isAbove(mover.id, visit.item) {
                // The tree is out of date above this folder: the next scan starts from there.
                isSettled = false
                pass.report.isComplete = false
                return true
            }
            if let location = mover.local?.location, location.parent == visit.item { release(mover.id, location.name) }
            try pass.noteMove(mover, to: LocalPath.join(visit.path, stranger.entry.name))
            try keep(mover, stranger, isNew: true)
            return true
        }
        guard let owner else { return false }
        missing[stranger.name] = nil
        try keep(owner, stranger, isNew: true)
        return true
    }

    /// Notes that an entry has been found for an item that the tree has here.
    private mutating func release(_ item: ItemID, _ name: EntryName) {
        if missing[name]?.id == item { missing[name] = nil } else { doubles.removeAll { $0.id == item } }
    }

    /// Records an item's current state.
    private mutating func keep(_ item: Item, _ candidate: Candidate, isNew: Bool) throws {
        let item = try pass.moves.found(item, pass)
        try pass.observe(item, candidate.entry, in: folder, at: Location(visit.item, candidate.name))
        enter(item.id, candidate, isNew: isNew)
    }

    /// Enqueues a subfolder for scanning, when it is new here or the scan descends.
    private mutating func enter(_ item: ItemID, _ candidate: Candidate, isNew: Bool) {
        guard candidate.isFolder else { return }
        let name = candidate.entry.name
        folders.append(ListedFolder(item: item, name: name))
        guard isNew || visit.descends else { return }
        pass.push(
            item, path: LocalPath.join(visit.path, name), (visit.item, name), descends: true, isNew: isNew)
    }
}

/// Determines whether a new entry is one that the tree knows from another location.
///
/// It is, when its handle is known and the item has left the location that the tree has. A hard link has not left.
/// Neither has a file whose name is now another, unknown file's: then the item stays with the name, and the old file,
/// wherever it is, is an editor's backup.
struct OriginFinder {
    private let handles: FolderHandles
    private let store: any TreeStore
    private let folder: ItemID
    /// The current folder's listing, which is consistent, unlike another stat.
    private let here: [EntryName: DiskEntry]

    init(_ handles: FolderHandles, _ store: any TreeStore, folder: ItemID, _ entries: [DiskEntry]) {
        self.handles = handles
        self.store = store
        self.folder = folder
        here = Dictionary(
            entries.filter(\.isDecodable).map { (EntryName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The item that an entry was before; nil when it is unknown.
    ///
    /// `owner` is the item that the tree has under the entry's name, of the same kind. It yields only to an item that
    /// the server knows: what an editor wrote beside it and renamed over it is its new content.
    ///
    /// - Throws: ``FileError`` when it cannot be determined now.
    func origin(of entry: DiskEntry, owner: Item?) throws -> Item? {
        var asked: Set<ItemID> = []
        return try origin(of: entry, owner: owner, &asked)
    }

    private func origin(of entry: DiskEntry, owner: Item?, _ asked: inout Set<ItemID>) throws -> Item? {
        for item in try store.items(handle: entry.stat.handle) {
            guard let local = item.local, !item.isExcluded, item.isFolder == (entry.kind == .folder) else { continue }
            if item.id == owner?.id { continue }
            // It was found there already.
            if let owner, local.location == owner.local?.location { return item }
            if owner != nil, item.remote == nil, item.synced == nil { continue }
            if try hasLeft(item, &asked) { return item }
        }
        return nil
    }

    /// Whether an item is no longer where the tree has it.
    private func hasLeft(_ item: Item, _ asked: inout Set<ItemID>) throws -> Bool {
        // Items that were exchanged refer to each other.
        guard asked.insert(item.id).inserted, let local = item.local else { return true }
        let found: DiskEntry?
        do {
            found = try local.location.parent == folder ? here[local.location.name] : handles.entry(at: local.location)
        } catch let error as FileError {
            // Nothing is moved out of a folder that stays unreadable.
            guard try isFrozen(local.location.parent) else { throw error }
            return false
        }
        guard let found, (found.kind == .folder) == item.isFolder else { return true }
        if case .other = found.kind { return true }
        if found.stat.handle == local.stat?.handle { return false }
        return try origin(of: found, owner: item, &asked) != nil
    }

    /// Whether a folder, or one above it, was found to be unreadable.
    private func isFrozen(_ folder: ItemID) throws -> Bool {
        var next = folder
        while next != .root, let item = try store.item(next) {
            if item.isFrozen { return true }
            guard let parent = item.local?.location.parent else { return false }
            next = parent
        }
        return false
    }
}
