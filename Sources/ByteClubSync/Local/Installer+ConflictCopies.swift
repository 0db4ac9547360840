import ByteClubCore
import Glibc

/// An intent record: a file that is about to get a conflict name.
///
/// It is stored before the rename, so that after a crash the engine does not take its own rename for a user's.
struct PendingConflictCopy: Hashable, Sendable {
    let item: ItemID
    let name: EntryName
}

extension Installer {
    /// Keeps both contents of an item that both sides changed: the disk's file is renamed to a conflict copy, an entry
    /// of its own.
    func keepBoth(_ item: Item, _ local: LocalState, _ name: EntryName, _ report: inout SyncReport) throws {
        guard let folder = try context.handles.folder(local.location.parent, &report),
            try isAsPlanned(local, item.id, in: folder, &report)
        else { return }
        let pending = PendingConflictCopy(item: item.id, name: name)
        try store.transaction(durably: true) { try store.save(pending) }
        do throws(FileError) {
            try folder.rename(local.location.name.text, to: folder, name.text, .withoutReplacing)
        } catch {
            try forget(item.id)
            report.rescans.insert(local.location.parent)
            if error.code == EEXIST {
                try context.noteTaken(Location(local.location.parent, name), wantedBy: item.id, &report)
            } else {
                report.refuse(item.id, in: local.location.parent, error)
            }
            return
        }
        _ = try finish(item, local, name, in: folder, &report)
    }

    /// Completes a conflict copy that a crash has interrupted.
    func recoverConflictCopy(_ report: inout SyncReport) throws {
        for pending in try store.records(PendingConflictCopy.self) {
            if let item = try store.item(pending.item), let local = item.local,
                let folder = try? context.handles.folder(local.location.parent, &report),
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

    /// Makes the renamed file an entry of its own; false when the file under the conflict name is another one.
    private func finish(
        _ item: Item, _ local: LocalState, _ name: EntryName, in folder: any DiskFolder, _ report: inout SyncReport
    ) throws -> Bool {
        guard let stat = try folder.entry(name.text)?.stat, stat.handle == local.stat?.handle else { return false }
        try folder.sync()
        let before = try store.path(of: item.id, on: .local)
        let copy = LocalPath.join(LocalPath.split(before).parent, name.text)
        try store.edit(durably: true) { editor in
            try editor.split(item, local, to: name, stat)
            try store.save(
                ConflictRecord(
                    path: before, copy: copy, winner: item.remote?.hash, loser: local.hash, at: context.seconds))
            try forget(item.id)
            try context.log(.conflict, before, rule: Rule.editedBoth.rawValue, copy)
        }
        conflictCopy[item.id] = Location(local.location.parent, name)
        report.emit(SyncEvent(.conflict, path: before, copy: copy, message: "both sides changed it"))
        report.done += 1
        return true
    }
}
