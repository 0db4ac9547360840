import ByteClubCore
import Glibc

/// Creates folders and moves entries on disk; each is durable before it is recorded.
struct Mover {
    let context: SyncContext
    private var store: any TreeStore { context.store }

    /// Creates the folders that the server has, parents first.
    ///
    /// - Throws: ``FileError`` when folders cannot be synced, and the store's errors; failures of one entry are in the
    ///   report.
    func makeFolders(_ wanted: [(item: ItemID, location: Location)], _ report: inout SyncReport) throws {
        if wanted.isEmpty { return }
        var made: [(item: ItemID, location: Location, stat: FileStat)] = []
        var parents = UnsyncedFolders()
        for (id, location) in wanted {
            guard let item = try store.item(id), item.local == nil, item.remote?.isFolder == true else { continue }
            do {
                guard let parent = try context.handles.folder(location.parent, &report) else { continue }
                try parent.makeFolder(location.name.text)
                guard let stat = try parent.entry(location.name.text)?.stat else { continue }
                made.append((id, location, stat))
                parents.insert(parent, location.parent)
                report.note(.succeeded, of: id)
            } catch let error as FileError {
                if error.code == EEXIST {
                    try context.noteTaken(location, wantedBy: id, &report)
                } else {
                    report.refuse(id, in: location.parent, error)
                }
            }
        }
        try parents.sync(in: context.root)
        if made.isEmpty { return }
        let events = try store.edit(durably: true) { editor in
            try made.map { one in
                try editor.madeFolder(one.item, at: one.location, one.stat)
                return try context.log(.makeLocalFolder, one.item)
            }
        }
        for event in events { report.emit(event) }
        if context.isWatching { report.newFolders.formUnion(made.map(\.item)) }
        report.done += made.count
    }

    /// Renames or moves an entry on disk; a rename that makes room for another entry's name is reported as a conflict.
    ///
    /// - Throws: The store's errors; what the disk refuses is in the report.
    func move(_ id: ItemID, to location: Location, _ report: inout SyncReport) throws {
        guard let item = try store.item(id), let local = item.local, let stat = local.stat,
            let source = try context.handles.folder(local.location.parent, &report),
            let target = try context.handles.folder(location.parent, &report)
        else { return }
        let (name, newName) = (local.location.name.text, location.name.text)
        do {
            guard let there = try source.entry(name), there.stat.handle == stat.handle else {
                report.rescans.insert(local.location.parent)
                return
            }
            let moved = try Self.rename(name, in: source, to: target, newName, stat)
            guard let now = try target.entry(newName), now.stat.handle == moved else {
                // Another entry got the name at the last moment: it is moved back.
                try target.rename(newName, to: source, name, .withoutReplacing)
                report.rescans.formUnion([local.location.parent, location.parent])
                return
            }
            try target.sync()
            if location.parent != local.location.parent { try source.sync() }
            try remember(id, local, at: location, now.stat, &report)
        } catch let error as FileError {
            report.rescans.formUnion([local.location.parent, location.parent])
            if error.code == EEXIST {
                try context.noteTaken(location, wantedBy: id, &report)
            } else {
                report.refuse(id, in: local.location.parent, error)
            }
        }
    }

    /// Renames to a free name, or to another spelling of the entry's own name where the disk treats both as one;
    /// returns the entry's handle afterwards.
    private static func rename(
        _ name: String, in source: any DiskFolder, to target: any DiskFolder, _ newName: String, _ stat: FileStat
    ) throws(FileError) -> FileHandle {
        do throws(FileError) {
            try source.rename(name, to: target, newName, .withoutReplacing)
        } catch {
            if error.code == EXDEV, try source.entry(name)?.kind == .folder {
                return try moveParts(of: name, in: source, to: target, newName)
            }
            guard error.code == EEXIST, try target.entry(newName)?.stat.handle == stat.handle else { throw error }
            let temporary = NumberedName.tagged(name, "(renaming)")
            try source.rename(name, to: target, temporary, .withoutReplacing)
            try target.rename(temporary, to: target, newName, .withoutReplacing)
        }
        return stat.handle
    }

    /// Moves a folder by its parts, where it cannot be renamed, as in an overlay's lower layer.
    ///
    /// Its entries are moved into a new folder one by one, so that none is ever in two places or in none; the old folder
    /// is removed when it is empty.
    ///
    /// - Returns: The new folder's handle.
    private static func moveParts(
        of name: String, in source: any DiskFolder, to target: any DiskFolder, _ newName: String
    ) throws(FileError) -> FileHandle {
        let old = try source.folder(name)
        let entries = try old.list()
        // What cannot be named cannot be moved.
        guard entries.allSatisfy(\.isDecodable) else { throw FileError(operation: "rename", path: name, code: EXDEV) }
        try target.makeFolder(newName)
        let new = try target.folder(newName)
        var moved: [String] = []
        do throws(FileError) {
            for entry in entries {
                do throws(FileError) {
                    try old.rename(entry.name, to: new, entry.name, .withoutReplacing)
                } catch {
                    guard error.code == EXDEV, entry.kind == .folder else { throw error }
                    _ = try moveParts(of: entry.name, in: old, to: new, entry.name)
                }
                moved.append(entry.name)
            }
            try new.sync()
            try old.sync()
            try source.removeFolder(name)
            return try new.stat().handle
        } catch {
            for name in moved { try? new.rename(name, to: old, name, .withoutReplacing) }
            try? target.removeFolder(newName)
            throw error
        }
    }

    private func remember(
        _ id: ItemID, _ local: LocalState, at location: Location, _ stat: FileStat, _ report: inout SyncReport
    ) throws {
        let before = try store.path(of: id, on: .local)
        context.handles.forgetAll()
        // A folder that was moved by its parts is another one, with others in it.
        let isAnother = local.isFolder && local.stat?.handle != stat.handle
        if isAnother {
            report.rescans.insert(id)
            if context.isWatching { report.newFolders.insert(id) }
        }
        let isClash = context.rule(of: id) == .nameClash && ConflictName.isCopy(location.name.text)
        let holder = isClash ? try otherSpelling(of: local.location, than: id) : nil
        let events = try store.edit(durably: true) { editor in
            try editor.moved(id, to: location, stat)
            if isAnother { try editor.invalidate(id) }
            if local.isFolder { try ScanProblems.move(before, to: try store.path(of: id, on: .local), in: store) }
            let event = try context.log(.moveLocal, id, from: before)
            guard isClash else { return [event] }
            let copy = try store.path(of: id, on: .local)
            try store.save(
                ConflictRecord(
                    path: before, copy: copy, winner: nil, loser: try store.item(id)?.local?.hash,
                    at: context.seconds))
            return [
                event,
                SyncEvent(
                    .conflict, path: before, copy: copy,
                    message: holder.map { "the server treats it as '\($0)'" }
                        ?? "another entry has the name"),
            ]
        }
        for event in events { report.emit(event) }
        report.note(.succeeded, of: id)
        report.done += 1
    }

    /// The spelling of a name under which the server has another entry; nil when it is the same.
    private func otherSpelling(of location: Location, than id: ItemID) throws -> String? {
        try store.children(of: location.parent, key: location.name.key, on: .remote)
            .first { $0.id != id && $0.remote?.location.name != location.name }?.remote?.location.name.text
    }
}
