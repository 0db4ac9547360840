public import ByteClubCore

/// Reverts local changes that the server does not have: edited and new entries are moved to the trash, renamed ones
/// back, and the next sync downloads the missing ones.
///
/// The merge base of an entry is forgotten before its file is touched, so that after a crash nothing looks as if it had
/// been deleted here.
struct LocalReversal {
    /// A change of an item.
    struct Step {
        let item: ItemID
        let change: LocalChange
    }

    let context: SyncContext
    private var store: any TreeStore { context.store }

    /// The changes at a path and below it, as the last scan has found them, in the order of their paths.
    func steps(below path: String, _ reader: FileReader) throws -> [Step] {
        var steps: [Step] = []
        var report = SyncReport()
        var chunks = UnsettledChunks(store, of: 4_096)
        while let chunk = try chunks.next() {
            for item in chunk {
                if item.local != nil, !item.isFolder, item.local?.hash == nil { _ = try reader.hash(item.id, &report) }
                guard let item = try store.item(item.id), try isDecided(item), let kind = item.localChange else {
                    continue
                }
                // What cannot be read may be as it was.
                if kind == .edited, item.local?.hash == nil { continue }
                let here = try store.shownPath(of: item.id)
                let there = item.remote == nil ? here : try store.path(of: item.id, on: .remote)
                guard LocalPath.isWithin(here, path) || LocalPath.isWithin(there, path) else { continue }
                let from = here.utf8.elementsEqual(there.utf8) ? nil : there
                steps.append(
                    Step(
                        item: item.id,
                        change: LocalChange(path: here, kind: kind, isFolder: item.isFolder, from: from)))
            }
        }
        return steps.sorted { $0.change.path < $1.change.path }
    }

    /// Whether neither the item nor a folder above it is left out or cannot be read.
    private func isDecided(_ item: Item) throws -> Bool {
        try store.lineage(of: item).allSatisfy { !$0.isExcluded && !$0.isFrozen }
    }

    /// Reverts changes.
    ///
    /// - Throws: ``FileError`` and the store's errors; the changes reverted so far stay reverted.
    func run(_ steps: [Step], _ local: LocalReplica) throws {
        var report = SyncReport()
        try moveBack(steps.filter { $0.change.kind == .moved }.map(\.item), local.mover, &report)
        try store.edit(durably: true) { editor in
            for step in steps where step.change.kind != .new {
                // An entry that was moved back with its folder needs no step.
                if try step.change.kind == .moved && store.item(step.item)?.isMovedLocally == false { continue }
                _ = try editor.forgetBase(step.item)
            }
        }
        for step in steps where try step.change.kind == .edited && isOtherContent(step.item) {
            try trash(step.item, local.trash, &report)
        }
        let new = Set(steps.lazy.filter { $0.change.kind == .new }.map(\.item))
        for id in new.sorted() where try store.item(id)?.local.map({ !new.contains($0.location.parent) }) ?? false {
            try remove(id, new, local.trash, &report)
        }
        try store.transaction(durably: true) {
            for step in steps { try store.setProblem(nil, path: step.change.path) }
            let items = Set(steps.map(\.item))
            try store.setAll(try store.heldDeletions().filter { !items.contains($0.item) })
        }
    }

    /// Whether a file has another content than on the server, and not only another executable bit.
    private func isOtherContent(_ id: ItemID) throws -> Bool {
        try store.item(id).map { $0.local?.hash == nil || $0.local?.hash != $0.remote?.hash } ?? false
    }

    /// Moves entries to where the server has them as far as they can be; the next sync moves the others.
    private func moveBack(_ items: [ItemID], _ mover: Mover, _ report: inout SyncReport) throws {
        var rest = items
        var isProgress = true
        while isProgress, !rest.isEmpty {
            let count = rest.count
            rest = try rest.filter { id in
                guard let item = try store.item(id), let target = item.remote?.location, let base = item.synced else {
                    return false
                }
                let isThere = try target.parent == .root || store.item(target.parent)?.local != nil
                if isThere {
                    // The disk may spell the name otherwise than the server.
                    let name = base.location.isSameKey(as: target) ? base.location.name : target.name
                    try mover.move(id, to: Location(target.parent, name), &report)
                }
                return try store.item(id)?.isMovedLocally ?? false
            }
            isProgress = rest.count < count
        }
    }

    /// Moves an entry with all that is in it to the trash.
    private func trash(_ id: ItemID, _ trash: TrashCan, _ report: inout SyncReport) throws {
        guard let item = try store.item(id), let local = item.local else { return }
        let name = local.location.name.text
        let path = try store.path(of: id, on: .local)
        if let folder = try context.handles.folder(local.location.parent, &report), try folder.entry(name) != nil {
            try trash.take(name, from: folder, as: path)
            try folder.sync()
        }
        context.handles.forgetAll()
        try store.edit(durably: false) { editor in
            for inner in try items(in: id) { try editor.trashed(inner) }
            try context.log(.deleteLocal, path, "reverted; it is in the trash")
        }
    }

    /// Moves a new entry to the trash; a folder in which something of the server's is stays for that alone.
    private func remove(_ id: ItemID, _ new: Set<ItemID>, _ trash: TrashCan, _ report: inout SyncReport) throws {
        if try items(in: id).allSatisfy(new.contains) { return try self.trash(id, trash, &report) }
        for child in try store.children(of: id, on: .local) where new.contains(child.id) {
            try remove(child.id, new, trash, &report)
        }
        try store.edit(durably: false) { editor in try editor.leftOver(id) }
    }

    /// An item after all that is in it on disk.
    private func items(in top: ItemID) throws -> [ItemID] {
        var found: [ItemID] = []
        var rest = [top]
        while let id = rest.popLast() {
            found.append(id)
            rest += try store.children(of: id, on: .local).map(\.id)
        }
        return found.reversed()
    }
}

extension Item {
    /// The kind of local change that the server does not have; nil without one.
    fileprivate var localChange: LocalChange.Kind? {
        if remote?.isUnverified == true { return nil }
        switch (local, remote, synced) {
        case (nil, .some, .some): return .deleted
        case (let local?, nil, nil): return local.isLeftover ? nil : .new
        // The server has deleted an entry that is no longer as it was.
        case (.some, nil, .some): return isEditedLocally || isMovedLocally ? .new : nil
        case (let local?, let remote?, _):
            if !local.isFolder, local.hash == nil || local.hash != remote.hash, synced == nil || isEditedLocally {
                return .edited
            }
            if differsInExecutable, wantedExecutable == local.stat?.isExecutable { return .edited }
            return isMovedLocally && !TemporaryName.isName(local.location.name, of: id) ? .moved : nil
        default: return nil
        }
    }
}

extension SyncEngine {
    /// Reverts the changes in the mirror, at a path and below it, that the server does not have.
    ///
    /// Edited and new entries are moved to the mirror's trash, and renamed ones get their names back; the next sync
    /// downloads entries that were edited or deleted here. The server is not contacted. In a dry run nothing is
    /// changed, and a sync may run.
    ///
    /// - Returns: The changes, in the order of their paths.
    /// - Throws: ``SyncError`` with the code `alreadyRunning` while a sync of the mirror runs, `io` when the disk refuses.
    public static func revert(
        _ path: String, of configuration: SyncConfiguration, isDryRun: Bool
    ) throws(SyncError) -> [LocalChange] {
        try SyncError.wrapped {
            if isDryRun { return try takeBack(path, configuration, isDryRun: true) }
            guard let lock = try MirrorLock(in: configuration.stateDirectory) else {
                let advice = MirrorLock.advice(
                    in: configuration.stateDirectory, then: ", and restart it afterwards")
                throw SyncError(.alreadyRunning, "a sync of '\(configuration.directory)' is running\(advice)")
            }
            let changes = try takeBack(path, configuration, isDryRun: false)
            if !lock.wasUnclean { lock.markClean() }
            return changes
        }
    }

    private static func takeBack(
        _ path: String, _ configuration: SyncConfiguration, isDryRun: Bool
    ) throws -> [LocalChange] {
        let environment = try SyncEnvironment(configuration, onCopy: isDryRun)
        let store = try environment.openStore()
        defer { try? store.close() }
        // Before a whole pass over the server's state all looks as if it had been made here.
        guard try store.meta(.cursor) != nil, try store.meta(.isSweepPending) == nil else {
            throw SyncError(
                .configuration,
                "'\(configuration.directory)' has not been compared with the server yet; let a sync finish first")
        }
        let root = try MirrorRoot(configuration, environment, store, isDryRun: isDryRun)
        let context = SyncContext(configuration, environment, store: store, root: root.folder, isWatching: false)
        let scanner = Scanner(root: root.folder, store: store)
        let reversal = LocalReversal(context: context)
        var report = SyncReport()
        let local = isDryRun ? nil : LocalReplica(context, try ControlDirectory(in: root.folder), scanner)
        try local?.recover(besides: [], &report)
        var deletions = DeletionGuard(configuration.deleteGuard, approvesAll: false)
        _ = try (local?.scope ?? SyncScope(context, scanner)).reload(&deletions, &report)
        _ = try scanner.scan(.everything, confirmsDeletions: true)
        let steps = try reversal.steps(below: path, FileReader(context, scanner))
        if let local { try reversal.run(steps, local) }
        // Everything in a new folder is moved with it.
        let new = Set(steps.lazy.filter { $0.change.kind == .new }.map(\.change.path))
        return steps.map(\.change).filter { $0.kind != .new || !new.contains(LocalPath.split($0.path).parent) }
    }
}
