import ByteClubCore
import CLinux
import Glibc

/// A local entry on its way into the trash.
private struct Departure {
    let key: PathKey
    let entry: LocalEntry
    let path: String
    let shown: RemotePath
}

extension Mirror {
    /// Puts local entries into the trash, children first; gives those that are gone.
    func discard(_ steps: [Step]) throws -> [RemotePath] {
        var gone: [RemotePath] = []
        var files: [Departure] = []
        // A folder goes when all that is in it has gone, so files are collected up to the next folder.
        for step in steps {
            guard case .deleteLocal(let node) = step, let entry = rows[step.key]?.local,
                let path = try localPath(of: step.key) ?? paths[step.key]
            else { continue }
            let departure = Departure(key: step.key, entry: entry, path: path, shown: node.path)
            if !entry.isFolder {
                files.append(departure)
                if files.count < 512 { continue }
            }
            gone += try discardFiles(files)
            files.removeAll(keepingCapacity: true)
            if entry.isFolder, try discardFolder(departure) { gone.append(node.path) }
        }
        return gone + (try discardFiles(files))
    }

    private func discardFiles(_ files: [Departure]) throws -> [RemotePath] {
        guard let area, !files.isEmpty else { return [] }
        let intents = try files.map { file in
            Intent(
                op: "d-" + file.path, verb: .discard, path: file.path, stage: try area.freePlace(for: file.path),
                expected: file.entry.hash, target: nil)
        }
        try probe.before(.commit("intents"))
        try store.transaction { try MirrorStore.add($0, intents) }
        var gone: [Departure] = []
        for (file, intent) in zip(files, intents) where try discard(file, to: intent.stage, area) { gone.append(file) }
        for folder in Set(gone.map { LocalPath.split($0.path).parent }).sorted() { try syncFolder(folder) }
        try forget(gone, closing: intents.map(\.op))
        return gone.map(\.shown)
    }

    private func discard(_ file: Departure, to trashPath: String, _ area: PrivateArea) throws -> Bool {
        do {
            let (folder, name) = try place(of: file.path)
            guard let status = try folder.status(of: name), Fingerprint(status) == file.entry.fingerprint else {
                suspect(file.path)
                return false
            }
            if let open = try? folder.open(name, O_RDONLY | O_NONBLOCK), open.isBeingWritten {
                postpone(file.key)
                return false
            }
            try probe.before(.rename(file.path))
            try area.discard(name, from: folder, to: trashPath)
            return try isExpected(trashPath, file, folder, area)
        } catch let error as FileError {
            try fail(file.key, at: file.path, error)
            return false
        }
    }

    /// Looks at what went into the trash; an edit that came just before goes back to its place.
    private func isExpected(
        _ trashed: String, _ file: Departure, _ folder: FileDescriptor, _ area: PrivateArea
    ) throws -> Bool {
        try probe.before(.inspect(file.path))
        guard let (trash, name) = area.placeInTrash(trashed), let status = try trash.status(of: name) else {
            return true
        }
        if let known = file.entry.fingerprint, known.isSameContent(as: Fingerprint(status)) { return true }
        let hash = try? ContentReader.hash(of: trash.open(name, O_RDONLY | O_NONBLOCK))
        if hash != nil, hash == file.entry.hash { return true }
        suspect(file.path)
        try putBack(name, from: trash, to: folder, path: file.path, hash: hash)
        return false
    }

    /// Moves a file from the trash to its place, or beside it when that is taken.
    func putBack(
        _ name: String, from trash: FileDescriptor, to folder: FileDescriptor, path: String, hash: ContentHash?
    ) throws(FileError) {
        let wanted = LocalPath.split(path).name
        do throws(FileError) {
            try trash.moveWithoutReplacing(name, to: folder, wanted)
        } catch {
            guard error.code == EEXIST else { throw error }
            try trash.moveWithoutReplacing(name, to: folder, ConflictName.name(for: wanted, loser: hash))
        }
    }

    private func discardFolder(_ folder: Departure) throws -> Bool {
        do {
            let (parent, name) = try place(of: folder.path)
            try probe.before(.folder(folder.path))
            try parent.removeDirectory(name)
            walk?.forget(folder.path)
            try syncFolder(LocalPath.split(folder.path).parent)
        } catch let error as FileError where error.code == ENOTEMPTY || error.code == EEXIST {
            try keepLocalFolder(folder)
            return false
        } catch let error as FileError where error.code != ENOENT {
            try fail(folder.key, at: folder.path, error)
            return false
        }
        try forget([folder], closing: [])
        return true
    }

    /// Lets a folder be whose synced entries are gone while others, not synced, are still in it.
    private func keepLocalFolder(_ folder: Departure) throws {
        suspects.insert(folder.path)
        let below = try store.reading { try MirrorStore.rows($0, below: folder.key) }
        // Something synced is still in it, so its deletion only waits.
        if below.contains(where: { $0.local != nil && !isFrozen($0.key) }) { return }
        guard var row = try current(folder.key) else { return }
        row.synced = nil
        row.isKept = true
        try commit("kept", [row])
    }

    private func forget(_ gone: [Departure], closing ops: [String]) throws {
        try probe.before(.commit("deletions"))
        try store.transaction { db in
            for entry in gone {
                guard var row = try MirrorStore.row(db, entry.key) else { continue }
                row.local = nil
                if row.remote == nil { row.synced = nil }
                try MirrorStore.save(db, row)
            }
            try MirrorStore.removeIntents(db, ops)
        }
    }
}
