import ByteClubCore
import Glibc

/// The files and folders on disk in a folder that is being deselected.
struct FolderRemoval {
    /// A file, with its stat when the server was known to have its content.
    struct File {
        var item: ItemID
        var path: String
        var name: String
        var stat: FileStat?
        var hash: ContentHash?
    }

    private let store: any TreeStore
    private(set) var files: [File] = []
    /// The folders' paths, children before their folder.
    private(set) var folders: [String] = []

    init(_ store: any TreeStore) { self.store = store }

    /// Collects a folder's files by the remote tree.
    mutating func gatherRemote(_ folder: ItemID, at path: String) throws {
        for child in try store.children(of: folder, on: .remote) {
            guard let remote = child.remote else { continue }
            let name = remote.location.name.text
            let inner = LocalPath.join(path, name)
            if child.isFolder {
                try gatherRemote(child.id, at: inner)
            } else {
                files.append(File(item: child.id, path: inner, name: name, hash: remote.hash))
            }
        }
        folders.append(path)
    }

    /// The same with only those files for which `stat` returns one.
    func confirmed(_ stat: (File) throws -> FileStat?) rethrows -> Self {
        var other = self
        other.files = try files.compactMap { file in
            var file = file
            file.stat = try stat(file)
            return file.stat == nil ? nil : file
        }
        return other
    }

    /// Collects all of a folder; false when the server does not have everything yet.
    mutating func gather(_ folder: ItemID, at path: String) throws -> Bool {
        guard let item = try store.item(folder), item.isSettled, item.remote != nil, !item.isFrozen else {
            return false
        }
        for child in try store.children(of: folder, on: .local) {
            guard let local = child.local else { continue }
            let name = local.location.name.text
            let inner = LocalPath.join(path, name)
            if child.isFolder {
                guard try gather(child.id, at: inner) else { return false }
                continue
            }
            guard child.isSettled, !child.isFrozen, let hash = local.hash, child.remote?.hash == hash else {
                return false
            }
            files.append(File(item: child.id, path: inner, name: name, stat: local.stat, hash: hash))
        }
        folders.append(path)
        return true
    }
}

/// Removes the files of deselected folders from the disk.
struct FolderRemover {
    let context: SyncContext
    let control: ControlDirectory
    let installer: Installer
    let trash: TrashCan

    /// Moves the files of a deselected folder to the trash; a file that changed at the last moment stays, and what the
    /// disk refuses is retried.
    ///
    /// - Throws: The store's errors.
    func remove(_ removal: FolderRemoval, _ report: inout SyncReport) throws {
        var isDone = true
        for file in removal.files {
            do throws(FileError) {
                let folder = try context.root.folder(below: LocalPath.split(file.path).parent)
                guard let stat = file.stat, try folder.entry(file.name)?.stat.isUntouched(since: stat) == true else {
                    continue
                }
                let trashing = StagedName.trashing(file.item, expected: file.hash).text
                try folder.rename(file.name, to: control.staging, trashing, .withoutReplacing)
                if try installer.isStill(stat, file.hash, trashing) {
                    try trash.take(staged: trashing, of: file.item, as: file.path)
                } else {
                    try control.staging.rename(trashing, to: folder, file.name, .withoutReplacing)
                }
            } catch {
                if !error.isMissing { isDone = false }
            }
        }
        for path in removal.folders {
            let (parent, name) = LocalPath.split(path)
            do throws(FileError) {
                try context.root.folder(below: parent).removeFolder(name)
            } catch {
                if !error.isMissing, error.code != ENOTEMPTY, error.code != EEXIST { isDone = false }
            }
        }
        try context.root.syncFileSystem()
        if isDone { try context.store.setMeta(.pendingDeselection, nil) } else { report.needsRecovery = true }
    }

    /// The stat of a file whose content is the server's; nil when it is missing or has another content.
    func statOfStored(_ file: FolderRemoval.File) throws -> FileStat? {
        guard let folder = try? context.root.folder(below: LocalPath.split(file.path).parent),
            let open = try? folder.open(file.name), let stat = try? open.stat(), !open.isBeingWritten
        else { return nil }
        return try Scanner.hash(open) == file.hash ? stat : nil
    }
}
