import ByteClubCore
import Glibc

@testable import ByteClubSync

/// An open folder of a simulated disk.
final class SimulatedFolder: DiskFolder, @unchecked Sendable {
    // Invariant: as the disk.

    let disk: SimulatedDisk
    let node: SimulatedNode
    private let epoch: Int

    init(_ disk: SimulatedDisk, _ node: SimulatedNode) {
        self.disk = disk
        self.node = node
        epoch = disk.epoch
        disk.open += 1
    }

    deinit { disk.open -= 1 }

    var path: String? { disk.hasPaths ? "\(SimulatedDisk.pathPrefix)/\(disk.path(node))" : nil }

    func stat() throws(FileError) -> FileStat {
        try enter(.stat, "")
        return disk.stat(node)
    }

    func fingerprintedList() throws(FileError) -> (entries: [DiskEntry], fingerprint: ListingFingerprint) {
        try enter(.list, "")
        try checkUnlocked("list")
        return (node.entries.map(shown), sum())
    }

    func listingFingerprint() throws(FileError) -> ListingFingerprint {
        try enter(.fingerprint, "")
        try checkUnlocked("list")
        return sum()
    }

    func entry(_ name: String) throws(FileError) -> DiskEntry? {
        try enter(.entry, name)
        guard let index = index(name) else { return nil }
        var entry = shown(node.entries[index])
        entry.name = name
        return entry
    }

    func folder(_ name: String) throws(FileError) -> any DiskFolder {
        try enter(.openFolder, name)
        let found = try known(name, "open")
        guard found.kind == .folder else { throw failure("open", name, ENOTDIR) }
        if found.isLocked { throw failure("open", name, EACCES) }
        return SimulatedFolder(disk, found)
    }

    func makeFolder(_ name: String) throws(FileError) {
        try enter(.makeFolder, name)
        try checkFree(name, "make the folder")
        _ = disk.make(.folder, EntryName(name), in: node)
    }

    func removeFolder(_ name: String) throws(FileError) {
        try enter(.removeFolder, name)
        let found = try known(name, "remove the folder")
        guard found.kind == .folder else { throw failure("remove the folder", name, ENOTDIR) }
        guard found.entries.isEmpty else { throw failure("remove the folder", name, ENOTEMPTY) }
        if let index = index(name) { disk.remove(index, from: node) }
    }

    func open(_ name: String) throws(FileError) -> any DiskFile {
        try enter(.open, name)
        let found = try known(name, "open")
        guard found.kind == .file else { throw failure("open", name, found.kind == .folder ? EINVAL : ELOOP) }
        if found.isLocked { throw failure("open", name, EACCES) }
        return SimulatedFile(disk, found)
    }

    func create(_ name: String) throws(FileError) -> any DiskFile {
        try enter(.create, name)
        try checkFree(name, "open")
        return SimulatedFile(disk, disk.make(.file, EntryName(name), in: node))
    }

    // A simulated machine has one user.
    func takeAccess(_ name: String, from other: String, in folder: any DiskFolder) throws(FileError) -> Bool { false }

    func learnLimits(with name: String) throws(FileError) {}

    func closeToOthers() throws(FileError) {}

    func removeFile(_ name: String) throws(FileError) {
        try enter(.removeFile, name)
        guard try known(name, "remove").kind != .folder else { throw failure("remove", name, EISDIR) }
        if let index = index(name) { disk.remove(index, from: node) }
    }

    func rename(
        _ name: String, to folder: any DiskFolder, _ newName: String, _ mode: RenameMode
    ) throws(FileError) {
        guard let target = folder as? SimulatedFolder, target.disk === disk else {
            throw failure("rename", name, EXDEV)
        }
        if mode == .exchanging, !disk.canExchange {
            let temporary = name + LinuxFolder.temporarySuffix
            try target.rename(newName, to: self, temporary, .withoutReplacing)
            do {
                try rename(name, to: target, newName, .withoutReplacing)
            } catch {
                try? rename(temporary, to: target, newName, .withoutReplacing)
                throw error
            }
            return try rename(temporary, to: self, name, .withoutReplacing)
        }
        try enter(.rename, name)
        let moved = try known(name, "rename")
        guard let index = index(name) else { throw failure("rename", name, ENOENT) }
        try checkOutside(moved, target.node, name)
        let other = target.index(newName)
        switch mode {
        case .withoutReplacing:
            if let other, target.node.entries[other].node !== moved || moved.kind == .file && moved.links > 1 {
                throw failure("rename", name, EEXIST)
            }
            disk.move(index, of: node, to: target.node, EntryName(newName))
        case .exchanging:
            guard let other else { throw failure("rename", name, ENOENT) }
            try checkOutside(target.node.entries[other].node, node, name)
            disk.exchange(index, of: node, with: other, of: target.node)
        }
    }

    func sync() throws(FileError) {
        try enter(.syncFolder, "")
        disk.journal.sync(node)
    }

    func syncFileSystem() throws(FileError) {
        try enter(.syncFileSystem, "")
        disk.syncAll()
    }

    func room() throws(FileError) -> (free: Int64, total: Int64) {
        try enter(.room, "")
        return (disk.space, 1 << 40)
    }

    func fileSystem() throws(FileError) -> String {
        try enter(.fileSystem, "")
        return node.generation == 7 && node.number == 2 ? "another" : disk.identity
    }

    // MARK: Parts

    private func enter(_ verb: SimulatedDisk.Call.Verb, _ name: String) throws(FileError) {
        try disk.enter(verb, node, name, epoch: epoch)
    }

    private func index(_ name: String) -> Int? {
        let found =
            node.index(EntryName(name), foldsCase: disk.foldsCase)
            ?? node.entries.firstIndex { disk.takesForOne.isSuperset(of: [name, $0.name.text]) }
        guard let index = found else { return nil }
        return node.entries[index].isDecodable ? index : nil
    }

    private func known(_ name: String, _ operation: String) throws(FileError) -> SimulatedNode {
        guard let index = index(name) else { throw failure(operation, name, ENOENT) }
        return node.entries[index].node
    }

    private func checkFree(_ name: String, _ operation: String) throws(FileError) {
        if index(name) != nil { throw failure(operation, name, EEXIST) }
        // A folder that was removed takes nothing new.
        if node.links == 0 { throw failure(operation, name, ENOENT) }
        if disk.space <= 0 { throw failure(operation, name, ENOSPC) }
    }

    private func checkUnlocked(_ operation: String) throws(FileError) {
        if node.isLocked { throw failure(operation, "", EACCES) }
    }

    private func checkOutside(_ moved: SimulatedNode, _ folder: SimulatedNode, _ name: String) throws(FileError) {
        if folder.links == 0 { throw failure("rename", name, ENOENT) }
        var above: SimulatedNode? = folder
        while let node = above {
            if node === moved { throw failure("rename", name, EINVAL) }
            above = node.parent
        }
    }

    private func shown(_ entry: SimulatedNode.Entry) -> DiskEntry {
        DiskEntry(
            name: entry.name.text, isDecodable: entry.isDecodable, kind: entry.node.kind, stat: disk.stat(entry.node))
    }

    private func sum() -> ListingFingerprint {
        var sum = ListingHasher()
        var isRacy = false
        for entry in node.entries {
            var name = entry.name.text
            let stat = disk.stat(entry.node)
            if entry.node.kind == .file, stat.isRacy { isRacy = true }
            if entry.node.kind == .folder, FileFingerprint.isRecent(entry.node.born, at: disk.time) {
                isRacy = true
            }
            name.withUTF8 { name in
                let bytes = UnsafeRawBufferPointer(name)
                switch entry.node.kind {
                case .folder:
                    unsafe sum.addFolder(bytes, kind: 2, inode: UInt64(entry.node.number), born: entry.node.born)
                case .file, .other:
                    unsafe sum.add(
                        bytes, kind: entry.node.kind == .file ? 1 : 3, inode: UInt64(entry.node.number),
                        size: stat.fingerprint.size, modified: stat.fingerprint.modified,
                        changed: stat.fingerprint.changed)
                }
            }
        }
        return ListingFingerprint(high: sum.high, low: sum.low, isRacy: isRacy)
    }

    private func failure(_ operation: String, _ name: String, _ code: Int32) -> FileError {
        FileError(operation: operation, path: LocalPath.join(disk.path(node), name), code: code)
    }
}
