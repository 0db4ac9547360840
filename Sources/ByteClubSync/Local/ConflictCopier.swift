import ByteClubCore
import Glibc

/// A file that is about to get a conflict name: told to the database before, so that an engine that was stopped in between
/// does not take its own renaming for a person's.
struct PendingConflictCopy: Hashable, Sendable {
    let item: ItemID
    let name: EntryName

    init(_ item: ItemID, _ name: EntryName) {
        self.item = item
        self.name = name
    }
}

/// Gives the disk's content a conflict name and an identity of its own, where both sides changed a file.
final class ConflictCopier {
    private let context: SyncContext
    private let installer: Installer
    private var store: any TreeStore { context.store }

    init(_ context: SyncContext, _ installer: Installer) {
        self.context = context
        self.installer = installer
    }

    /// Keeps both contents of an item: the disk's under a name of its own.
    func keepBoth(_ item: Item, _ local: LocalState, _ name: EntryName, _ report: inout SyncReport) throws {
        guard let folder = try context.handles.folder(local.place.parent, &report),
            try installer.isAsPlanned(local, item.id, in: folder, &report)
        else { return }
        let pending = PendingConflictCopy(item.id, name)
        try store.transaction(durably: true) { try store.save(pending) }
        do throws(FileError) {
            try folder.rename(local.place.name.text, to: folder, name.text, .withoutReplacing)
        } catch {
            try forget(item.id)
            report.rescans.insert(local.place.parent)
            if error.code != EEXIST { report.refuse(item.id, in: local.place.parent, error) }
            return
        }
        _ = try finish(item, local, name, in: folder, &report)
    }

    /// Finishes the copy that an engine was at before it was stopped.
    func recover(_ report: inout SyncReport) throws {
        for pending in try store.records(PendingConflictCopy.self) {
            if let item = try store.item(pending.item), let local = item.local,
                let folder = try? context.handles.folder(local.place.parent, &report),
                try finish(item, local, pending.name, in: folder, &report)
            {
                continue
            }
            try forget(pending.item)
        }
    }

    private func forget(_ item: ItemID) throws {
        try store.removeRecord(PendingConflictCopy.self, .number(item.number))
    }

    /// Makes the file that has a conflict name by now an entry of its own; false when it is not that file.
    private func finish(
        _ item: Item, _ local: LocalState, _ name: EntryName, in folder: any DiskFolder, _ report: inout SyncReport
    ) throws -> Bool {
        guard let look = try folder.entry(name.text)?.look, look.handle == local.look?.handle else { return false }
        try folder.sync()
        let before = try store.path(of: item.id, on: .local)
        let copy = LocalPath.join(LocalPath.split(before).parent, name.text)
        try store.edit(durably: true) { editor in
            try editor.split(item, local, to: name, look)
            try store.addConflict(
                ConflictRecord(
                    path: before, copy: copy, winner: item.remote?.hash, loser: local.hash, at: context.seconds))
            try forget(item.id)
            try context.log(.conflict, before, rule: Rule.editedBoth.rawValue, copy)
        }
        installer.note(parted: item.id, at: Place(local.place.parent, name))
        report.emit(SyncEvent(.conflict, path: before, copy: copy, message: "both sides changed it; both are kept"))
        report.done += 1
        return true
    }
}
