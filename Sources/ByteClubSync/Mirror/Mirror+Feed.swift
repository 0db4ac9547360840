import ByteClubCore
import GRDB

extension Mirror {
    /// Where the server's changes go on; nil before the first.
    func cursor() throws -> String? {
        // A mirror of another folder starts anew.
        guard try store.meta(.remoteRoot) == configuration.remoteRoot.string else { return nil }
        return try store.meta(.cursor)
    }

    /// Brings the remote tree up to one page of the server's changes, and moves the cursor, as one change.
    func take(_ page: DeltaPage) throws {
        try probe.before(.commit("delta"))
        try store.transaction { db in
            var generation = try MirrorStore.meta(db, .generation).flatMap { Int64($0) } ?? 0
            if page.reset {
                generation += 1
                try MirrorStore.setMeta(db, .generation, "\(generation)")
                try MirrorStore.setMeta(db, .isSweepPending, "1")
            }
            let isSweeping = try MirrorStore.meta(db, .isSweepPending) != nil
            for entry in page.entries { try take(db, entry, generation: isSweeping ? generation : nil) }
            if isSweeping, !page.hasMore {
                try sweep(db, before: generation)
                try MirrorStore.setMeta(db, .isSweepPending, nil)
            }
            try MirrorStore.setMeta(db, .cursor, page.cursor)
            try MirrorStore.setMeta(db, .remoteRoot, configuration.remoteRoot.string)
        }
    }

    private func take(_ db: Database, _ entry: DeltaEntry, generation: Int64?) throws {
        let root = configuration.remoteRoot
        guard let metadata = entry.metadata, !metadata.isDeleted else {
            if let key = relative(entry.key) { try clearRemote(db, at: key) }
            return
        }
        guard let path = metadata.path.rebased(from: root, to: .root) else { return }
        if path.isRoot {
            if !metadata.isFolder { throw SyncError(.configuration, "'\(root)' on the server is a file, not a folder") }
            return
        }
        var row = try MirrorStore.row(db, path.key) ?? MirrorRow(path.key)
        if generation == nil, let known = row.remote?.revision, let told = metadata.rev,
            known.namespace == told.namespace, told < known
        {
            return
        }
        let old = row
        var remote = RemoteEntry(metadata)
        remote.generation = generation ?? row.remote?.generation ?? 0
        if remote.hash == nil, let known = row.remote, known.revision == remote.revision { remote.hash = known.hash }
        if row.remote?.isFolder == true, !remote.isFolder { try clearRemote(db, below: path.key) }
        if row.remote == nil || row.remote?.isFolder != remote.isFolder {
            row.isExcluded = rules.excludes(path.key, isFolder: remote.isFolder)
            row.isKept = false
        }
        row.isSwept = false
        row.remote = remote
        // The server has gone back in time: what was synced is no base for what it has now.
        if generation != nil, let seen = row.synced?.revision, let told = remote.revision, told < seen,
            remote.hash == nil || remote.hash != row.synced?.hash, !remote.isFolder
        {
            row.synced = nil
        }
        if row != old { try MirrorStore.save(db, row) }
    }

    /// The key below the mirrored folder; the root when the folder itself or one above it is meant; nil outside of it.
    private func relative(_ key: PathKey) -> PathKey? {
        let root = configuration.remoteRoot.key
        if key == root || root.isBelow(key) { return .root }
        guard key.isBelow(root) else { return nil }
        return root == .root ? key : PathKey(folded: String(key.string.utf8.dropFirst(root.string.utf8.count)) ?? "/")
    }

    private func clearRemote(_ db: Database, at key: PathKey) throws {
        try clearRemote(db, below: key)
        guard var row = try MirrorStore.row(db, key), row.remote != nil else { return }
        row.remote = nil
        row.isKept = false
        try MirrorStore.save(db, row)
    }

    private func clearRemote(_ db: Database, below key: PathKey) throws {
        for var row in try MirrorStore.rows(db, below: key) where row.remote != nil {
            row.remote = nil
            row.isKept = false
            try MirrorStore.save(db, row)
        }
    }

    /// Ends a listing from the start: what it has not shown is not on the server, though no deletion was told.
    private func sweep(_ db: Database, before generation: Int64) throws {
        for var row in try MirrorStore.unseenRows(db, before: generation) {
            row.remote = nil
            row.isKept = false
            row.isSwept = row.synced != nil
            try MirrorStore.save(db, row)
        }
    }
}

extension RemoteEntry {
    /// What a server tells of a live entry.
    init(_ metadata: Metadata) {
        self.init(
            name: metadata.path.name, isFolder: metadata.isFolder, hash: metadata.contentHash, size: metadata.bytes,
            revision: metadata.rev)
    }
}
