import ByteClubCore
import Glibc

/// Moves entries that are deleted on the server to the trash.
final class Deleter {
    private let context: SyncContext
    private let control: ControlDirectory
    private let installer: Installer
    private let trash: TrashCan
    /// Folders that were not empty although the tree has nothing in them, and were scanned for that reason.
    private var scanned: Set<ItemID> = []

    private var store: any TreeStore { context.store }

    init(_ context: SyncContext, _ control: ControlDirectory, _ installer: Installer, _ trash: TrashCan) {
        self.context = context
        self.control = control
        self.installer = installer
        self.trash = trash
    }

    /// Starts a new pass: entries that blocked folders before may no longer exist.
    func begin() { scanned = [] }

    /// Moves entries to the trash, children before their folders.
    ///
    /// - Throws: ``FileError`` when folders cannot be synced, and the store's errors; failures of one entry are in the
    ///   report.
    func delete(_ ids: [ItemID], _ report: inout SyncReport) throws {
        if ids.isEmpty { return }
        var gone: [ItemID] = []
        var isGone: Set<ItemID> = []
        var parents = UnsyncedFolders()
        for id in ids {
            guard let item = try store.item(id), let local = item.local, item.remote == nil else { continue }
            do {
                guard let parent = try context.handles.folder(local.location.parent, &report) else { continue }
                let isDone =
                    local.isFolder
                    ? try removeFolder(item, local, parent, isGone, &report)
                    : try trashFile(item, local, parent, &report)
                guard isDone else { continue }
                gone.append(id)
                isGone.insert(id)
                parents.remove(id)
                parents.insert(parent, local.location.parent)
            } catch let error as FileError {
                report.needsRecovery = true
                report.refuse(id, in: local.location.parent, error)
            }
        }
        try parents.sync(in: context.root)
        if gone.isEmpty { return }
        let events = try store.edit(durably: true) { editor in
            // The path of an entry contains its folder's.
            let paths = try gone.map { try store.path(of: $0, on: .local) }
            for id in gone { try editor.trashed(id) }
            for path in paths { try context.log(.deleteLocal, path) }
            return paths.map { SyncEvent(.deleteLocal, path: $0) }
        }
        for id in gone { context.handles.forget(id) }
        for event in events { report.emit(event) }
        report.done += gone.count
    }

    private func trashFile(
        _ item: Item, _ local: LocalState, _ parent: any DiskFolder, _ report: inout SyncReport
    ) throws -> Bool {
        let name = local.location.name.text
        guard let stat = local.stat, try installer.isAsPlanned(local, item.id, in: parent, &report) else {
            return false
        }
        let trashing = StagedName.trashing(item.id, expected: local.hash).text
        try parent.rename(name, to: control.staging, trashing, .withoutReplacing)
        if try installer.isStill(stat, local.hash, trashing) {
            try trash.take(staged: trashing, of: item.id, as: try store.path(of: item.id, on: .local))
            return true
        }
        // A last-moment edit is moved back.
        report.rescans.insert(local.location.parent)
        do throws(FileError) {
            try control.staging.rename(trashing, to: parent, name, .withoutReplacing)
        } catch {
            guard error.code == EEXIST else { throw error }
            _ = try control.staging.moveBeside(trashing, name, in: parent, context.naming)
        }
        return false
    }

    /// Removes a folder; one that still contains unsynced entries stays as a leftover.
    private func removeFolder(
        _ item: Item, _ local: LocalState, _ parent: any DiskFolder, _ gone: Set<ItemID>,
        _ report: inout SyncReport
    ) throws -> Bool {
        let name = local.location.name.text
        guard let there = try parent.entry(name), there.kind == .folder, there.stat.handle == local.stat?.handle else {
            report.rescans.insert(local.location.parent)
            return false
        }
        // The tree's entries in it may just have been moved out; the folder stays until a scan confirms that.
        let known = try store.children(of: item.id, on: .local).filter { child in !gone.contains(child.id) }
        if !known.isEmpty {
            if scanned.insert(item.id).inserted { report.rescans.insert(item.id) }
            return false
        }
        do throws(FileError) {
            try parent.removeFolder(name)
            return true
        } catch {
            guard error.code == ENOTEMPTY || error.code == EEXIST else { throw error }
        }
        // Something that the tree does not have: new, or never synced. A scan decides.
        if scanned.insert(item.id).inserted {
            report.rescans.insert(item.id)
        } else {
            try store.edit(durably: false) { editor in try editor.leftOver(item.id) }
        }
        return false
    }
}
