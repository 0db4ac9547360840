import ByteClubCore
import CLinux
import Glibc

extension Mirror {
    /// Remembers what both sides hold already, and forgets what both have lost.
    func adopt(_ steps: [Step]) throws {
        var changed: [MirrorRow] = []
        for step in steps {
            guard var row = rows[step.key] else { continue }
            switch step {
            case .adopt(let local, let remote):
                row.synced = SyncedEntry(
                    isFolder: local.isFolder, hash: local.hash, size: local.size, revision: remote.revision)
                row.isSwept = false
            case .forget: row.synced = nil
            default: continue
            }
            changed.append(row)
            rows[step.key] = row.isEmpty ? nil : row
        }
        try commit("adopt", changed)
    }

    /// Makes local folders, parents first; gives those that were made.
    func makeFolders(_ steps: [Step]) throws -> [RemotePath] {
        var changed: [MirrorRow] = []
        var made: [RemotePath] = []
        var parents: Set<String> = []
        for step in steps {
            guard case .createLocalFolder(let remote) = step, var row = rows[step.key], let entry = row.remote,
                let parent = step.key.parent, let folder = try localPath(of: parent)
            else { continue }
            let path = LocalPath.join(folder, entry.name)
            try probe.before(.folder(path))
            do {
                let place = try place(of: path)
                try place.directory.makeDirectory(place.name)
            } catch let error as FileError {
                try fail(step.key, at: path, error)
                continue
            }
            if let files { watch?(try files.directory(path), path) }
            row.local = LocalEntry(name: entry.name, isFolder: true)
            row.synced = SyncedEntry(isFolder: true, size: 0, revision: entry.revision)
            row.isKept = false
            rows[step.key] = row
            paths[step.key] = path
            parents.insert(folder)
            changed.append(row)
            made.append(remote.path)
        }
        for parent in parents.sorted() { try syncFolder(parent) }
        try commit("folders", changed)
        // What somebody put there before it was watched.
        suspects.formUnion(changed.compactMap { paths[$0.key] })
        return made
    }

    /// Remembers a folder that was made on the server.
    func recordRemoteFolder(_ key: PathKey, _ metadata: Metadata) throws {
        guard var row = try current(key) else { return }
        row.remote = RemoteEntry(metadata)
        if row.local?.isFolder == true {
            row.synced = SyncedEntry(isFolder: true, size: 0, revision: metadata.rev)
        }
        row.isKept = false
        try commit("remote folder", [row])
        rows[key] = row
    }

    /// Remembers that an entry and all below it are gone on the server.
    func recordRemoteDeletion(_ key: PathKey) throws -> Int {
        var changed: [MirrorRow] = []
        let below = try store.reading { try MirrorStore.rows($0, below: key) }
        for var row in below + (try current(key).map { [$0] } ?? []) where row.remote != nil {
            row.remote = nil
            if row.local == nil { row.synced = nil }
            row.isKept = false
            changed.append(row)
        }
        try commit("remote deletion", changed)
        return changed.count
    }

    /// Stays away from a folder that cannot go on the server because entries in it are not synced.
    func keepRemoteFolder(_ key: PathKey) throws {
        guard var row = try current(key) else { return }
        row.synced = nil
        row.isKept = true
        try commit("kept", [row])
    }

    /// The entries below a folder on the server that a deletion must leave alone.
    func hasUnsyncedBelow(_ key: PathKey) throws -> Bool {
        try store.reading { try MirrorStore.rows($0, below: key) }.contains { $0.remote != nil && $0.isExcluded }
    }

    /// The files below a folder on the server, as they are known, and the folders, children first.
    func remoteEntries(below key: PathKey) throws -> [(key: PathKey, revision: Revision?, isFolder: Bool)] {
        try store.reading { try MirrorStore.rows($0, below: key) }
            .filter { $0.remote != nil && !$0.isExcluded && $0.local == nil }
            .sorted { $1.key < $0.key }
            .map { ($0.key, $0.remote?.revision, $0.remote?.isFolder ?? false) }
    }

    /// The row as it is stored now.
    func current(_ key: PathKey) throws -> MirrorRow? { try store.reading { try MirrorStore.row($0, key) } }

    /// Writes a folder's entries to disk, if it is still there.
    func syncFolder(_ path: String) throws {
        do throws(FileError) {
            let folder = path.isEmpty ? files?.root : try files?.directory(path)
            try folder?.sync()
        } catch {
            guard error.isMissing else { throw error }
            suspect(path)
        }
    }

    /// Sorts out why something could not be done on disk: seen otherwise than planned, or refused.
    func fail(_ key: PathKey, at path: String, _ error: FileError) throws {
        switch error.code {
        case EEXIST, ENOTEMPTY, ENOENT, ENOTDIR, ELOOP, EISDIR:
            suspect(path)
        case ENOSPC, EDQUOT:
            throw SyncError(.io, "the mirror's disk is full: free some space, and the next sync goes on")
        default:
            try addProblem(
                Problem(path: path, key: key, message: error.description, source: .transfer), in: key.parent ?? .root)
        }
    }

    /// Leaves an entry alone that the server will not take or give.
    func fail(_ key: PathKey, _ message: String) throws {
        let path = try localPath(of: key) ?? String(key.string.dropFirst())
        try addProblem(
            Problem(path: path, key: key, message: message, source: .transfer), in: key.parent ?? .root)
    }

    /// Remembers the hash of a server's file that did not tell it.
    func learnRemoteHash(_ key: PathKey, _ hash: ContentHash) throws {
        guard var row = try current(key) else { return }
        row.remote?.hash = hash
        try commit("remote hash", [row])
    }

    func setLastSync() throws { try store.setMeta(.lastSync, "\(WallClock.now() / 1_000_000_000)") }
}

extension Mirror {
    /// The files that somebody is writing.
    var busyPaths: [String] { busy.keys.map { paths[$0] ?? String($0.string.dropFirst()) }.sorted() }
}
