import ByteClubCore

extension Mirror {
    /// Settles an item whose content both sides changed: the texts are merged when that is clean; otherwise the server's
    /// keeps the name, and the disk's stands beside it under a conflict name, as an entry of its own.
    func reconcile(_ id: ItemID, conflictName: EntryName) async throws -> Bool {
        guard let item = try store.item(id), let local = item.local, local.hash != nil, let remote = item.remote
        else { return false }
        let isText = local.size <= Int64(TextMerge.limit) && remote.size <= Int64(TextMerge.limit)
        if isText || remote.hash == nil {
            guard let theirs = try await remoteContent(of: item, remote) else { return false }
            let theirHash = ContentHasher.hash(theirs)
            if remote.hash == nil {
                // A server that tells no hashes: now it is known, and the next plan decides.
                guard var item = try store.item(id), item.remote?.revision == remote.revision else { return false }
                item.remote?.hash = theirHash
                try store.save(item)
                return true
            }
            if let synced = item.synced {
                guard let ours = try readNote(id, local) else { return false }
                if let merged = try await merge(item, synced, ours, theirs) {
                    return try await commit(merged, to: item, remote, theirs: theirHash)
                }
            }
        }
        guard let now = try store.item(id), now.local == local, now.remote == remote else { return false }
        return try keepBoth(now, local, conflictName)
    }

    /// The merge of both texts on what they were made from; nil when there is none that is clean.
    private func merge(
        _ item: Item, _ synced: SyncedState, _ mine: [UInt8], _ theirs: [UInt8]
    ) async throws -> [UInt8]? {
        guard let base = try await baseContent(item, synced) else { return nil }
        return TextMerge.merge(base: base, mine: mine, theirs: theirs)
    }

    /// The content that both sides had last.
    private func baseContent(_ item: Item, _ synced: SyncedState) async throws -> [UInt8]? {
        guard let hash = synced.hash, synced.size <= Int64(TextMerge.limit) else { return nil }
        if let kept = surroundings.bases.content(hash) { return kept }
        let revision = Revision(number: synced.revision)
        guard let path = try? remotePath(of: item.id) else { return nil }
        do throws(RemoteError) {
            let bytes = try await remote.content(
                at: path, revision: revision, range: nil, limit: TextMerge.limit
            ).bytes
            return ContentHasher.hash(bytes) == hash ? bytes : nil
        } catch {
            if error.isRetryable || error.code == .cancelled || error.code == .unauthorized { throw error }
            return nil
        }
    }

    /// Reads a small file whose hash is known; nil when it is not as the tree says any more.
    func readNote(_ id: ItemID, _ local: LocalState) throws -> [UInt8]? {
        do {
            guard let folder = try folder(local.place.parent) else { return nil }
            let bytes = try folder.open(local.place.name.text).bytes(limit: Int(local.size) + 1)
            if Int64(bytes.count) == local.size, ContentHasher.hash(bytes) == local.hash { return bytes }
        } catch let error as FileError {
            if !error.isMissing { try note(error, about: id) }
        }
        suspects.insert(local.place.parent)
        return nil
    }

    /// Sends a merged text as the successor of the very version that was merged in, then puts it on the disk.
    private func commit(
        _ merged: [UInt8], to item: Item, _ remote: RemoteState, theirs: ContentHash
    ) async throws -> Bool {
        let hash = ContentHasher.hash(merged)
        if hash != theirs {
            guard try await sendMerged(merged, hash, item, remote) else { return false }
        }
        guard let now = try store.item(item.id), now.local == item.local, let told = now.remote, told.hash == hash
        else {
            return hash != theirs
        }
        let place = now.local?.place ?? told.place
        if hash == now.local?.hash {
            try store.transaction(durably: true) { _ = try adopt(now.id) }
        } else {
            let incoming = Incoming(item: now, place: place, remote: told, hash: hash, bytes: merged)
            if try install([incoming]).isEmpty { return hash != theirs }
        }
        try tell(.merge, item.id)
        return true
    }
}
