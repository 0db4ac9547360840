import ByteClubCore

extension ContentFetcher {
    /// Resolves an item whose content both sides changed: texts are merged when that is clean; otherwise the server's
    /// content keeps the name, and the disk's becomes a conflict copy, an entry of its own.
    ///
    /// - Throws: ``RemoteError`` of calls of the server, beside what the store and the disk throw.
    func resolve(_ id: ItemID, conflictName: EntryName, _ report: inout SyncReport) async throws {
        guard let item = try store.item(id), let local = item.local, local.hash != nil, let remote = item.remote
        else { return }
        // Larger files are never downloaded here, even where the server has no hashes.
        if local.size <= Int64(TextMerge.limit), remote.size <= Int64(TextMerge.limit) {
            guard let theirs = try await content(of: item, remote, &report) else { return }
            let theirHash = ContentHasher.hash(theirs)
            if remote.hash == nil {
                // The server sends no hashes: now the hash is known, and the next plan decides.
                let isNews = try store.edit(durably: false) { editor in
                    try editor.learnRemoteHash(id, theirHash)
                }
                if isNews { report.done += 1 }
                return
            }
            if let synced = item.synced {
                guard let ours = try self.local.reader.note(id, local, &report) else { return }
                if let bytes = try await base(of: item, synced, &report),
                    let merged = TextMerge.merge(base: bytes, mine: ours, theirs: theirs)
                {
                    return try await commit(merged, to: item, remote, theirs: theirHash, &report)
                }
            }
        }
        guard let now = try store.item(id), now.local == local, now.remote == remote else { return }
        try self.local.installer.keepBoth(now, local, conflictName, &report)
    }

    /// Uploads a merged text on condition that the server still has the version that was merged in, then installs it on
    /// disk.
    private func commit(
        _ merged: [UInt8], to item: Item, _ remote: RemoteState, theirs: ContentHash, _ report: inout SyncReport
    ) async throws {
        let hash = ContentHasher.hash(merged)
        if hash != theirs {
            guard try await replica.writeMerged(merged, hash, item, remote, &report) else { return }
            report.done += 1
        }
        guard let now = try store.item(item.id), now.local == item.local, let reported = now.remote,
            reported.hash == hash
        else { return }
        if hash == now.local?.hash {
            let event = try store.edit(durably: true) { editor in
                _ = try editor.markSynced(now.id)
                return try context.log(.merge, now.id)
            }
            report.emit(event)
            report.done += 1
        } else {
            let location = now.local?.location ?? reported.location
            let content = StagedContent(item: now, location: location, remote: reported, hash: hash, bytes: merged)
            try local.installer.install([content], as: .merge, &report)
        }
    }
}
