public import ByteClubCore
import ByteClubRemotes

extension MemoryRemote: SyncRemote {
    /// A page of the journal; at most ``pageSize`` entries.
    public func journal(
        after cursor: String?, limit: Int, contents: JournalContents, wait: Duration
    ) async throws(RemoteError) -> SyncChanges {
        try await perform(.journal) { () async throws(RemoteError) in
            let position = try cursor.map { text throws(RemoteError) in
                guard let cursor = JournalCursor(text) else { throw RemoteError(.badCursor, "not a cursor") }
                return cursor
            }
            if let position, position.end == nil, position.epoch == tree.epoch, wait > .zero {
                await tree.change(after: position.position, until: ContinuousClock.now.advanced(by: wait))
                try RemoteError.checkCancellation()
            }
            let inline = contents == .none ? nil : SyncBatch.maximumInlineBytes
            let writer: OperationWriter? =
                if case .besides(let name) = contents { OperationWriter(member: author, name: name) } else { nil }
            let (entries, limits, told, next, hasMore) = try read { folder in
                let limits = try folder.limits(
                    JournalLimits(entries: min(limit, pageSize), inlineContent: inline), besides: writer,
                    after: position)
                let (entries, next, hasMore) = try folder.journal(
                    after: position, epoch: tree.epoch, limits: limits)
                return (
                    entries, limits, try entries.map { try folder.told($0, isInline: limits.takes($0)) }, next, hasMore
                )
            }
            let page = SyncPage(
                isReset: cursor == nil, cursor: next.description, sequence: hasMore ? nil : next.position,
                hasMore: hasMore, entries: told)
            let bodies = entries.filter(limits.takes).compactMap { $0.contentHash.flatMap(tree.blob) }
            return SyncChanges(page: page, contents: bodies)
        }
    }

    /// Does writes as one atomic change.
    public func apply(_ batch: SyncBatch, contents: [[UInt8]]) async throws(RemoteError) -> SyncOutcome {
        try await perform(.apply) { () throws(RemoteError) in
            guard batch.operations.count <= SyncBatch.maximumOperations,
                batch.operations.allSatisfy({ $0.inlineBytes <= SyncBatch.maximumInlineBytes }),
                contents.reduce(0, { $0 + $1.count }) <= SyncBatch.maximumBytes
            else { throw RemoteError(.tooLarge, "the batch is over its limits") }
            let uploads = batch.operations.compactMap(\.content?.upload)
            guard uploads.count <= 1, uploads.isEmpty || batch.isAllOrNothing else {
                throw RemoteError(.badRequest, "a batch stores one upload, as a whole or not at all")
            }
            var batch = batch
            var blobs: [(hash: ContentHash, bytes: [UInt8])] = []
            var rest = contents[...]
            for index in batch.operations.indices {
                guard let content = batch.operations[index].content else { continue }
                let bytes =
                    content.upload.map { [tree.upload($0)] } ?? content.chunks.map { $0.map(tree.chunk) }
                    ?? [rest.popFirst()]
                guard bytes.allSatisfy({ $0 != nil }) else {
                    batch.operations[index].content?.hash = nil
                    continue
                }
                let whole = Array(bytes.compactMap(\.self).joined())
                let hash = ContentHasher.hash(whole)
                let isRight = Int64(whole.count) == content.bytes && content.hash ?? hash == hash
                if !isRight, content.chunks == nil, content.upload == nil {
                    throw RemoteError(.badRequest, "the content of operation \(index) is another than announced")
                }
                batch.operations[index].content?.hash = isRight ? hash : nil
                if isRight { blobs.append((hash, whole)) }
            }
            let outcome = try tree.write(now: now(), author: author, blobs: blobs, batch)
            if outcome.results.allSatisfy(\.isDone) { uploads.forEach(tree.remove(upload:)) }
            return outcome
        }
    }

    /// The chunks that were neither sent nor are in their base.
    public func missingChunks(
        of hashes: [ContentHash], base: ChunkQuestion.Base?
    ) async throws(RemoteError) -> [ContentHash] {
        try await perform(.missingChunks) { () throws(RemoteError) in
            if let base { try cut(base) }
            return hashes.filter { tree.chunk($0) == nil }
        }
    }

    /// The bytes of a chunk that the server has; nil when it has none of this hash.
    public func chunk(_ hash: ContentHash) -> [UInt8]? { tree.chunk(hash) }

    /// Keeps the chunks of a version.
    private func cut(_ base: ChunkQuestion.Base) throws(RemoteError) {
        guard let bytes = try read({ try $0.file(base) })?.contentHash.flatMap(tree.blob) else { return }
        var chunker = ContentChunker()
        for chunk in chunker.take(bytes) + chunker.finish() {
            let start = Int(chunk.offset)
            tree.add(chunk: Array(bytes[start..<start + chunk.size]), hash: chunk.hash)
        }
    }

    /// Keeps an upload; a file is read here.
    public func sendUpload(
        _ content: Content, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> String {
        try await perform(.sendUpload) { () throws(RemoteError) in
            let bytes: [UInt8]
            switch content {
            case .bytes(let all): bytes = all
            case .file(let path, _): bytes = try OpenFile(reading: path).readAll()
            }
            progress?(TransferProgress(completed: Int64(bytes.count), total: Int64(bytes.count)))
            return tree.add(upload: bytes)
        }
    }

    /// Keeps a chunk.
    public func putChunk(_ bytes: [UInt8]) async throws(RemoteError) {
        try await perform(.putChunk) { () throws(RemoteError) in
            guard bytes.count <= ContentHash.blockSize else { throw RemoteError(.tooLarge, "the chunk is too large") }
            tree.add(chunk: bytes, hash: ContentHasher.hash(bytes))
        }
    }

    /// Keeps chunks; those in files are read here.
    public func putChunks(_ chunks: [OutgoingChunk]) async throws(RemoteError) {
        try await perform(.putChunks) { () throws(RemoteError) in
            for chunk in chunks {
                let bytes: [UInt8]
                switch chunk.content {
                case .bytes(let all): bytes = all
                case .file(let path, _):
                    let all = try OpenFile(reading: path).readAll()
                    bytes = Array(all.dropFirst(Int(chunk.offset)).prefix(Int(chunk.bytes)))
                }
                guard Int64(bytes.count) <= ChunkManifest.maximumChunkBytes else {
                    throw RemoteError(.tooLarge, "the chunk is too large")
                }
                guard ContentHasher.hash(bytes) == chunk.hash else {
                    throw RemoteError(.badRequest, "the bytes of the chunk \(chunk.hash) have another hash")
                }
                tree.add(chunk: bytes, hash: chunk.hash)
            }
        }
    }

    /// The digest of a folder.
    public func digest(of path: RemotePath) async throws(RemoteError) -> SyncDigest {
        try await perform(.digest, path) { () throws(RemoteError) in try read { try $0.digest(path) } }
    }
}

extension MemoryRemote: HistoryRemote {
    /// What members did, the newest first.
    public func history(
        before: Int64?, after: Int64?, limit: Int, wait: Duration
    ) async throws(RemoteError) -> HistoryPage {
        try await perform(.history) { () async throws(RemoteError) in
            if let after, wait > .zero {
                await tree.change(after: after, until: ContinuousClock.now.advanced(by: wait))
                try RemoteError.checkCancellation()
            }
            return try read { try $0.history(before: before, after: after ?? 0, limit: limit) }
        }
    }
}

extension MemoryTree {
    fileprivate func write(
        now: APIDate, author: Int64, blobs: [(hash: ContentHash, bytes: [UInt8])], _ batch: SyncBatch
    ) throws(RemoteError) -> SyncOutcome {
        var refused: SyncOutcome?
        do {
            return try write(now: now, author: author, blobs: blobs) { folder in
                do {
                    return try folder.apply(batch)
                } catch let error as BatchRefused {
                    refused = error.outcome
                    throw error
                }
            }
        } catch {
            if let refused { return refused }
            throw error
        }
    }
}
