import ByteClubCore

/// Compares a folder's listing with what the tree has in it, and says which entry is which item.
///
/// The same name with the same file is the same item. A file that nobody knew, under a known name, is that name's item
/// with new content: so editors save. A file that is known from another place, and is no longer there, has been moved.
/// Everything else is new.
struct FolderMatch {
    private let pass: ScanPass
    private let visit: ScanPass.Visit
    private let folder: any DiskFolder
    private let entries: [DiskEntry]
    /// What the tree has here and no entry has been found for.
    private var missing: [EntryName: Item] = [:]
    /// Items under a name that another one has, too: one of them has vanished and another kind of entry taken its place.
    private var doubles: [Item] = []
    /// What cannot be synced: the name, if it is one, and why.
    private var troubles: [(name: EntryName?, path: String, message: String)] = []
    private var folders: [SealedFolder] = []
    private var isSettled = true

    private var store: any TreeStore { pass.store }

    init(_ pass: ScanPass, _ visit: ScanPass.Visit, _ folder: any DiskFolder, _ entries: [DiskEntry]) throws {
        self.pass = pass
        self.visit = visit
        self.folder = folder
        self.entries = entries
        for item in try pass.store.children(of: visit.item, on: .local) {
            guard let name = item.local?.place.name else { continue }
            if let other = missing.updateValue(item, forKey: name) { doubles.append(other) }
        }
    }

    /// An entry that may become part of the tree.
    private struct Candidate {
        let entry: DiskEntry
        let name: EntryName
        var isFolder: Bool { entry.kind == .folder }
    }

    /// Brings the tree up to date; tells which folders are in this one, and whether nothing is left open about it.
    consuming func run() throws -> (folders: [SealedFolder], isSettled: Bool) {
        pass.noteListed(visit.item)
        var strangers: [Candidate] = []
        for candidate in try included() {
            if let item = takeSame(candidate) {
                try keep(item, candidate, isNew: false)
            } else {
                strangers.append(candidate)
            }
        }
        if !strangers.isEmpty {
            let origin = OriginFinder(pass.walk, store, folder: visit.item, entries)
            var newcomers: [Candidate] = []
            for stranger in strangers where try !settle(stranger, origin) { newcomers.append(stranger) }
            for newcomer in newcomers { try add(newcomer) }
        }
        try noteTroubles()
        for item in (missing.values + doubles).sorted(by: { $0.id < $1.id }) {
            isSettled = false
            pass.noteVanished(item)
        }
        return (folders.sorted { $0.item < $1.item }, isSettled)
    }

    /// Takes the item that is this very file under this very name.
    private mutating func takeSame(_ candidate: Candidate) -> Item? {
        let isSame = { (item: Item) in
            item.isFolder == candidate.isFolder && item.local?.look?.handle == candidate.entry.look.handle
                && item.local?.place.name == candidate.name
        }
        if let item = missing[candidate.name], isSame(item) {
            missing[candidate.name] = nil
            return item
        }
        return doubles.firstIndex(where: isSame).map { doubles.remove(at: $0) }
    }

    /// Notes what is wrong with entries, and leaves alone the items that they stand in for.
    private mutating func noteTroubles() throws {
        // Whether a folder can be listed is found out when it is looked at.
        var paths = Set(folders.map { LocalPath.join(visit.path, $0.name) })
        for trouble in troubles {
            paths.insert(trouble.path)
            let item = trouble.name.flatMap { missing.removeValue(forKey: $0) }
            try pass.problems.set(trouble.path, item?.id, trouble.message)
            if var item, !item.isFrozen {
                item.isFrozen = true
                try pass.save(item)
            }
        }
        try pass.problems.keepOnly(paths, in: visit.path)
    }

    /// The entries that the rules let in; notes what is wrong with others.
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
                if let item = missing.removeValue(forKey: name) { try pass.exclude(item.id) }
                if pass.scanner.rules.ignored.ignores(key, isFolder: entry.kind == .folder) { ignored += 1 }
            case .problem(let message):
                let path = LocalPath.join(visit.path, entry.name)
                troubles.append((entry.isDecodable ? name : nil, path, message))
            }
        }
        pass.ignored.note(ignored, in: visit.item)
        return result
    }

    /// Finds the item of an entry that is not the file which the tree has under its name; false when there is none.
    private mutating func settle(_ stranger: Candidate, _ origin: OriginFinder) throws -> Bool {
        let owner = missing[stranger.name].flatMap { $0.isFolder == stranger.isFolder ? $0 : nil }
        let mover: Item?
        do {
            mover = try origin.origin(of: stranger.entry, owner: owner)
        } catch is FileError {
            // Nobody can tell what it is: the next scan asks again.
            isSettled = false
            pass.report.isComplete = false
            pass.report.isUnsure = true
            return true
        }
        if let mover {
            if mover.isFolder, try pass.isAbove(mover.id, visit.item) {
                // The tree is out of date further up: the next scan sees it from there.
                isSettled = false
                pass.report.isComplete = false
                return true
            }
            if let place = mover.local?.place, place.parent == visit.item { release(mover.id, place.name) }
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

    /// Notes how an item looks now.
    private mutating func keep(_ item: Item, _ candidate: Candidate, isNew: Bool) throws {
        let path = LocalPath.join(visit.path, candidate.entry.name)
        try pass.observe(
            item, candidate.entry, in: folder, at: Place(visit.item, candidate.name), path: path)
        enter(item.id, candidate, isNew: isNew)
    }

    private mutating func add(_ candidate: Candidate) throws {
        let id = try store.newItem()
        try pass.create(id, candidate.entry, at: Place(visit.item, candidate.name))
        enter(id, candidate, isNew: true)
    }

    /// Has a folder looked at, when it is new here or the whole tree is.
    private mutating func enter(_ item: ItemID, _ candidate: Candidate, isNew: Bool) {
        guard candidate.isFolder else { return }
        let name = candidate.entry.name
        folders.append(SealedFolder(item: item, name: name))
        guard isNew || visit.descends else { return }
        pass.push(
            item, path: LocalPath.join(visit.path, name), in: folder, name: name, descends: true, isNew: isNew)
    }
}
