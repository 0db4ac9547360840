import ByteClubCore
import Glibc

/// One look at the folders of a scope, parents first.
final class ScanPass {
    /// A folder to look at.
    struct Visit {
        let item: ItemID
        /// Relative to the mirror's root.
        let path: String
        let key: PathKey
        /// The folder above and the name in it, or the folder itself.
        let above: any DiskFolder
        let name: String?
        /// Whether the folders in it are looked at as well, whatever its seal says.
        let descends: Bool
        /// Whether it may be another folder than at the last scan.
        let isNew: Bool
    }

    let scanner: Scanner
    let store: any TreeStore
    let walk: FolderWalk
    let problems: ScanProblems
    /// What the ignore rules leave out, by the folders.
    var ignored: IgnoredOnDisk
    var report = ScanReport()
    /// What was not found where the tree has it, with that place, by the folder.
    var vanished: [ItemID: [ItemID: Place]] = [:]
    var writes = 0
    private var pending: [Visit] = []
    /// How many folders that have seals are looked at side by side.
    private static let sealedAtOnce = 32

    init(_ scanner: Scanner, after earlier: ScanPass? = nil) throws {
        self.scanner = scanner
        store = scanner.store
        walk = FolderWalk(root: scanner.root, tree: scanner.store)
        problems = try earlier?.problems ?? ScanProblems(scanner.store)
        ignored = try earlier?.ignored ?? IgnoredOnDisk(scanner.store)
        if let earlier {
            report = earlier.report
            report.restless = []
            report.isComplete = true
        }
    }

    var isUnfinished: Bool { !pending.isEmpty }

    /// What has vanished and was not where another pass missed it either, in the order of the identities.
    func missing(like other: ScanPass? = nil) -> [ItemID] {
        vanished.flatMap { folder, items in
            items.filter { other == nil || other?.vanished[folder]?[$0.key] == $0.value }.map(\.key)
        }.sorted()
    }

    func result(vanished: [ItemID]) -> ScanReport {
        var report = report
        report.vanished = vanished
        report.problems = problems.count
        if problems.hasChanged { report.hasChanges = true }
        return report
    }

    /// A scope with the folders from which something has vanished.
    func widened(_ scope: ScanScope) -> ScanScope {
        guard case .folders(let folders) = scope else { return scope }
        return .folders(folders.union(vanished.keys))
    }

    /// Notes which folders are to be looked at.
    func start(_ scope: ScanScope) throws {
        switch scope {
        case .everything: push(.root, path: "", in: scanner.root, name: nil, descends: true, isNew: false)
        case .folders(let folders):
            var reached: Set<ItemID> = []
            for folder in folders.sorted(by: >) {
                guard let found = try walk.verified(folder), reached.insert(found.item).inserted else { continue }
                let path = try LocalPath.path(of: found.item, in: store) ?? ""
                push(found.item, path: path, in: found.folder, name: nil, descends: false, isNew: false)
            }
        }
    }

    /// Looks at folders until enough has been written for one transaction.
    func advance() throws {
        writes = 0
        let known = ignored
        while writes < Scanner.batchSize, !pending.isEmpty { try lookAtNext() }
        if ignored != known { try ignored.save(in: store) }
    }

    func push(
        _ item: ItemID, path: String, in above: any DiskFolder, name: String?, descends: Bool, isNew: Bool
    ) {
        pending.append(
            Visit(
                item: item, path: path, key: path.isEmpty ? .root : PathKey(folded: "/" + PathKey.fold(path)),
                above: above, name: name, descends: descends, isNew: isNew))
    }

    /// Looks at several folders that have seals, or at one that has none.
    private func lookAtNext() throws {
        var sealed: [(visit: Visit, folder: any DiskFolder, known: FolderSeal)] = []
        while sealed.count < Self.sealedAtOnce, let visit = pending.popLast() {
            guard let known = try store.seal(of: visit.item) else {
                if sealed.isEmpty { return try trying(visit) { try list(visit, open(visit), known: nil) } }
                pending.append(visit)
                break
            }
            try trying(visit) { try sealed.append((visit, open(visit), known)) }
        }
        let seals = scanner.root.seals(of: sealed.map(\.folder))
        for (index, seal) in seals.enumerated() {
            let (visit, folder, known) = sealed[index]
            if writes >= Scanner.batchSize {
                pending += sealed[index...].reversed().map(\.visit)
                return
            }
            try trying(visit) {
                let seal = try seal.get()
                if seal.high == known.high, seal.low == known.low, !seal.isRacy {
                    report.folders += 1
                    if visit.descends { descend(visit, folder, known.folders) }
                } else {
                    try list(visit, folder, known: known)
                }
            }
        }
    }

    private func open(_ visit: Visit) throws(FileError) -> any DiskFolder {
        let folder = try visit.name.map { name throws(FileError) in try visit.above.folder(name) } ?? visit.above
        scanner.watch(folder, visit.item, visit.isNew)
        return folder
    }

    /// Does a part of a look at a folder, and notes what the disk refuses.
    private func trying(_ visit: Visit, _ part: () throws -> Void) throws {
        do {
            try part()
        } catch let error as FileError {
            report.isComplete = false
            if visit.item == .root { throw error }
            if error.isMissing {
                // It was there a moment ago; the next look at the folder above tells.
                if let place = try store.item(visit.item)?.local?.place { report.restless.insert(place.parent) }
            } else {
                try freeze(visit, error)
            }
        }
    }

    private func list(_ visit: Visit, _ folder: any DiskFolder, known: FolderSeal?) throws {
        report.folders += 1
        let (entries, seal) = try folder.sealedList()
        report.listed += 1
        try thaw(visit)
        let match = try FolderMatch(self, visit, folder, entries)
        let (folders, isSettled) = try match.run()
        let kept =
            isSettled && !seal.isRacy ? FolderSeal(high: seal.high, low: seal.low, folders: folders) : nil
        if kept == nil { report.restless.insert(visit.item) }
        if kept != known {
            try store.setSeal(kept, of: visit.item)
            writes += 1
        }
    }

    private func descend(_ visit: Visit, _ folder: any DiskFolder, _ folders: [SealedFolder]) {
        for inner in folders.reversed() {
            push(
                inner.item, path: LocalPath.join(visit.path, inner.name), in: folder, name: inner.name, descends: true,
                isNew: false)
        }
    }

    /// Leaves a folder alone that cannot be listed, with all that is in it.
    private func freeze(_ visit: Visit, _ error: FileError) throws {
        try problems.set(visit.path, visit.item, "the folder cannot be read: \(error.reason)")
        // Without a seal, it is listed and found to be well when it can be read again, wherever it is by then.
        try store.setSeal(nil, of: visit.item)
        guard var item = try store.item(visit.item), !item.isFrozen else { return }
        report.isUnsure = true
        item.isFrozen = true
        try save(item)
    }

    private func thaw(_ visit: Visit) throws {
        try problems.clear(visit.path)
        guard var item = try store.item(visit.item), item.isFrozen else { return }
        try problems.clear(of: item.id)
        item.isFrozen = false
        try save(item)
    }

    /// Keeps an item; with `isNews`, something may have to be decided about it or others.
    func save(_ item: Item, isNews: Bool = true) throws {
        try store.save(item)
        writes += 1
        if isNews { report.hasChanges = true }
    }
}
