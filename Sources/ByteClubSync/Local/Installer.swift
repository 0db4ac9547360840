import ByteClubCore
import Glibc

/// New content for an item, to be installed at a location on disk.
struct StagedContent: Sendable {
    let install: PendingInstall
    let size: Int64
    /// The file that it replaces, as the plan saw it; nil when nothing may be there.
    let replaced: LocalState?
    /// When the content was made; nil when the server does not tell.
    let modified: FileTime?
    /// Whether the file is to be executable; nil when unknown.
    let isExecutable: Bool?
    /// The bytes; nil when they are in staging already.
    var bytes: [UInt8]?
    /// The name in staging.
    var stage: StagedName
    /// Which file in staging it is; nil before it is there.
    var handle: FileHandle?

    var item: ItemID { install.item }

    init(item: Item, location: Location, remote: RemoteState, hash: ContentHash, bytes: [UInt8]?) {
        install = PendingInstall(item: item.id, location: location, hash: hash, revision: remote.revision)
        size = remote.size
        replaced = item.local
        modified = remote.modified
        isExecutable = item.wantedExecutable
        self.bytes = bytes
        stage = .writing(item.id)
    }

    /// Writes the bytes to staging, replacing what an earlier attempt has left there.
    mutating func write(to staging: any DiskFolder, durably: Bool) throws(FileError) {
        let name = stage.text
        guard let bytes else {
            return try finish(try staging.open(name), durably: durably)
        }
        let file: any DiskFile
        do throws(FileError) {
            file = try staging.create(name)
        } catch {
            guard error.code == EEXIST else { throw error }
            try staging.removeFile(name)
            file = try staging.create(name)
        }
        try file.write(bytes)
        try finish(file, durably: durably)
    }

    /// Gives the written file what belongs to its content.
    private mutating func finish(_ file: any DiskFile, durably: Bool) throws(FileError) {
        if let isExecutable { _ = try file.setExecutable(isExecutable) }
        // Some network file systems keep no such time; the content is worth more.
        if let modified { try? file.setModified(modified) }
        if durably { try file.sync() }
        handle = try file.stat().handle
    }
}

/// A content that is installed.
struct InstalledFile: Sendable {
    let content: StagedContent
    let stat: FileStat
}

/// Installs new contents atomically and durably, replacing nothing but what the plan saw (invariant I5).
final class Installer {
    let context: SyncContext
    private let control: ControlDirectory
    private let trash: TrashCan
    /// The items whose installs of this process are under way; their records are in the database.
    private var pending: Set<ItemID> = []
    /// Where files are that gave their names to other contents; the new contents get their permissions.
    var conflictCopy: [ItemID: Location] = [:]

    var store: any TreeStore { context.store }
    private var staging: any DiskFolder { control.staging }

    init(_ context: SyncContext, _ control: ControlDirectory, _ trash: TrashCan) {
        self.context = context
        self.control = control
        self.trash = trash
    }

    /// Whether no install of this process is pending.
    var isIdle: Bool { pending.isEmpty }

    /// Installs new contents, and records them as synced; `kind` is the kind of event in the log.
    ///
    /// - Throws: ``FileError`` when the file system fails as a whole, and the store's errors; failures of one file are
    ///   in the report.
    func install(_ contents: [StagedContent], as kind: SyncEvent.Kind, _ report: inout SyncReport) throws {
        if contents.isEmpty { return }
        let isFew = contents.count <= SyncContext.fewFiles
        var staged: [StagedContent] = []
        for var one in contents {
            do throws(FileError) {
                try one.write(to: staging, durably: isFew)
                staged.append(one)
            } catch {
                refuse(one.item, error, &report)
            }
        }
        if !isFew { try context.root.syncFileSystem() }
        let installed = try moveIntoPlace(staged, &report)
        var folders = UnsyncedFolders()
        for one in installed {
            let parent = one.content.install.location.parent
            if let folder = try context.handles.folder(parent, &report) { folders.insert(folder, parent) }
        }
        try folders.sync(in: context.root)
        try remember(installed, of: staged.map(\.item), as: kind, &report)
    }

    /// Renames staged contents into place; the names are not durable yet.
    func moveIntoPlace(_ staged: [StagedContent], _ report: inout SyncReport) throws -> [InstalledFile] {
        // Before the renames.
        try store.transaction(durably: false) {
            for one in staged {
                pending.insert(one.item)
                try store.save(one.install)
            }
        }
        var installed: [InstalledFile] = []
        try store.reading {
            for var one in staged {
                do {
                    guard let stat = try moveIntoPlace(&one, &report) else { continue }
                    installed.append(InstalledFile(content: one, stat: stat))
                } catch let error as FileError {
                    report.needsRecovery = true
                    refuse(one.item, error, &report)
                }
            }
        }
        return installed
    }

    /// Records the contents that are durably installed, of those that were pending.
    func remember(
        _ installed: [InstalledFile], of items: [ItemID], as kind: SyncEvent.Kind, _ report: inout SyncReport
    ) throws {
        if installed.isEmpty { return try store.transaction(durably: false) { try forgetPending(items) } }
        let events = try store.edit(durably: true) { editor in
            try forgetPending(items)
            return try installed.map { one in
                let isNew = try editor.installed(one.content.install, one.stat, size: one.content.size)
                let bytes = kind == .merge ? nil : one.content.size
                var event = try context.log(kind, one.content.item, bytes: bytes)
                if kind == .download { event.isNew = isNew }
                return event
            }
        }
        for event in events { report.emit(event) }
        for one in installed {
            try noteDate(of: one, &report)
            report.note(.succeeded, of: one.content.item)
            conflictCopy[one.content.item] = nil
        }
        report.done += installed.count
    }

    /// Removes the records of items whose installs are done or abandoned.
    private func forgetPending(_ items: [ItemID]) throws {
        for item in items where pending.remove(item) != nil {
            try store.removeRecord(PendingInstall.self, .number(item.number))
        }
    }

    /// Reports a file whose date this disk cannot keep.
    private func noteDate(of one: InstalledFile, _ report: inout SyncReport) throws {
        guard let date = one.content.modified, !date.isOnEveryDisk, !date.isKept(as: one.stat.fingerprint.modified)
        else { return }
        report.emitOnce(
            SyncEvent(
                .problem, path: try store.shownPath(of: one.content.item),
                message: "this disk cannot store its date \(date.date.rfc3339): it has today's"))
    }

    /// Records as synced the contents that were installed before a crash.
    func recognizeInstalled(_ report: inout SyncReport) throws {
        let left = try store.records(PendingInstall.self)
        if left.isEmpty { return }
        var found: [(install: PendingInstall, stat: FileStat)] = []
        for one in left {
            guard let item = try store.item(one.item), !item.isFolder, item.local?.hash != one.hash,
                let folder = try? context.handles.folder(one.location.parent, &report),
                let file = try? folder.open(one.location.name.text), let stat = try? file.stat(),
                try Scanner.hash(file) == one.hash
            else { continue }
            found.append((one, stat))
        }
        try store.edit(durably: true) { editor in
            for (one, stat) in found where try store.item(one.item) != nil {
                try editor.installed(one, stat, size: stat.fingerprint.size)
            }
            try store.replace([PendingInstall]())
        }
    }

    /// Allows or forbids executing files whose contents are on disk already; the next plan finds both sides equal.
    ///
    /// - Throws: As ``install(_:as:_:)``.
    func setExecutable(_ ids: [ItemID], _ report: inout SyncReport) throws {
        for id in ids {
            do {
                guard let item = try store.item(id), let local = item.local, let hash = local.hash,
                    let stat = try setExecutable(item, local, &report)
                else { continue }
                let event = try store.edit(durably: true) { editor in
                    try editor.read(id, hash, stat)
                    try editor.invalidate(local.location.parent)
                    return try context.log(.download, id)
                }
                report.emit(event)
                report.note(.succeeded, of: id)
                report.done += 1
            } catch let error as FileError {
                refuse(id, error, &report)
            }
        }
    }

    /// The stat of a file that was just made executable or is no more; nil when it is not the one that the plan saw.
    private func setExecutable(_ item: Item, _ local: LocalState, _ report: inout SyncReport) throws -> FileStat? {
        guard let wanted = item.wantedExecutable, let seen = local.stat,
            let folder = try context.handles.folder(local.location.parent, &report),
            try isAsPlanned(local, item.id, in: folder, &report)
        else { return nil }
        let file = try folder.open(local.location.name.text)
        guard try file.stat().handle == seen.handle else { return nil }
        if try file.setExecutable(wanted) { try file.sync() }
        var stat = try file.stat()
        if stat.isExecutable == !wanted {
            throw FileError(operation: "set the permissions of", path: local.location.name.text, code: EOPNOTSUPP)
        }
        guard stat.fingerprint.size == seen.fingerprint.size, stat.fingerprint.modified == seen.fingerprint.modified
        else {
            // The file was written meanwhile; the tree has the content before.
            report.rescans.insert(local.location.parent)
            return nil
        }
        // The change time is ours; a write would set the modification time.
        stat.isRacy = seen.isRacy || stat.fingerprint.isContentRacy(at: context.environment.disk.now())
        return stat
    }

    // MARK: One file

    private func refuse(_ item: ItemID, _ error: FileError, _ report: inout SyncReport) {
        report.refuse(item, in: (try? store.item(item))?.local?.location.parent, error)
    }

    /// Installs a staged content; nil when the target is not as the plan saw it.
    private func moveIntoPlace(_ one: inout StagedContent, _ report: inout SyncReport) throws -> FileStat? {
        let install = one.install
        guard let item = try store.item(one.item), let remote = item.remote,
            remote.revision == install.revision || remote.hash == install.hash,
            item.local == one.replaced, let target = try context.handles.folder(install.location.parent, &report)
        else {
            try staging.removeFile(one.stage.text)
            return nil
        }
        let name = install.location.name.text
        guard let replaced = one.replaced else {
            if let copy = conflictCopy[one.item], let beside = try context.handles.folder(copy.parent, &report) {
                try takeAccess(one, from: copy.name.text, in: beside)
            }
            do throws(FileError) {
                try staging.rename(one.stage.text, to: target, name, .withoutReplacing)
            } catch {
                guard error.code == EEXIST else { throw error }
                try staging.removeFile(one.stage.text)
                try context.noteTaken(install.location, wantedBy: one.item, &report)
                return nil
            }
            return try installedStat(of: one, in: target, &report)
        }
        guard let expected = replaced.hash, try isAsPlanned(replaced, item.id, in: target, &report) else {
            try staging.removeFile(one.stage.text)
            return nil
        }
        try takeAccess(one, from: name, in: target)
        let exchanging = StagedName.exchanging(one.item, new: install.hash, expected: expected)
        try staging.rename(one.stage.text, to: staging, exchanging.text, .withoutReplacing)
        one.stage = exchanging
        do throws(FileError) {
            try staging.rename(exchanging.text, to: target, name, .exchanging)
        } catch {
            // Nothing was exchanged: the old file was moved away at the last moment.
            try staging.removeFile(exchanging.text)
            throw error
        }
        guard try trashReplaced(exchanging.text, replaced, one.item) else {
            try takeBack(one, target, name)
            report.rescans.insert(install.location.parent)
            return nil
        }
        return try installedStat(of: one, in: target, &report)
    }

    /// Gives staged content the permissions of the file that it replaces, but for what it is to be itself.
    private func takeAccess(_ one: StagedContent, from name: String, in folder: any DiskFolder) throws(FileError) {
        guard try staging.takeAccess(one.stage.text, from: name, in: folder) else { return }
        let file = try staging.open(one.stage.text)
        if let isExecutable = one.isExecutable { _ = try file.setExecutable(isExecutable) }
        try file.sync()
    }

    /// The stat of a file that was just installed; nil when another one is there by now.
    ///
    /// The rename has set the change time, but a write would set the modification time: only a recent modification time
    /// is racy.
    private func installedStat(
        of one: StagedContent, in folder: any DiskFolder, _ report: inout SyncReport
    ) throws(FileError) -> FileStat? {
        guard var stat = try folder.entry(one.install.location.name.text)?.stat, stat.handle == one.handle else {
            report.rescans.insert(one.install.location.parent)
            return nil
        }
        stat.isRacy = stat.fingerprint.isContentRacy(at: context.environment.disk.now())
        return stat
    }

    /// Whether a file is the one that the plan saw, and is not being written.
    func isAsPlanned(
        _ seen: LocalState, _ item: ItemID, in folder: any DiskFolder, _ report: inout SyncReport
    ) throws -> Bool {
        let name = seen.location.name.text
        guard let there = try folder.entry(name), there.kind == .file, let stat = seen.stat,
            there.stat.handle == stat.handle, there.stat.fingerprint.isSameContent(as: stat.fingerprint)
        else {
            report.rescans.insert(seen.location.parent)
            return false
        }
        if let file = try? folder.open(name), file.isBeingWritten {
            report.note(.beingWritten, of: item)
            return false
        }
        return true
    }

    /// Trashes a displaced file that is the one the plan saw; false when it is another, or was written since.
    private func trashReplaced(_ name: String, _ seen: LocalState, _ item: ItemID) throws -> Bool {
        guard let stat = seen.stat, try isStill(stat, seen.hash, name) else { return false }
        try trash.take(staged: name, of: item, as: try store.path(of: item, on: .local))
        return true
    }

    /// Whether the file in staging is the one that was seen, with the same content.
    func isStill(_ stat: FileStat, _ hash: ContentHash?, _ name: String) throws(FileError) -> Bool {
        guard let there = try staging.entry(name), there.kind == .file else { return false }
        let isSame =
            there.stat.handle == stat.handle && there.stat.fingerprint.isSameContent(as: stat.fingerprint)
        if isSame, !stat.isRacy { return true }
        return try Scanner.hash(staging.open(name)) == hash
    }

    /// Undoes an exchange that displaced an unseen edit: the edit is moved back, and the new content waits for the next
    /// plan.
    private func takeBack(_ one: StagedContent, _ target: any DiskFolder, _ name: String) throws {
        let stage = one.stage.text
        do throws(FileError) {
            try staging.rename(stage, to: target, name, .exchanging)
        } catch {
            guard error.code == ENOENT else { throw error }
            // The new content was moved away in the meantime, so the place is free.
            return try staging.rename(stage, to: target, name, .withoutReplacing)
        }
        if try Scanner.hash(staging.open(stage)) == one.install.hash {
            try staging.removeFile(stage)
        } else {
            // The new content was edited in the meantime as well.
            _ = try staging.moveBeside(stage, name, in: target, context.naming)
        }
    }
}

extension SyncContext {
    /// Handles a wanted name that exists on disk.
    ///
    /// It is of an entry that cannot be synced, which has a problem already, of a known one, or of one that the next scan
    /// will find. If that finds none, the disk treats two names as one although their keys differ, which is a problem.
    func noteTaken(_ location: Location, wantedBy item: ItemID, _ report: inout SyncReport) throws {
        if try BlockedNames(store).blocks(location, for: item) { return }
        report.rescans.insert(location.parent)
        if try !store.children(of: location.parent, key: location.name.key, on: .local).isEmpty { return }
        let path = LocalPath.join(try store.shownPath(of: location.parent), location.name.text)
        report.refuse(item, "this disk treats its name as another entry's: '\(path)'")
    }
}
