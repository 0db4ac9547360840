import ByteClubCore
import CLinux
import Glibc

extension Mirror {
    /// Renames local entries to their conflict copies, so that the server's take their places; nothing is overwritten.
    func keepBoth(_ steps: [Step]) throws -> [(path: String, copy: String)] {
        var made: [(path: String, copy: String)] = []
        for step in steps {
            guard case .keepBoth(let local, _, let wanted) = step, let row = rows[step.key], let entry = row.local,
                let path = try localPath(of: step.key) ?? paths[step.key]
            else { continue }
            let copy: String
            do {
                guard let name = try rename(entry, path, to: wanted.name, loser: local) else { continue }
                copy = name
            } catch let error as FileError {
                try fail(step.key, at: path, error)
                continue
            }
            try syncFolder(LocalPath.split(path).parent)
            let target = LocalPath.join(LocalPath.split(path).parent, copy)
            try recordConflict(row, path: path, copy: target)
            suspect(path)
            made.append((path, target))
        }
        return made
    }

    /// Renames an entry to the first free of its conflict names, and gives that; nil when it is not as it was seen.
    private func rename(_ entry: LocalEntry, _ path: String, to wanted: String, loser: Node) throws -> String? {
        let (folder, name) = try place(of: path)
        if !entry.isFolder {
            guard let status = try folder.status(of: name), Fingerprint(status) == entry.fingerprint else {
                suspect(path)
                return nil
            }
        }
        try probe.before(.rename(path))
        var copy = wanted
        var number = 1
        while try !moveUnlessTaken(name, from: folder, to: folder, copy) {
            number += 1
            copy = ConflictName.name(for: loser.path.name, loser: loser.hash, number: number)
        }
        walk?.forget(path)
        return copy
    }

    private func recordConflict(_ row: MirrorRow, path: String, copy: String) throws {
        var changed: [MirrorRow] = []
        let below = try row.local?.isFolder == true ? store.reading { try MirrorStore.rows($0, below: row.key) } : []
        for var row in below + [row] {
            row.local = nil
            row.synced = nil
            row.isKept = false
            changed.append(row)
        }
        try probe.before(.commit("conflict"))
        try store.transaction { db in
            for row in changed { try MirrorStore.save(db, row) }
            try MirrorStore.addConflict(db, copy: copy, of: path, at: WallClock.now())
        }
    }

    /// The conflict copies that racing edits made since the last call.
    func takeMadeConflicts() -> [(path: String, copy: String)] {
        defer { madeConflicts.removeAll() }
        return madeConflicts
    }
}
