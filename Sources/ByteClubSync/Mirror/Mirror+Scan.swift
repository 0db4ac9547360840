import ByteClubCore
import CLinux
import GRDB
import Glibc

/// What is to be looked at on disk.
enum ScanScope: Sendable, Equatable {
    case everything
    /// Only these folders, by their paths on disk.
    case folders(Set<String>)
}

/// One scan while it goes on.
private struct Scan {
    var pending: [MirrorRow] = []
    var open: [(path: String, key: PathKey)] = []
    var isRecursive: Bool
    var walk: DirectoryWalk
    let now = WallClock.now()
}

extension Mirror {
    /// Brings the local tree up to what is on disk; a deletion is recorded only where a folder was listed to its end.
    func scan(_ scope: ScanScope) throws {
        guard let files else { return }
        let scope = try loadRules() ? .everything : scope
        var scan = Scan(isRecursive: scope == .everything, walk: DirectoryWalk(files))
        switch scope {
        case .everything:
            suspects.removeAll()
            scan.open = [("", .root)]
        case .folders(let folders):
            let all = folders.union(suspects)
            suspects.removeAll()
            for path in all.sorted() where try isKnownFolder(path) { scan.open.append((path, Self.key(of: path))) }
        }
        while let (path, key) = scan.open.popLast() {
            try Task.checkCancellation()
            try scanFolder(path, key, &scan)
            if scan.pending.count >= 2_000 || !scan.isRecursive { try flush(&scan) }
        }
        try flush(&scan)
    }

    /// The key of a path on disk.
    static func key(of path: String) -> PathKey {
        path.isEmpty ? .root : (try? RemotePath(path))?.key ?? PathKey(folded: "/" + PathKey.fold(path))
    }

    /// Whether a folder is in the local tree; when it is not yet, the nearest known one above it is scanned in its place.
    private func isKnownFolder(_ path: String) throws -> Bool {
        if path.isEmpty { return true }
        let row = try store.reading { try MirrorStore.row($0, Self.key(of: path)) }
        if row?.local?.isFolder == true { return true }
        suspects.insert(LocalPath.split(path).parent)
        return false
    }

    private func flush(_ scan: inout Scan) throws {
        try commit("scan", scan.pending)
        scan.pending.removeAll(keepingCapacity: true)
    }

    private func scanFolder(_ path: String, _ key: PathKey, _ scan: inout Scan) throws {
        let folder: FileDescriptor
        let listing: DirectoryListing
        do throws(FileError) {
            folder = try scan.walk.directory(path)
            watch?(folder, path)
            listing = try DirectoryListing(folder, path: path)
        } catch {
            if error.isMissing {
                if !path.isEmpty { suspects.insert(LocalPath.split(path).parent) }
            } else if !path.isEmpty {
                try replaceProblems(
                    [Problem(path: path, key: key, message: error.description, source: .scan)], in: key)
            } else {
                throw error
            }
            return
        }
        let index = try store.reading { try MirrorStore.index($0, of: key) }
        var look = FolderLook(path: path, key: key, index: index)
        look.compare(listing, device: files?.device ?? 0)
        scan.open += look.unchangedFolders.filter { _ in scan.isRecursive }
        try apply(&look, &scan)
        try replaceProblems(look.problems, in: key)
    }

    private func apply(_ look: inout FolderLook, _ scan: inout Scan) throws {
        for entry in look.changed {
            let isFolder = entry.mode == S_IFDIR
            guard let name = look.claim(entry, remoteRootLength: configuration.remoteRoot.string.utf8.count) else {
                continue
            }
            let key = look.key.child(folded: name)
            var row = try store.reading { try MirrorStore.row($0, key) } ?? MirrorRow(key)
            if rules.excludes(key, isFolder: isFolder) {
                try exclude(&row, &scan)
                continue
            }
            if isFolder {
                scan.open.append((LocalPath.join(look.path, entry.name), key))
                if row.local?.isFolder == true, row.local?.name == entry.name { continue }
            } else if row.local?.isFolder == true {
                try clearBelow(key, &scan)
            }
            if !isFolder, let old = row.local, old.fingerprint == entry.fingerprint, old.name == entry.name {
                guard old.hash != nil, try recheck(&row, look, &scan) else { continue }
            } else {
                row.local = LocalEntry(
                    name: entry.name, isFolder: isFolder, fingerprint: isFolder ? nil : entry.fingerprint)
                row.isKept = false
                row.isExcluded = false
            }
            busy[key] = nil
            scan.pending.append(row)
        }
        for name in look.vanished {
            let key = look.key.child(folded: name)
            guard var row = try store.reading({ try MirrorStore.row($0, key) }) else { continue }
            if row.local?.isFolder == true { try clearBelow(key, &scan) }
            row.local = nil
            row.isKept = false
            busy[key] = nil
            scan.pending.append(row)
        }
    }

    /// Reads a file again whose last look came right after a write; tells whether its row changed.
    private func recheck(_ row: inout MirrorRow, _ look: FolderLook, _ scan: inout Scan) throws -> Bool {
        guard let local = row.local, let fingerprint = local.fingerprint else { return false }
        guard let file = try? scan.walk.directory(look.path).open(local.name, O_RDONLY | O_NONBLOCK),
            case let before = Look(try file.status()), before.fingerprint == fingerprint,
            let hash = try? ContentReader.hash(of: file), Fingerprint(try file.status()) == fingerprint
        else {
            row.local?.hash = nil
            return true
        }
        row.local?.hash = hash
        row.local?.isRacy = before.isRacy
        return row.local != local
    }

    /// Takes an entry that the ignore rules keep out from the local and the synced tree.
    private func exclude(_ row: inout MirrorRow, _ scan: inout Scan) throws {
        guard row.local != nil || row.synced != nil || !row.isExcluded && row.remote != nil else { return }
        if row.local?.isFolder == true { try clearBelow(row.key, &scan) }
        row.local = nil
        row.synced = nil
        row.isExcluded = true
        scan.pending.append(row)
    }

    /// Records that all below a folder is gone from the disk.
    private func clearBelow(_ key: PathKey, _ scan: inout Scan) throws {
        for var row in try store.reading({ try MirrorStore.rows($0, below: key) }) where row.local != nil {
            row.local = nil
            row.isKept = false
            scan.pending.append(row)
        }
        for parent in problems.keys where parent == key || parent.isBelow(key) { try replaceProblems([], in: parent) }
    }
}
