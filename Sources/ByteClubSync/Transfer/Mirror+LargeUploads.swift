import ByteClubCore

extension Mirror {
    /// Sends a large file: in chunks of which only those travel that the server does not have, or as one upload.
    func upload(_ id: ItemID) async throws -> Bool {
        guard let item = try store.item(id), let local = item.local, let folder = try folder(local.place.parent),
            let (file, before) = try openForSending(id, local, in: folder)
        else { return false }
        let size = before.fingerprint.size
        let chunks = try await Self.offCore { try Chunker.chunks(of: file) }
        var seen = local
        (seen.hash, seen.size, seen.look) = (chunks.whole, size, before)
        guard chunks.size == size, try isUnchanged(file, before, local, folder) else {
            suspects.insert(local.place.parent)
            postpone(id)
            return false
        }
        if item.synced?.hash == chunks.whole, item.remote?.hash == chunks.whole {
            return try settleUnchanged(id, seen)
        }
        let write = Write(item: id, effect: .content(chunks.whole, size: size), local: seen)
        try noteSending([write])
        if try await knownFeatures().sync, let wire = remote as? any SyncRemote {
            guard try await send(chunks, of: file, id, wire), try isUnchanged(file, before, local, folder) else {
                suspects.insert(local.place.parent)
                return false
            }
            return try await commit(write, chunks, wire)
        }
        return try await sendWhole(write, file)
    }

    /// Hashes away from the engine's own thread, which has other things to do.
    @concurrent private static func offCore<Value: Sendable>(
        _ work: @Sendable () throws -> Value
    ) async throws -> Value { try work() }

    private func settleUnchanged(_ id: ItemID, _ seen: LocalState) throws -> Bool {
        guard var item = try store.item(id) else { return false }
        item.local = seen
        try store.save(item)
        return true
    }

    private func isUnchanged(
        _ file: any DiskFile, _ before: DiskLook, _ local: LocalState, _ folder: any DiskFolder
    ) throws(FileError) -> Bool {
        let there = try folder.entry(local.place.name.text)?.look
        return try file.look().fingerprint == before.fingerprint && there?.handle == before.handle
    }

    private func send(
        _ chunks: ChunkedContent, of file: any DiskFile, _ id: ItemID, _ wire: any SyncRemote
    ) async throws -> Bool {
        let path = try shownPath(of: id)
        let steps = TransferSteps()
        var done: Int64 = 0
        var start = 0
        while start < chunks.chunks.count {
            let part = chunks.chunks[start..<min(start + 1_000, chunks.chunks.count)]
            start += part.count
            let missing = Set(try await wire.missingChunks(of: part.map(\.hash)))
            for chunk in part {
                if missing.contains(chunk.hash) {
                    var bytes = [UInt8](repeating: 0, count: chunk.size)
                    guard try file.read(into: &bytes, at: chunk.offset) == chunk.size else { return false }
                    try await limited(.up) { [bytes] () throws(RemoteError) in try await wire.putChunk(bytes) }
                }
                done += Int64(chunk.size)
                if steps.isNext(done) { note(id, travelled: done) }
                tally.noteProgress(SyncEvent(.progress, path: path, bytes: done, total: chunks.size))
            }
        }
        return true
    }

    private func commit(_ write: Write, _ chunks: ChunkedContent, _ wire: any SyncRemote) async throws -> Bool {
        guard let item = try store.item(write.item), item.local != nil, try isStillDue(.upload(item.id), item),
            let operation = try contentOperation(item, chunks.whole, chunks.size, chunks: chunks.chunks.map(\.hash))
        else { return false }
        let outcome = try await wire.apply(SyncBatch([operation]), contents: [])
        guard let result = outcome.results.first else { return false }
        return try take([Outgoing(write: write, operation: operation)], [result]).done > 0
    }

    /// What a file is sent as; nil when it is not what was read before.
    ///
    /// One that has a path is read while it travels, and its last bytes are held back when it has changed.
    private func content(of file: any DiskFile, _ write: Write) throws -> Content? {
        if let path = file.path { return .file(path: path) }
        let bytes = try file.bytes(limit: Int(write.local?.size ?? 0) + 1)
        return ContentHasher.hash(bytes) == write.hash ? .bytes(bytes) : nil
    }

    private func sendWhole(_ write: Write, _ file: any DiskFile) async throws -> Bool {
        guard let item = try store.item(write.item), let local = item.local, try isStillDue(.upload(item.id), item),
            !hasUnansweredMove, item.remote?.place.isSameKey(as: local.place) ?? true,
            try isOnServer(local.place.parent)
        else { return false }
        let condition: WriteCondition = item.remote.map { .parent(Revision(number: $0.revision)) } ?? .create
        let path = try item.remote == nil ? remotePath(of: local.place) : remotePath(of: item.id)
        guard let content = try content(of: file, write) else {
            suspects.insert(local.place.parent)
            return false
        }
        let shown = try shownPath(of: write.item)
        let progress = telling(write.item, shown)
        let metadata = try await limited(.up) { [remote] () throws(RemoteError) in
            try await remote.put(content, at: path, condition: condition, policy: .fail, progress: progress)
        }
        guard metadata.contentHash ?? write.hash == write.hash else {
            // It was written to on the way: the server has a state that was never whole, and gets the next one.
            isFeedStale = true
            suspects.insert(local.place.parent)
            return false
        }
        try take(write, metadata)
        return true
    }
}
