import ByteClubCore
import Glibc

/// New content for an item, on its way to a place on the disk.
struct StagedContent: Sendable {
    let install: PendingInstall
    let size: Int64
    /// The disk's content that it replaces, as the plan saw it; nil when nothing may be there.
    let replaced: LocalState?
    /// The bytes; nil when they stand in staging already.
    let bytes: [UInt8]?
    /// The name in staging.
    var stage: StagedName
    /// Which file in staging it is; nil before it is there.
    var handle: FileHandle?

    var item: ItemID { install.item }

    init(item: Item, place: Place, remote: RemoteState, hash: ContentHash, bytes: [UInt8]?) {
        install = PendingInstall(item: item.id, place: place, hash: hash, revision: remote.revision)
        size = remote.size
        replaced = item.local
        self.bytes = bytes
        stage = .writing(item.id)
    }

    /// Writes the bytes into staging; what an earlier attempt has left there goes.
    mutating func write(to staging: any DiskFolder, durably: Bool) throws(FileError) {
        let name = stage.text
        guard let bytes else {
            let file = try staging.open(name)
            if durably { try file.sync() }
            handle = try file.look().handle
            return
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
        if durably { try file.sync() }
        handle = try file.look().handle
    }
}

/// Content that has come into its place.
struct InstalledFile: Sendable {
    let content: StagedContent
    let look: DiskLook
}

/// Puts new contents in their places: whole, durable, and over nothing but what the plan saw there (invariant I5).
final class Installer {
    private let context: SyncContext
    private let control: ControlDirectory
    private let trash: TrashCan
    private var pending: PendingInstalls
    /// Where the files stand that gave their names to other contents, which are as closed to others as those were.
    private var parted: [ItemID: Place] = [:]

    private var store: any TreeStore { context.store }
    private var staging: any DiskFolder { control.staging }

    init(_ context: SyncContext, _ control: ControlDirectory, _ trash: TrashCan) {
        self.context = context
        self.control = control
        self.trash = trash
        pending = PendingInstalls(context.store)
    }

    /// Whether nothing of this process is about to get its name.
    var isIdle: Bool { pending.isEmpty }

    /// Notes that the file of an item has given its name to other content, and where it is now.
    func note(parted item: ItemID, at place: Place) { parted[item] = place }

    /// Puts new contents in their places.
    ///
    /// - Returns: What has come into its place and is remembered as synced; `kind` is what the log says of it.
    func install(
        _ contents: [StagedContent], as kind: SyncEvent.Kind, _ report: inout SyncReport
    ) throws -> [InstalledFile] {
        if contents.isEmpty { return [] }
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
        let installed = try place(staged, &report)
        var folders: [ItemID: any DiskFolder] = [:]
        for one in installed {
            let parent = one.content.install.place.parent
            folders[parent] = try context.handles.folder(parent, &report)
        }
        try context.sync(folders)
        try remember(installed, of: staged.map(\.item), as: kind, &report)
        return installed
    }

    /// Gives staged contents their names, which are not durable yet.
    func place(_ staged: [StagedContent], _ report: inout SyncReport) throws -> [InstalledFile] {
        try store.transaction(durably: false) { try pending.add(staged.map(\.install)) }
        var installed: [InstalledFile] = []
        try store.reading {
            for var one in staged {
                do {
                    guard let look = try place(&one, &report) else { continue }
                    installed.append(InstalledFile(content: one, look: look))
                } catch let error as FileError {
                    report.needsRecovery = true
                    refuse(one.item, error, &report)
                }
            }
        }
        return installed
    }

    /// Remembers what has come into its place durably, of those that were to.
    func remember(
        _ installed: [InstalledFile], of items: [ItemID], as kind: SyncEvent.Kind, _ report: inout SyncReport
    ) throws {
        if installed.isEmpty { return try store.transaction(durably: false) { try pending.remove(items) } }
        let events = try store.edit(durably: true) { editor in
            try pending.remove(items)
            return try installed.map { one in
                try editor.installed(one.content.install, one.look, size: one.content.size)
                let bytes = kind == .merge ? nil : one.content.size
                return try context.log(kind, one.content.item, bytes: bytes)
            }
        }
        for event in events { report.emit(event) }
        for one in installed {
            report.note(.succeeded, of: one.content.item)
            parted[one.content.item] = nil
            if let bytes = one.content.bytes { context.environment.bases.keep(bytes, one.content.install.hash) }
        }
        report.done += installed.count
    }

    /// Takes for synced what had come into its place before the engine was stopped.
    func recognizeInstalled(_ report: inout SyncReport) throws {
        let left = try store.records(PendingInstall.self)
        if left.isEmpty { return }
        var found: [(install: PendingInstall, look: DiskLook)] = []
        for one in left {
            guard let item = try store.item(one.item), !item.isFolder, item.local?.hash != one.hash,
                let folder = try? context.handles.folder(one.place.parent, &report),
                let file = try? folder.open(one.place.name.text), let look = try? file.look(),
                try Scanner.hash(file) == one.hash
            else { continue }
            found.append((one, look))
        }
        try store.edit(durably: true) { editor in
            for (one, look) in found where try store.item(one.item) != nil {
                try editor.installed(one, look, size: look.fingerprint.size)
            }
            try store.replace([PendingInstall]())
        }
    }

    // MARK: One file

    private func refuse(_ item: ItemID, _ error: FileError, _ report: inout SyncReport) {
        report.refuse(item, in: (try? store.item(item))?.local?.place.parent, error)
    }

    /// Brings staged content into its place; nil when the place is not as the plan saw it.
    private func place(_ one: inout StagedContent, _ report: inout SyncReport) throws -> DiskLook? {
        let install = one.install
        guard let item = try store.item(one.item),
            item.remote?.revision == install.revision || item.remote?.hash == install.hash,
            item.local == one.replaced, let target = try context.handles.folder(install.place.parent, &report)
        else {
            try staging.removeFile(one.stage.text)
            return nil
        }
        let name = install.place.name.text
        guard let replaced = one.replaced else {
            if let copy = parted[one.item], let beside = try context.handles.folder(copy.parent, &report) {
                try takeAccess(one.stage.text, from: copy.name.text, in: beside)
            }
            do throws(FileError) {
                try staging.rename(one.stage.text, to: target, name, .withoutReplacing)
            } catch {
                guard error.code == EEXIST else { throw error }
                try staging.removeFile(one.stage.text)
                try context.noteTaken(install.place, wantedBy: one.item, &report)
                return nil
            }
            return try look(at: one, in: target, &report)
        }
        guard let expected = replaced.hash, try isAsPlanned(replaced, item.id, in: target, &report) else {
            try staging.removeFile(one.stage.text)
            return nil
        }
        try takeAccess(one.stage.text, from: name, in: target)
        let exchanging = StagedName.exchanging(one.item, new: install.hash, expected: expected)
        try staging.rename(one.stage.text, to: staging, exchanging.text, .withoutReplacing)
        one.stage = exchanging
        do throws(FileError) {
            try staging.rename(exchanging.text, to: target, name, .exchanging)
        } catch {
            // Nothing was exchanged: the old file went elsewhere in the last moment.
            try staging.removeFile(exchanging.text)
            throw error
        }
        guard try putAside(exchanging.text, replaced, one.item) else {
            try takeBack(one, target, name)
            report.rescans.insert(install.place.parent)
            return nil
        }
        return try look(at: one, in: target, &report)
    }

    /// Keeps staged content from those from whom the file is closed whose place it takes.
    private func takeAccess(_ stage: String, from name: String, in folder: any DiskFolder) throws(FileError) {
        if try staging.takeAccess(stage, from: name, in: folder) { try staging.open(stage).sync() }
    }

    /// How a file looks that has just come into its place; nil when somebody has put another one there since.
    ///
    /// The rename has stamped it, but a write would stamp the content anew: only content that was written within the last
    /// moments leaves a doubt.
    private func look(
        at one: StagedContent, in folder: any DiskFolder, _ report: inout SyncReport
    ) throws(FileError) -> DiskLook? {
        guard var look = try folder.entry(one.install.place.name.text)?.look, look.handle == one.handle else {
            report.rescans.insert(one.install.place.parent)
            return nil
        }
        look.isRacy = look.fingerprint.isContentRacy(at: context.environment.disk.now())
        return look
    }

    /// Whether a file is the one that the plan saw, and nobody is writing it.
    func isAsPlanned(
        _ seen: LocalState, _ item: ItemID, in folder: any DiskFolder, _ report: inout SyncReport
    ) throws -> Bool {
        let name = seen.place.name.text
        guard let there = try folder.entry(name), there.kind == .file, let look = seen.look,
            there.look.handle == look.handle, there.look.fingerprint.isSameContent(as: look.fingerprint)
        else {
            report.rescans.insert(seen.place.parent)
            return false
        }
        if let file = try? folder.open(name), file.isBeingWritten {
            report.note(.beingWritten, of: item)
            return false
        }
        return true
    }

    /// Trashes a displaced file that is the one the plan saw; false when it is another, or was written since.
    private func putAside(_ name: String, _ seen: LocalState, _ item: ItemID) throws -> Bool {
        guard let look = seen.look, try isStill(look, seen.hash, name) else { return false }
        try trash.take(staged: name, of: item, as: try store.path(of: item, on: .local))
        return true
    }

    /// Whether what stands in staging is the file that was seen, with the content that it had then.
    func isStill(_ look: DiskLook, _ hash: ContentHash?, _ name: String) throws(FileError) -> Bool {
        guard let there = try staging.entry(name), there.kind == .file else { return false }
        let isSame =
            there.look.handle == look.handle && there.look.fingerprint.isSameContent(as: look.fingerprint)
        if isSame, !look.isRacy { return true }
        return try Scanner.hash(staging.open(name)) == hash
    }

    /// Undoes an exchange that met an edit: the edit goes back to its place, and the new content waits for the next plan.
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
            // Somebody was quick enough to edit the new content as well.
            _ = try staging.moveBeside(stage, name, in: target)
        }
    }
}

extension SyncContext {
    /// Notes that a name is taken on the disk that an item was to have: by an entry that the tree knows there, by something
    /// new, which the next scan finds, or by what is left alone and told of; else the disk takes two names for one that
    /// are two by their keys.
    func noteTaken(_ place: Place, wantedBy item: ItemID, _ report: inout SyncReport) throws {
        report.rescans.insert(place.parent)
        if try !store.children(of: place.parent, key: place.name.key, on: .local).isEmpty { return }
        let path = LocalPath.join(try store.shownPath(of: place.parent), place.name.text)
        if try store.problems().contains(where: { $0.path.utf8.elementsEqual(path.utf8) && $0.item != item }) { return }
        report.refuse(item, "this disk takes its name for another entry's: '\(path)'")
    }
}
