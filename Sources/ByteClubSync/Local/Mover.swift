import ByteClubCore
import Glibc

/// Makes folders on disk and moves entries there, each durable before the trees say so.
final class Mover {
    private let context: SyncContext
    private var store: any TreeStore { context.store }

    init(_ context: SyncContext) { self.context = context }

    /// Makes the folders that the server shows, parents first.
    func makeFolders(_ wanted: [(item: ItemID, place: Place)], _ report: inout SyncReport) throws {
        if wanted.isEmpty { return }
        var made: [(item: ItemID, place: Place, look: DiskLook)] = []
        var parents: [ItemID: any DiskFolder] = [:]
        for (id, place) in wanted {
            guard let item = try store.item(id), item.local == nil, item.remote?.isFolder == true,
                let parent = try context.handles.folder(place.parent, &report)
            else { continue }
            do throws(FileError) {
                try parent.makeFolder(place.name.text)
                guard let look = try parent.entry(place.name.text)?.look else { continue }
                made.append((id, place, look))
                parents[place.parent] = parent
                report.note(.succeeded, of: id)
            } catch {
                if error.code == EEXIST {
                    try context.noteTaken(place, wantedBy: id, &report)
                } else {
                    report.refuse(id, in: place.parent, error)
                }
            }
        }
        try context.sync(parents)
        if made.isEmpty { return }
        let events = try store.edit(durably: true) { editor in
            try made.map { one in
                try editor.madeFolder(one.item, at: one.place, one.look)
                return try context.log(.makeLocalFolder, one.item)
            }
        }
        for event in events { report.emit(event) }
        if context.isWatching { report.rescans.formUnion(made.map(\.item)) }
        report.done += made.count
    }

    /// Renames or moves an entry on disk; one that makes room for another's name is a conflict that people are told of.
    func move(_ id: ItemID, to place: Place, _ report: inout SyncReport) throws {
        guard let item = try store.item(id), let local = item.local, let look = local.look,
            let source = try context.handles.folder(local.place.parent, &report),
            let target = try context.handles.folder(place.parent, &report)
        else { return }
        let (name, newName) = (local.place.name.text, place.name.text)
        do {
            guard let there = try source.entry(name), there.look.handle == look.handle else {
                report.rescans.insert(local.place.parent)
                return
            }
            try Self.rename(name, in: source, to: target, newName, look)
            guard let now = try target.entry(newName), now.look.handle == look.handle else {
                // Another entry had come under the name in the last moment: it goes back.
                try target.rename(newName, to: source, name, .withoutReplacing)
                report.rescans.formUnion([local.place.parent, place.parent])
                return
            }
            try target.sync()
            if place.parent != local.place.parent { try source.sync() }
            try remember(id, local, at: place, now.look, &report)
        } catch let error as FileError {
            report.rescans.formUnion([local.place.parent, place.parent])
            if error.code == EEXIST {
                try context.noteTaken(place, wantedBy: id, &report)
            } else {
                report.refuse(id, in: local.place.parent, error)
            }
        }
    }

    /// Renames to a free name, or to another spelling of the entry's own name where the disk takes both for one.
    private static func rename(
        _ name: String, in source: any DiskFolder, to target: any DiskFolder, _ newName: String, _ look: DiskLook
    ) throws(FileError) {
        do throws(FileError) {
            try source.rename(name, to: target, newName, .withoutReplacing)
        } catch {
            guard error.code == EEXIST, try target.entry(newName)?.look.handle == look.handle else { throw error }
            let temporary = NumberedName.tagged(name, "(renaming)")
            try source.rename(name, to: target, temporary, .withoutReplacing)
            try target.rename(temporary, to: target, newName, .withoutReplacing)
        }
    }

    private func remember(
        _ id: ItemID, _ local: LocalState, at place: Place, _ look: DiskLook, _ report: inout SyncReport
    ) throws {
        let before = try store.path(of: id, on: .local)
        context.handles.forgetAll()
        let isClash = context.rule(of: id) == .nameClash && ConflictName.isCopy(place.name.text)
        let events = try store.edit(durably: true) { editor in
            try editor.moved(id, to: place, look)
            let event = try context.log(.moveLocal, id, from: before)
            guard isClash else { return [event] }
            let copy = try store.path(of: id, on: .local)
            try store.addConflict(
                ConflictRecord(
                    path: before, copy: copy, winner: nil, loser: try store.item(id)?.local?.hash,
                    at: context.seconds))
            return [
                event,
                SyncEvent(
                    .conflict, path: before, copy: copy, message: "another entry has the name; both are kept"),
            ]
        }
        for event in events { report.emit(event) }
        report.note(.succeeded, of: id)
        report.done += 1
    }
}
