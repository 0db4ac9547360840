import ByteClubCore
import CLinux
import GRDB
import Glibc

extension Mirror {
    /// Plans the next round from what the three trees differ in; `deferring` strips deletions on that side for now.
    func makeWork(confirmed: Set<PathKey>, recentDeletions: Int) throws -> Work {
        rows = [:]
        paths = ["/": ""].reduce(into: [:]) { $0[PathKey(folded: $1.key)] = $1.value }
        walk = files.map { DirectoryWalk($0) }
        var work = Work()
        let now = ContinuousClock.now
        let dirty = try resolveHashes(in: store.reading { try MirrorStore.dirtyRows($0) }.filter { !isFrozen($0.key) })
            .filter { (busy[$0.key]?.until ?? now) <= now }
        let expired = Set(dirty.map(\.key))
        busy = busy.filter { $0.value.until > now || expired.contains($0.key) }
        work.nextLook = busy.values.map(\.until).min()
        if dirty.isEmpty {
            try setHeld([])
            return work
        }
        try load(dirty)
        work.plan = plan()
        try guardDeletions(&work, confirmed: confirmed, recentDeletions: recentDeletions)
        return work
    }

    /// Hashes the files whose content must be compared with another side's.
    private func resolveHashes(in dirty: [MirrorRow]) throws -> [MirrorRow] {
        var changed: [MirrorRow] = []
        var result: [MirrorRow] = []
        result.reserveCapacity(dirty.count)
        for var row in dirty {
            guard let local = row.local, !local.isFolder, local.hash == nil,
                row.remote?.isFolder == false || row.synced?.isFolder == false
            else {
                result.append(row)
                continue
            }
            guard try resolveHash(&row) else { continue }
            result.append(row)
            changed.append(row)
        }
        try commit("hashes", changed)
        return result
    }

    /// Hashes a row's file; false when that cannot be done now.
    private func resolveHash(_ row: inout MirrorRow) throws -> Bool {
        guard let path = try localPath(of: row.key) else { return false }
        do {
            let (folder, name) = try place(of: path)
            let file = try folder.open(name, O_RDONLY | O_NONBLOCK)
            let before = Look(try file.status())
            if file.isBeingWritten {
                postpone(row.key)
                return false
            }
            let hash = try ContentReader.hash(of: file)
            guard Fingerprint(try file.status()) == before.fingerprint else {
                postpone(row.key)
                return false
            }
            busy[row.key] = nil
            row.local?.hash = hash
            row.local?.fingerprint = before.fingerprint
            row.local?.isRacy = before.isRacy
            return true
        } catch let error as FileError where error.isMissing {
            suspect(path)
            return false
        } catch let error as FileError {
            try addProblem(
                Problem(path: path, key: row.key, message: error.description, source: .transfer),
                in: row.key.parent ?? .root)
            return false
        }
    }

    /// Leaves a file alone that somebody is writing: two seconds at first, then twice as long each time up to a minute.
    func postpone(_ key: PathKey) {
        let delay = busy[key].map { min($0.delay * 2, .seconds(60)) } ?? .seconds(2)
        busy[key] = BusyFile(until: .now + delay, delay: delay)
    }

    /// The path on disk of an entry that is in the local tree.
    func localPath(of key: PathKey) throws -> String? {
        if let known = paths[key] { return known }
        guard let parent = key.parent else { return "" }
        guard let local = try rows[key]?.local ?? store.reading({ try MirrorStore.row($0, key) })?.local,
            let folder = try localPath(of: parent)
        else { return nil }
        let path = LocalPath.join(folder, local.name)
        if local.isFolder { paths[key] = path }
        return path
    }

    /// Loads the rows that the planner must see: those that differ, and all folders above them.
    private func load(_ dirty: [MirrorRow]) throws {
        rows.reserveCapacity(dirty.count)
        for row in dirty { rows[row.key] = row }
        try store.reading { db in
            for row in dirty {
                for key in row.key.selfAndAncestors.dropFirst() {
                    if rows[key] != nil { break }
                    guard let row = try MirrorStore.row(db, key) else { continue }
                    rows[key] = row
                }
            }
        }
    }

    private func plan() -> Plan {
        let keys = rows.keys.sorted()
        let needed = Set(keys.compactMap(\.parent))
        var (local, remote, synced) = (Tree(), Tree(), Tree())
        var localFolders: [PathKey: RemotePath] = [.root: .root]
        var remoteFolders: [PathKey: RemotePath] = [.root: .root]
        for key in keys {
            guard let row = rows[key], let parent = key.parent else { continue }
            if row.isExcluded || row.isOnlyKept && !needed.contains(key) { continue }
            if let entry = row.local, let path = try? localFolders[parent]?.appending(entry.name) {
                local[key] = Node(path: path, isFolder: entry.isFolder, hash: entry.hash, size: entry.size)
                if entry.isFolder { localFolders[key] = path }
                if let folder = paths[parent] { paths[key] = LocalPath.join(folder, entry.name) }
            }
            if let entry = row.remote, let path = try? remoteFolders[parent]?.appending(entry.name) {
                remote[key] = Node(
                    path: path, isFolder: entry.isFolder, hash: entry.hash, size: entry.size,
                    revision: entry.revision)
                if entry.isFolder { remoteFolders[key] = path }
            }
            if let entry = row.synced, let path = try? RemotePath(key.string) {
                synced[key] = Node(
                    path: path, isFolder: entry.isFolder, hash: entry.hash, size: entry.size,
                    revision: entry.revision)
            }
        }
        return Planner.plan(local: local, remote: remote, synced: synced)
    }

    /// Takes out of the plan the deletions that nobody may want.
    private func guardDeletions(_ work: inout Work, confirmed: Set<PathKey>, recentDeletions: Int) throws {
        if work.plan.deletions.isEmpty {
            try setHeld([])
            return
        }
        let recursive = Set(
            work.plan.deletions.compactMap { step -> PathKey? in
                if case .deleteRemote(_, recursive: true) = step { return step.key }
                return nil
            })
        let single = Set(work.plan.deletions.map(\.key)).subtracting(recursive)
        let doomed = rows.values.count { row in
            row.synced != nil
                && (single.contains(row.key) || row.key.selfAndAncestors.contains { recursive.contains($0) })
        }
        let total = try store.reading { try MirrorStore.syncedCount($0) }
        if !configuration.approvesDeletions {
            if configuration.deleteGuard.holds(
                deletions: doomed + recentDeletions, of: max(total, doomed) + recentDeletions)
            {
                work.held = work.plan.deletions
                work.heldNodes = doomed
                work.plan.deletions = []
            } else {
                holdUnconfirmed(&work, confirmed)
            }
        }
        try setHeld(work.held)
    }

    /// Holds local deletions that no server told: a server restored from a backup forgets, but deletes nothing.
    private func holdUnconfirmed(_ work: inout Work, _ confirmed: Set<PathKey>) {
        var stays: Set<PathKey> = []
        var kept: [Step] = []
        for step in work.plan.deletions {
            guard case .deleteLocal(let local) = step else {
                kept.append(step)
                continue
            }
            let row = rows[step.key]
            if row?.isSwept == true, !local.isFolder, !confirmed.contains(step.key) {
                work.unconfirmed.append((local.path, row?.synced?.revision))
            } else if !stays.contains(step.key) {
                kept.append(step)
                continue
            }
            work.held.append(step)
            stays.formUnion(step.key.selfAndAncestors)
        }
        work.heldNodes = work.held.count
        work.plan.deletions = kept
    }

    private func setHeld(_ held: [Step]) throws {
        let now = held.map { step -> (path: String, side: String) in
            switch step {
            case .deleteLocal(let node): (node.path.shown, "local")
            case .deleteRemote(let node, _): (node.path.shown, "remote")
            default: (String(step.key.string.dropFirst()), "local")
            }
        }
        let before = try store.heldDeletions()
        if now.isEmpty, before.isEmpty { return }
        if Set(now.map { $0.side + $0.path }) == Set(before.map { $0.side + $0.path }) { return }
        try store.transaction { try MirrorStore.setHeld($0, now) }
    }
}
