import ByteClubCore
import Glibc

/// One pass over the folders of a scope, parents first.
final class ScanPass {
    /// A folder to scan.
    struct Visit {
        let item: ItemID
        /// Relative to the mirror's root.
        let path: String
        let key: PathKey
        /// The folder that contains it and its name there; nil for one with which the scan begins.
        let entry: (folder: ItemID, name: String)?
        /// Whether its subfolders are scanned as well, even with an unchanged fingerprint.
        let descends: Bool
        /// Whether it may be another folder than at the last scan.
        let isNew: Bool
    }

    let scanner: Scanner
    let store: any TreeStore
    let handles: FolderHandles
    let problems: ScanProblems
    /// Synced entries that are where they are not synced.
    let moves: UnsyncedMoves
    /// The number of ignored entries by folder.
    var ignored: IgnoredOnDisk
    var report = ScanReport()
    /// The items that were not found where the tree has them, with that location, by folder.
    var vanished: [ItemID: [ItemID: Location]] = [:]
    var writes = 0
    private var pending: [Visit] = []
    /// How many folders with known listings are fingerprinted at once.
    private static let fingerprintsAtOnce = 32

    init(_ scanner: Scanner, after earlier: ScanPass? = nil) throws {
        self.scanner = scanner
        store = scanner.store
        handles = FolderHandles(root: scanner.root, tree: scanner.store)
        if let earlier {
            (moves, problems, ignored, report) = (earlier.moves, earlier.problems, earlier.ignored, earlier.report)
            (report.racyFolders, report.isComplete) = ([], true)
        } else {
            let known = try scanner.store.problems()
            moves = try UnsyncedMoves(scanner, among: known)
            problems = ScanProblems(scanner.store, known, besides: moves)
            ignored = try IgnoredOnDisk(scanner.store)
        }
    }

    var isUnfinished: Bool { !pending.isEmpty }

    /// The items that vanished in both passes, in the order of their identities.
    func missing(like other: ScanPass? = nil) -> [ItemID] {
        vanished.flatMap { folder, items in
            items.filter { other == nil || other?.vanished[folder]?[$0.key] == $0.value }.map(\.key)
        }.sorted()
    }

    func result(vanished: [ItemID]) -> ScanReport {
        var report = report
        report.vanished = vanished
        report.problems = problems.count + moves.count
        if problems.hasChanged || moves.hasChanged { report.hasChanges = true }
        return report
    }

    /// A scope with the folders from which something has vanished.
    func widened(_ scope: ScanScope) -> ScanScope {
        guard case .folders(let folders) = scope else { return scope }
        return .folders(folders.union(vanished.keys))
    }

    /// Enqueues the folders of a scope.
    func start(_ scope: ScanScope) throws {
        switch scope {
        case .everything: push(.root, path: "", nil, descends: true, isNew: false)
        case .folders(let folders):
            var reached: Set<ItemID> = []
            for folder in folders.sorted(by: >) {
                guard let found = try handles.reach(folder), reached.insert(found.item).inserted else { continue }
                let path = try store.localPath(of: found.item) ?? ""
                push(found.item, path: path, nil, descends: false, isNew: false)
            }
        }
    }

    /// Scans folders until enough has been written for one transaction.
    func advance() throws {
        writes = 0
        let known = ignored
        while writes < Scanner.batchSize, !pending.isEmpty { try scanNext() }
        if ignored != known { try ignored.save(in: store) }
    }

    func push(
        _ item: ItemID, path: String, _ entry: (folder: ItemID, name: String)?, descends: Bool, isNew: Bool
    ) {
        pending.append(
            Visit(
                item: item, path: path, key: path.isEmpty ? .root : PathKey(folded: "/" + PathKey.fold(path)),
                entry: entry, descends: descends, isNew: isNew))
    }

    /// Scans several folders that have known listings, or one that has none.
    private func scanNext() throws {
        var stored: [(visit: Visit, folder: any DiskFolder, known: KnownListing)] = []
        while stored.count < Self.fingerprintsAtOnce, let visit = pending.popLast() {
            guard let known = try store.listing(of: visit.item) else {
                if stored.isEmpty {
                    return try trying(visit) { try list(visit, open(visit, isNew: true), known: nil) }
                }
                pending.append(visit)
                break
            }
            try trying(visit) { try stored.append((visit, open(visit, isNew: visit.isNew), known)) }
        }
        let fingerprints = scanner.root.listingFingerprints(of: stored.map(\.folder))
        for (index, fingerprint) in fingerprints.enumerated() {
            let (visit, folder, known) = stored[index]
            if writes >= Scanner.batchSize {
                pending += stored[index...].reversed().map(\.visit)
                return
            }
            try trying(visit) {
                let fingerprint = try fingerprint.get()
                if fingerprint.high == known.high, fingerprint.low == known.low, !fingerprint.isRacy {
                    report.folders += 1
                    if visit.descends { descend(visit, known.folders) }
                } else {
                    try list(visit, folder, known: known)
                }
            }
        }
    }

    /// Opens a folder and has it watched; without a known listing, it may be another one than was watched before.
    ///
    /// Visits that are pending have nothing open: there may be as many as folders.
    private func open(_ visit: Visit, isNew: Bool) throws -> any DiskFolder {
        let folder: any DiskFolder
        if let entry = visit.entry {
            folder = try handles.folder(entry.folder).folder(entry.name)
            handles.keep(folder, visit.item)
        } else {
            folder = try handles.folder(visit.item)
        }
        scanner.watch(folder, visit.item, isNew)
        return folder
    }

    /// Does a part of a folder's scan, and handles what the disk refuses.
    private func trying(_ visit: Visit, _ part: () throws -> Void) throws {
        do {
            try part()
        } catch let error as FileError {
            report.isComplete = false
            if visit.item == .root { throw error }
            if error.isMissing {
                // It was there a moment ago; the next scan of the parent decides.
                if let location = try store.item(visit.item)?.local?.location {
                    report.racyFolders.insert(location.parent)
                }
            } else {
                try freeze(visit, "the folder cannot be read: \(error.reason)")
            }
        }
    }

    private func list(_ visit: Visit, _ folder: any DiskFolder, known: KnownListing?) throws {
        report.folders += 1
        let (entries, fingerprint) = try folder.fingerprintedList()
        report.listed += 1
        if try isMirror(visit, folder, entries) { return try freeze(visit, ScanProblems.ownMirror) }
        try thaw(visit)
        let match = try FolderMatch(self, visit, folder, entries)
        let (folders, isSettled) = try match.run()
        let kept =
            isSettled && !fingerprint.isRacy
            ? KnownListing(high: fingerprint.high, low: fingerprint.low, folders: folders) : nil
        if kept == nil { report.racyFolders.insert(visit.item) }
        if kept != known {
            try store.setListing(kept, of: visit.item)
            writes += 1
        }
    }

    /// Whether a folder is the root of a mirror of its own, as one is that was moved here.
    ///
    /// A marker that the server has as well was downloaded, and proves nothing about this disk.
    private func isMirror(_ visit: Visit, _ folder: any DiskFolder, _ entries: [DiskEntry]) throws -> Bool {
        let name = ControlDirectory.name
        guard visit.item != .root, entries.contains(where: { $0.name == name }) else { return false }
        return try ControlDirectory.marker(in: folder) != nil
            && store.children(of: visit.item, key: name, on: .remote).isEmpty
    }

    private func descend(_ visit: Visit, _ folders: [ListedFolder]) {
        for inner in folders.reversed() {
            push(
                inner.item, path: LocalPath.join(visit.path, inner.name), (visit.item, inner.name), descends: true,
                isNew: false)
        }
    }

    /// Freezes a folder that cannot or must not be listed, with all that is in it.
    private func freeze(_ visit: Visit, _ message: String) throws {
        try problems.set(visit.path, visit.item, message)
        // Without a known listing, it is listed again, and unfrozen, as soon as it can be read, wherever it is by then.
        try store.setListing(nil, of: visit.item)
        guard let item = try store.item(visit.item), !item.isFrozen else { return }
        report.isUnsure = true
        try setFrozen(item, true)
    }

    private func thaw(_ visit: Visit) throws {
        try problems.clear(visit.path)
        guard let item = try store.item(visit.item), item.isFrozen else { return }
        try problems.clear(of: item.id)
        try setFrozen(item, false)
    }

    /// Freezes or thaws an item; returns the item as it is now.
    @discardableResult
    func setFrozen(_ item: Item, _ isFrozen: Bool) throws -> Item {
        try editing { editor in try editor.setFrozen(item, isFrozen) }
    }

    /// Changes an item by which it or others may have become unsettled.
    func editing<Result>(_ body: (inout TreeEditor) throws -> Result) throws -> Result {
        writes += 1
        report.hasChanges = true
        return try store.editing(body)
    }
}
