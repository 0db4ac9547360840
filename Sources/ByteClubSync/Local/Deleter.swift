import ByteClubCore
import Glibc

/// Puts entries into the trash that are gone on the server.
final class Deleter {
    private let context: SyncContext
    private let control: ControlDirectory
    private let installer: Installer
    private let trash: TrashCan
    /// Folders that would not go although the tree knows nothing in them, and were scanned for that.
    private var scanned: Set<ItemID> = []

    private var store: any TreeStore { context.store }

    init(_ context: SyncContext, _ control: ControlDirectory, _ installer: Installer, _ trash: TrashCan) {
        self.context = context
        self.control = control
        self.installer = installer
        self.trash = trash
    }

    /// Begins anew: what stood in the way of folders before may be gone.
    func begin() { scanned = [] }

    /// Puts entries into the trash, children before their folders.
    func delete(_ ids: [ItemID], _ report: inout SyncReport) throws {
        if ids.isEmpty { return }
        var gone: [ItemID] = []
        var parents: [ItemID: any DiskFolder] = [:]
        for id in ids {
            guard let item = try store.item(id), let local = item.local, item.remote == nil,
                let parent = try context.handles.folder(local.place.parent, &report)
            else { continue }
            do {
                let isGone =
                    local.isFolder
                    ? try removeFolder(item, local, parent, gone, &report)
                    : try trashFile(item, local, parent, &report)
                guard isGone else { continue }
                gone.append(id)
                parents[local.place.parent] = parent
            } catch let error as FileError {
                report.needsRecovery = true
                report.refuse(id, in: local.place.parent, error)
            }
        }
        for id in gone { parents[id] = nil }
        try context.sync(parents)
        if gone.isEmpty { return }
        let events = try store.edit(durably: true) { editor in
            // The path of what is in a folder leads through the folder.
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
        let name = local.place.name.text
        guard let look = local.look, try installer.isAsPlanned(local, item.id, in: parent, &report) else {
            return false
        }
        let leaving = StagedName.leaving(item.id, expected: local.hash).text
        try parent.rename(name, to: control.staging, leaving, .withoutReplacing)
        if try installer.isStill(look, local.hash, leaving) {
            try trash.take(staged: leaving, of: item.id, as: try store.path(of: item.id, on: .local))
            return true
        }
        // An edit that came in the last moment goes back.
        report.rescans.insert(local.place.parent)
        do throws(FileError) {
            try control.staging.rename(leaving, to: parent, name, .withoutReplacing)
        } catch {
            guard error.code == EEXIST else { throw error }
            _ = try control.staging.moveBeside(leaving, name, in: parent)
        }
        return false
    }

    /// Removes a folder; one in which something is left that is not synced stays for its sake.
    private func removeFolder(
        _ item: Item, _ local: LocalState, _ parent: any DiskFolder, _ gone: [ItemID], _ report: inout SyncReport
    ) throws -> Bool {
        let name = local.place.name.text
        guard let there = try parent.entry(name), there.kind == .folder, there.look.handle == local.look?.handle else {
            report.rescans.insert(local.place.parent)
            return false
        }
        // What the tree has in it may just have been moved out, and keeps the folder until a scan has told.
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
        // Something that the tree does not have: new, or never synced. Only a scan tells.
        if scanned.contains(item.id) {
            try store.edit(durably: false) { editor in try editor.leftOver(item.id) }
            return false
        }
        scanned.insert(item.id)
        report.rescans.insert(item.id)
        return false
    }
}
