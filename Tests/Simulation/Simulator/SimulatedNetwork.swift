import ByteClubCore
import MemoryRemote
import TestSupport

/// The way from one machine to the server: it loses, delays and repeats, and the server refuses now and then.
final class SimulatedNetwork: SyncRemote, @unchecked Sendable {
    // Invariant: a simulation runs on one thread.
    let server: MemoryRemote
    /// How a request, and then its answer, goes.
    var passage: () -> SimulatedMachine.Passage = { .goes }
    /// How likely a call meets a fault, 0 to 1.
    var faults = 0.0
    /// Whether nothing comes through.
    var isDown = false
    /// Whether the server says that its revisions are ordered; if not, there is no journal either.
    var ordersRevisions = true
    /// Whether the server tells the hashes of contents.
    var tellsHashes = true
    /// What each call of the server ends with; nil when it goes well.
    var refusal: RemoteError?
    /// The same for calls that write.
    var writeRefusal: RemoteError?
    /// How many calls changed something.
    private(set) var writes = 0
    /// How many calls there were.
    private(set) var calls = 0
    /// Told every content that the server has taken.
    var onContent: ([UInt8]) -> Void = { _ in }
    /// Told what reaches the server, and what it answers.
    var onWrite: (String) -> Void = { _ in }
    /// Told that the server has changed by a call from here.
    var onChange: () -> Void = {}
    /// Who waits for the server's changes from here.
    private var waiter: CheckedContinuation<Void, Never>?
    /// How many waits were ended, or would have been if there had been one.
    private var ends = 0
    /// What becomes on the way of contents that come from the server.
    var distort: ([UInt8]) -> [UInt8] = { $0 }
    /// Where downloads are written; nil without paths.
    weak var disk: SimulatedDisk?
    /// How many bytes downloads have brought to the disk.
    var downloaded = 0
    /// The rates at which large files have travelled, one for each download, and each chunk or piece.
    var rates: [Int?] = []
    /// Told that they have brought more.
    var onPiece: () -> Void = {}
    /// How often the machine has started anew: what an engine of before still has under way writes no more.
    var starts = 0
    /// Chunks that the server has taken this way.
    private var chunks: [ContentHash: [UInt8]] = [:]
    /// Uploads in pieces, as far as they have come.
    var uploads: [String: [UInt8]] = [:]
    /// How many contents have come with pages of the journal.
    var inlineContents = 0
    /// How many bytes have gone in pieces.
    var uploaded = 0
    private var random: SeededGenerator

    init(_ server: MemoryRemote, seed: UInt64) {
        self.server = server
        random = SeededGenerator(seed: seed)
    }

    /// Passes a call through all that can befall it.
    func carry<Value: Sendable>(
        _ write: @autoclosure () -> String? = nil, _ call: () async throws(RemoteError) -> Value
    ) async throws(RemoteError) -> Value {
        try check("request")
        calls += 1
        let what = write()
        if what != nil { writes += 1 }
        await delay()
        let fault = Double.random(in: 0..<1, using: &random) < faults
        let kind = Int.random(in: 0..<5, using: &random)
        if let refusal { throw refusal }
        if what != nil, let writeRefusal { throw writeRefusal }
        if isDown { throw RemoteError(.unreachable, "the network is down") }
        if fault {
            switch kind {
            case 0: throw RemoteError(.unreachable, "the request was lost")
            case 1: throw RemoteError(.rateLimited, "too many calls", retryAfter: 1)
            case 2: throw RemoteError(.serverFault, "the server failed")
            case 3:
                // It arrives twice, as a request does that somebody on the way repeats.
                if let what {
                    _ = try? await call()
                    onWrite("\(what), repeated")
                    onChange()
                }
            default: break
            }
        }
        let value: Value
        do throws(RemoteError) {
            value = try await call()
        } catch {
            if let what { onWrite("\(what): \(error.code)") }
            throw error
        }
        if let what {
            onWrite("\(what): done\(fault && kind == 4 ? ", answer lost" : "")")
            onChange()
        }
        await delay()
        try check("answer")
        if fault, kind == 4 { throw RemoteError(.unreachable, "the answer was lost") }
        return value
    }

    func check(_ message: String) throws(RemoteError) {
        switch passage() {
        case .goes: return
        case .fails: throw RemoteError(.unreachable, "the \(message) was lost")
        case .stopped: throw RemoteError(.cancelled, "the machine has stopped")
        }
    }

    func delay() async {
        for _ in 0..<Int.random(in: 0..<3, using: &random) { await Task.yield() }
    }

    func powers() async throws(RemoteError) -> RemotePowers {
        var powers = try await server.powers()
        powers.orderedRevisions = ordersRevisions
        powers.sync = ordersRevisions ? self : nil
        return powers
    }
    func account() async throws(RemoteError) -> Account { try await server.account() }

    func shown(_ metadata: Metadata) -> Metadata {
        var shown = metadata
        if !tellsHashes { shown.contentHash = nil }
        return shown
    }

    func metadata(at path: RemotePath) async throws(RemoteError) -> Metadata {
        try await carry { () async throws(RemoteError) in try await self.shown(self.server.metadata(at: path)) }
    }
    func list(
        _ path: RemotePath, unless hash: String?, includeDeleted: Bool
    ) async throws(RemoteError) -> Metadata? {
        try await carry { () async throws(RemoteError) in
            try await self.server.list(path, unless: hash, includeDeleted: includeDeleted)
        }
    }
    func content(
        at path: RemotePath, revision: Revision?, range: Range<Int64>?, limit: Int
    ) async throws(RemoteError) -> (bytes: [UInt8], metadata: Metadata) {
        try await carry { () async throws(RemoteError) in
            let found = try await self.server.content(at: path, revision: revision, range: range, limit: limit)
            var (bytes, metadata) = found
            bytes = self.distort(bytes)
            // A remote holds bytes against the hash that it tells: who lies tells the hash of other bytes.
            if bytes != found.bytes { metadata.contentHash = ContentHasher.hash(bytes) }
            return (bytes, metadata)
        }
    }
    func put(
        _ content: ByteClubCore.Content, at path: RemotePath, modified: FileTime?, executable: Bool?,
        condition: WriteCondition, policy: ConflictPolicy, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata {
        let (bytes, resumption): ([UInt8], UploadResumption?) =
            if case .file(_, let known?) = content {
                (try await sendPieces(of: content, progress), known)
            } else {
                (try sent(content).bytes, nil)
            }
        return try await carry("put \(path) \(condition)") { () async throws(RemoteError) in
            let stored = try await self.server.put(
                .bytes(bytes), at: path, modified: modified, executable: executable,
                condition: condition, policy: policy,
                progress: progress)
            self.onContent(bytes)
            resumption?.keep(nil)
            return self.shown(stored)
        }
    }
    func thumbnail(
        of path: RemotePath, size: ThumbnailSize, format: ThumbnailImageFormat
    ) async throws(RemoteError) -> (bytes: [UInt8], metadata: Metadata) {
        try await server.thumbnail(of: path, size: size, format: format)
    }
    func search(_ path: RemotePath, query: String, limit: Int) async throws(RemoteError) -> [Metadata] {
        try await server.search(path, query: query, limit: limit)
    }
    func delta(after cursor: String?, prefix: RemotePath) async throws(RemoteError) -> DeltaPage {
        try await carry { () async throws(RemoteError) in
            var page = try await self.server.delta(after: cursor, prefix: prefix)
            page.entries = page.entries.map { DeltaEntry(key: $0.key, metadata: $0.metadata.map(self.shown)) }
            return page
        }
    }
    func waitForChanges(after cursor: String, timeout: Duration) async throws(RemoteError) -> LongpollResult {
        await change(since: ends)
        return try await carry { () async throws(RemoteError) in LongpollResult(changes: true) }
    }

    /// Ends the wait for the server's changes that is under way, if there is one.
    func endWait() {
        ends += 1
        waiter?.resume()
        waiter = nil
    }

    /// Waits for the server's next change, unless there was one since a count of ``ends``.
    private func change(since seen: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = Task.isCancelled || ends != seen
                waiter?.resume()
                waiter = isOver ? nil : continuation
                if isOver { continuation.resume() }
            }
        } onCancel: {
            endWait()
        }
    }
    func revisions(
        of path: RemotePath, before revision: Revision?, limit: Int
    ) async throws(RemoteError) -> [Metadata] {
        try await carry { () async throws(RemoteError) in
            try await self.server.revisions(of: path, before: revision, limit: limit)
        }
    }
    func restore(_ path: RemotePath, to revision: Revision) async throws(RemoteError) -> Metadata {
        try await carry("restore \(path)") { () async throws(RemoteError) in
            try await self.server.restore(path, to: revision)
        }
    }
    func createFolder(_ path: RemotePath) async throws(RemoteError) -> Metadata {
        try await carry("mkdir \(path)") { () async throws(RemoteError) in try await self.server.createFolder(path) }
    }
    func delete(_ path: RemotePath, ifUnchangedSince seen: Revision?) async throws(RemoteError) -> Metadata {
        try await carry("delete \(path)") { () async throws(RemoteError) in
            try await self.server.delete(path, ifUnchangedSince: seen)
        }
    }
    func move(_ path: RemotePath, to destination: RemotePath) async throws(RemoteError) -> Metadata {
        try await carry("move \(path) to \(destination)") { () async throws(RemoteError) in
            try await self.server.move(path, to: destination)
        }
    }
    func copy(_ path: RemotePath, to destination: RemotePath) async throws(RemoteError) -> Metadata {
        try await server.copy(path, to: destination)
    }
    func journal(
        after cursor: String?, limit: Int, contents: JournalContents, wait: Duration
    ) async throws(RemoteError) -> SyncChanges {
        let seen = ends
        if wait > .zero,
            let reported = try? await server.journal(after: cursor, limit: 1, contents: .none, wait: .zero),
            reported.page.entries.isEmpty, !reported.page.hasMore
        {
            await change(since: seen)
        }
        return try await carry { () async throws(RemoteError) in
            let changes = try await self.server.journal(after: cursor, limit: limit, contents: contents, wait: .zero)
            self.inlineContents += changes.contents.count
            return changes
        }
    }
    func apply(_ batch: SyncBatch, contents: [[UInt8]]) async throws(RemoteError) -> SyncOutcome {
        try await carry("batch of \(batch.operations.count)") { () async throws(RemoteError) in
            let outcome = try await self.server.apply(batch, contents: contents)
            let sent = batch.operations.indices.filter {
                guard let content = batch.operations[$0].content else { return false }
                return content.chunks == nil && content.upload == nil
            }
            for (index, bytes) in zip(sent, contents) where outcome.results[index].isDone { self.onContent(bytes) }
            for (operation, result) in zip(batch.operations, outcome.results) where result.isDone {
                let parts = operation.content?.chunks.map { $0.compactMap { self.chunks[$0] } } ?? []
                if !parts.isEmpty, parts.count == operation.content?.chunks?.count {
                    self.onContent(Array(parts.joined()))
                }
                if let upload = operation.content?.upload.flatMap({ self.uploads[$0] }) { self.onContent(upload) }
            }
            return outcome
        }
    }
    func missingChunks(
        of hashes: [ContentHash], base: ChunkQuestion.Base?
    ) async throws(RemoteError) -> [ContentHash] {
        try await carry { () async throws(RemoteError) in
            let missing = try await self.server.missingChunks(of: hashes, base: base)
            for hash in Set(hashes).subtracting(missing) { self.chunks[hash] = self.server.chunk(hash) }
            return missing
        }
    }
    func putChunk(_ bytes: [UInt8]) async throws(RemoteError) {
        rates.append(TransferRate.limit)
        try await carry("chunk") { () async throws(RemoteError) in
            try await self.server.putChunk(bytes)
            self.chunks[ContentHasher.hash(bytes)] = bytes
        }
    }
    func putChunks(_ chunks: [OutgoingChunk]) async throws(RemoteError) {
        try await carry("\(chunks.count) chunks") { () async throws(RemoteError) in
            let ready = try chunks.map { (chunk) throws(RemoteError) in
                let bytes = try self.sent(chunk.content).bytes.dropFirst(Int(chunk.offset)).prefix(Int(chunk.bytes))
                return OutgoingChunk(hash: chunk.hash, bytes: chunk.bytes, content: .bytes(Array(bytes)))
            }
            try await self.server.putChunks(ready)
            for case (let hash, .bytes(let bytes)) in ready.map({ ($0.hash, $0.content) }) {
                self.chunks[hash] = bytes
            }
        }
    }
    func digest(of path: RemotePath) async throws(RemoteError) -> SyncDigest {
        try await server.digest(of: path)
    }
}
