import ByteClubCore
import Glibc

extension Mirror {
    /// Makes an operation ready to be sent; nil when it must wait, or a large file takes its own way.
    func prepare(_ operation: Operation) throws -> Outgoing? {
        guard let item = try store.item(operation.item), try isStillDue(operation, item) else { return nil }
        switch operation {
        case .makeRemoteFolder: return try prepareFolder(item)
        case .upload: return try prepareUpload(item)
        case .moveRemote(_, let place): return try prepareMove(item, place)
        case .deleteRemote: return try prepareDeletion(item)
        default: return nil
        }
    }

    /// Whether the server is still as the plan saw it, as far as the tree knows: its journal is taken in while a round is
    /// carried out, and a write on condition of what it tells now would replace what nobody has seen.
    func isStillDue(_ operation: Operation, _ item: Item) throws -> Bool {
        switch operation {
        case .upload: return item.remote == nil || item.synced != nil && !item.isEditedRemotely
        case .moveRemote: return !item.isPlacedRemotely
        case .deleteRemote: return try Planner.plan([item.id], in: store).operations.contains(operation)
        default: return true
        }
    }

    /// What the server calls a folder; nil when it does not have it yet.
    private func node(of folder: ItemID) throws -> NodeID? {
        try folder == .root ? rootNode : store.item(folder)?.remote?.node
    }

    private func place(_ place: Place) throws -> SyncOperation.Place? {
        try node(of: place.parent).map { SyncOperation.Place(.node($0), place.name.text) }
    }

    private func prepareFolder(_ item: Item) throws -> Outgoing? {
        guard let local = item.local, item.remote == nil, let place = try place(local.place) else { return nil }
        let action: SyncOperation.Action = item.lastNode.map { .revive($0, place, nil) } ?? .create(place, nil)
        return Outgoing(
            write: Write(item: item.id, effect: .folder, local: local),
            operation: SyncOperation(try newOperation(), action))
    }

    private func prepareMove(_ item: Item, _ target: Place) throws -> Outgoing? {
        guard let remote = item.remote, let node = remote.node, let place = try place(target) else { return nil }
        pathsBefore[item.id] = try path(of: item.id, on: .remote)
        return Outgoing(
            write: Write(item: item.id, effect: .move(target), local: nil),
            operation: SyncOperation(
                try newOperation(), .move(node, place), if: .init(placeRevision: remote.placeRevision)))
    }

    private func prepareDeletion(_ item: Item) throws -> Outgoing? {
        guard item.local == nil, let remote = item.remote, let node = remote.node else { return nil }
        pathsBefore[item.id] = try path(of: item.id, on: .remote)
        let nodes = try count(item.id)
        var condition = SyncOperation.Condition()
        if remote.isFolder {
            condition.seen = try toldSequence()
        } else {
            condition.revision = remote.revision
            condition.placeRevision = remote.placeRevision
        }
        return Outgoing(
            write: Write(item: item.id, effect: .delete(nodes: nodes), local: nil),
            operation: SyncOperation(try newOperation(), .delete(node), if: condition))
    }

    private func prepareUpload(_ item: Item) throws -> Outgoing? {
        guard let local = item.local, try local.size <= SyncBatch.maximumInlineBytes || !startUpload(item),
            let note = try readForSending(item.id, local)
        else { return nil }
        guard let operation = try contentOperation(item, note.hash, Int64(note.bytes.count), chunks: nil) else {
            return nil
        }
        return Outgoing(
            write: Write(item: item.id, effect: .content(note.hash, size: Int64(note.bytes.count)), local: note.local),
            operation: operation, bytes: note.bytes)
    }

    /// The write that gives an item new content; nil when its folder is not on the server.
    func contentOperation(
        _ item: Item, _ hash: ContentHash, _ size: Int64, chunks: [ContentHash]?
    ) throws -> SyncOperation? {
        let content = SyncOperation.Content(bytes: size, hash: hash, chunks: chunks)
        if let remote = item.remote {
            guard let node = remote.node else { return nil }
            return SyncOperation(
                try newOperation(), .edit(node, content), if: .init(revision: remote.revision))
        }
        guard let local = item.local, let place = try place(local.place) else { return nil }
        let action: SyncOperation.Action =
            item.lastNode.map { .revive($0, place, content) } ?? .create(place, content)
        return SyncOperation(try newOperation(), action)
    }

    /// Sends a merged text; true when the server has it as the successor of the version that was merged in.
    func sendMerged(_ bytes: [UInt8], _ hash: ContentHash, _ item: Item, _ remote: RemoteState) async throws -> Bool {
        guard try await knownFeatures().sync, let wire = self.remote as? any SyncRemote, let node = remote.node else {
            return try await sendMergedFile(bytes, item, remote)
        }
        let isInline = bytes.count <= SyncBatch.maximumInlineBytes
        if !isInline { try await wire.putChunk(bytes) }
        let content = SyncOperation.Content(
            bytes: Int64(bytes.count), hash: hash, chunks: isInline ? nil : [hash])
        let operation = SyncOperation(
            try newOperation(), .edit(node, content), if: .init(revision: remote.revision))
        let outcome = try await wire.apply(SyncBatch([operation]), contents: isInline ? [bytes] : [])
        guard let result = outcome.results.first else { return false }
        if let entry = result.entry {
            var walk = FeedWalk()
            try store.transaction(durably: false) { try take(entry, &walk) }
        }
        if !result.isDone { isFeedStale = true }
        return result.isDone
    }

    private func sendMergedFile(_ bytes: [UInt8], _ item: Item, _ remote: RemoteState) async throws -> Bool {
        if hasUnansweredMove { return false }
        do throws(RemoteError) {
            let path: RemotePath
            do { path = try remotePath(of: item.id) } catch { return false }
            let metadata = try await self.remote.put(
                .bytes(bytes), at: path, condition: .parent(Revision(number: remote.revision)), policy: .fail,
                progress: nil)
            isFeedStale = true
            do { try takeMerged(metadata, item.id) } catch { return false }
            return true
        } catch {
            isFeedStale = true
            if error.code == .conflict || error.code == .notFound { return false }
            throw error
        }
    }

    private func takeMerged(_ metadata: Metadata, _ id: ItemID) throws {
        guard var item = try store.item(id), let revision = metadata.rev else { return }
        item.remote?.hash = metadata.contentHash
        item.remote?.size = metadata.bytes
        item.remote?.revision = revision.number
        try store.save(item)
    }

    /// Opens the file that the tree knows, unless somebody is writing it; nil when it must wait or is another one.
    func openForSending(
        _ id: ItemID, _ seen: LocalState, in folder: any DiskFolder
    ) throws(FileError) -> (file: any DiskFile, look: DiskLook)? {
        let file = try folder.open(seen.place.name.text)
        let look = try file.look()
        guard look.handle == seen.look?.handle else {
            suspects.insert(seen.place.parent)
            return nil
        }
        if file.isBeingWritten {
            postpone(id)
            return nil
        }
        return (file, look)
    }

    /// Reads a small file for sending, between two looks that agree; nil when that must wait.
    func readForSending(
        _ id: ItemID, _ seen: LocalState
    ) throws -> (bytes: [UInt8], hash: ContentHash, local: LocalState)? {
        do {
            guard let folder = try folder(seen.place.parent) else { return nil }
            guard let (file, before) = try openForSending(id, seen, in: folder) else { return nil }
            let bytes = try file.bytes(limit: Int(before.fingerprint.size) + 1)
            guard Int64(bytes.count) == before.fingerprint.size, try file.look().fingerprint == before.fingerprint
            else {
                suspects.insert(seen.place.parent)
                postpone(id)
                return nil
            }
            busy[id] = nil
            let hash = ContentHasher.hash(bytes)
            var local = seen
            local.hash = hash
            local.size = before.fingerprint.size
            local.look = before
            return (bytes, hash, local)
        } catch let error as FileError {
            try note(error, about: id)
            return nil
        }
    }
}
