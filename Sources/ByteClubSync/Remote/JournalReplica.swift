import ByteClubCore

/// A server with the sync extension: entries have identities, and a journal lists every change.
final class JournalReplica: RemoteReplica {
    /// How many batches may be in flight at once.
    private static let parallelBatches = 3
    /// From how many entries on a page is large enough to prefetch the next one.
    private static let largePage = 500

    let tree: RemoteTree
    var inlineContents = InlineContentCache()
    let groupedUploadBytes: Int64
    private let wire: any SyncRemote
    private let pages: JournalPages
    /// Whether many chunks go in one request, and a large file as an upload.
    private let sendsManyChunks: Bool
    private let operations: OperationIDs
    private let feed: FeedIngest
    /// What the pages of a running pull have listed; nil when none runs.
    private var record: FeedRecord?
    private var ahead: Task<SyncChanges, any Error>?

    private var context: SyncContext { tree.context }
    private var store: any TreeStore { tree.context.store }
    private var configuration: SyncConfiguration { tree.context.configuration }

    init(
        _ tree: RemoteTree, _ wire: any SyncRemote, _ operations: OperationIDs, sendsManyChunks: Bool
    ) throws {
        self.tree = tree
        groupedUploadBytes = sendsManyChunks ? tree.context.groupedBytes : SyncBatch.maximumInlineBytes
        self.wire = wire
        pages = JournalPages(wire: wire, writer: operations.writer)
        self.sendsManyChunks = sendsManyChunks
        self.operations = operations
        let root =
            try tree.context.configuration.remoteRoot.isRoot
            ? .root : tree.context.store.meta(.rootNode).map { EntryID(text: $0) }
        feed = FeedIngest(tree, root: root)
    }

    // MARK: The feed

    func pull(_ report: inout SyncReport) async throws -> FeedState {
        if self.record == nil { try feed.checkFeed("journal") }
        var record = self.record ?? FeedRecord()
        // A prefetched page arrives although this task is cancelled.
        try Task.checkCancellation()
        let asked = try store.meta(.cursor)
        let changes = try await page(after: asked)
        // A refused cursor is dropped, and the page starts from the beginning.
        let cursor = try store.meta(.cursor) == nil ? nil : asked
        try record.progress.take(
            entries: changes.page.entries.count, isReset: changes.page.isReset, cursor: changes.page.cursor,
            after: cursor, hasMore: changes.page.hasMore)
        guard cursor != nil || changes.page.isReset else {
            throw RemoteError(.protocolViolation, "the server's journal lacks its beginning")
        }
        let pass = try take(changes, after: cursor, record, &report)
        self.record = pass.record
        if pass.needsWholeState { return .partial(inline: false) }
        guard changes.page.hasMore else {
            self.record = nil
            try await feed.confirm(pass.swept)
            return .current
        }
        let isLarge = changes.page.entries.count >= Self.largePage
        if isLarge {
            // The next page arrives while this one is applied.
            ahead = Task(executorPreference: context.environment.workers) { [pages] in
                try await pages.page(after: changes.page.cursor)
            }
        }
        return .partial(inline: try isLarge || store.meta(.isSweepPending) == nil)
    }

    func abandonPull() {
        ahead?.cancel()
        (ahead, record) = (nil, nil)
    }

    func ingest(_ changes: SyncChanges, after cursor: String, _ report: inout SyncReport) throws {
        let pass = try take(changes, after: cursor, FeedRecord(), &report)
        if pass.generation != nil { report.needsRound = true }
        // A page from another cursor than the tree's may list more than the tree has.
        if try changes.page.hasMore || store.meta(.cursor) != changes.page.cursor {
            report.distrustFeed(.incompletePage)
        }
    }

    func poll() throws -> (@Sendable () async throws -> PollResult)? {
        guard let first = try store.meta(.cursor) else { return nil }
        let (pages, clock, timeout) = (pages, context.environment.clock, configuration.longPollTimeout)
        return { @Sendable in
            var cursor = first
            while true {
                let start = clock.now
                let changes = try await pages.page(after: cursor, wait: timeout)
                if !changes.page.entries.isEmpty || changes.page.hasMore { return .page(changes, after: cursor) }
                cursor = changes.page.cursor
                try await clock.restAfterPoll(since: start)
            }
        }
    }

    private func page(after cursor: String?) async throws -> SyncChanges {
        if let ahead {
            self.ahead = nil
            if let page = try? await ahead.value { return page }
        }
        do throws(RemoteError) {
            return try await pages.page(after: cursor)
        } catch {
            guard error.code == .staleCursor || error.code == .badCursor, cursor != nil else { throw error }
        }
        try store.setMeta(.cursor, nil)
        return try await pages.page(after: nil)
    }

    /// Applies one page of the journal.
    ///
    /// A page that does not start at the tree's cursor was applied already, and is ignored.
    private func take(
        _ changes: SyncChanges, after cursor: String?, _ record: FeedRecord, _ report: inout SyncReport
    ) throws -> FeedPass {
        guard try store.meta(.cursor) == cursor, cursor != nil || changes.page.isReset else { return FeedPass(record) }
        var inline = changes.contents.makeIterator()
        for entry in changes.page.entries where entry.isInline {
            if let bytes = inline.next(), let hash = entry.hash { inlineContents.add(bytes, hash) }
        }
        var record = record
        let page = try FeedPage(changes.page, after: &record.sequence)
        return try feed.apply(page, record, &report)
    }

    // MARK: Writes

    func write(_ writes: [PlannedWrite], _ reader: FileReader, _ report: inout SyncReport) async throws {
        if writes.isEmpty { return }
        if feed.root == nil { return try await makeRoot(&report) }
        try await withThrowingTaskGroup(of: (OutgoingBatch, Result<SyncOutcome, RemoteError>).self) { group in
            var rest = writes[...]
            var underWay = 0
            let wire = wire
            while true {
                while underWay < Self.parallelBatches, report.failure == nil, !rest.isEmpty {
                    let batch = try nextBatch(&rest, reader, &report)
                    if batch.writes.isEmpty { break }
                    underWay += 1
                    group.addTask { await (batch, batch.send(to: wire)) }
                }
                guard let (batch, result) = try await group.next() else { return }
                underWay -= 1
                switch result {
                case .failure(let error):
                    if batch.rescanChanged(&report) { continue }
                    try report.judge(error, about: batch.writes.map(\.write.item))
                case .success(let outcome): try take(batch.writes, outcome.results, &report)
                }
            }
        }
    }

    /// Creates the mirrored folder on the server, and marks the feed as stale, which will list its node.
    private func makeRoot(_ report: inout SyncReport) async throws {
        report.distrustFeed(.ownWrite)
        do throws(RemoteError) {
            _ = try await wire.createFolder(configuration.remoteRoot)
        } catch {
            guard error.code == .forbidden || error.code == .conflict else { throw error }
        }
    }

    /// Prepares as many writes as fit one batch, removes them from `rest`, and stores that they are being sent.
    private func nextBatch(
        _ rest: inout ArraySlice<PlannedWrite>, _ reader: FileReader, _ report: inout SyncReport
    ) throws -> OutgoingBatch {
        var batch = OutgoingBatch()
        try store.reading {
            while !batch.isFull, let next = rest.first {
                if let ready = try prepare(next, reader, &report), !batch.add(ready) {
                    if let bytes = ready.bytes, let hash = ready.write.hash, let local = ready.write.local {
                        reader.keep(ready.write.item, FileReader.Content(bytes: bytes, hash: hash, local: local))
                    }
                    break
                }
                rest.removeFirst()
            }
        }
        try context.noteSending(batch.writes.map(\.write))
        return batch
    }

    /// Prepares a write for sending; nil when it must wait, or is a large transfer.
    private func prepare(
        _ planned: PlannedWrite, _ reader: FileReader, _ report: inout SyncReport
    ) throws -> BatchedWrite? {
        guard let item = try store.item(planned.item), planned.action.isStillDue(item) else { return nil }
        return switch planned.action {
        case .makeFolder: try prepareFolder(item)
        case .upload: try prepareUpload(item, reader, &report)
        case .move(let location): try prepareMove(item, location)
        case .delete: try prepareDeletion(item)
        }
    }

    /// A location in the extension's terms; nil when its folder is not on the server yet.
    private func wire(_ location: Location) throws -> SyncOperation.Place? {
        let node = try location.parent == .root ? feed.root : store.item(location.parent)?.remote?.node
        return node?.journalNode.map { SyncOperation.Place(.node($0), location.name.text) }
    }

    private func prepareFolder(_ item: Item) throws -> BatchedWrite? {
        guard item.remote == nil, let operation = try creation(of: item, nil) else { return nil }
        return BatchedWrite(
            write: OutgoingWrite(item: item.id, effect: .folder, local: item.local), operation: operation)
    }

    private func prepareMove(_ item: Item, _ target: Location) throws -> BatchedWrite? {
        guard let remote = item.remote, let node = remote.node?.journalNode, let location = try wire(target) else {
            return nil
        }
        return BatchedWrite(
            write: OutgoingWrite(
                item: item.id, effect: .move(target), pathBefore: try store.path(of: item.id, on: .remote)),
            operation: SyncOperation(
                try operations.next(), .move(node, location), if: .init(placeRevision: remote.placeRevision)))
    }

    private func prepareDeletion(_ item: Item) throws -> BatchedWrite? {
        guard item.local == nil, let remote = item.remote, let node = remote.node?.journalNode else { return nil }
        var condition = SyncOperation.Condition()
        if remote.isFolder {
            condition.seen = try feed.position()
        } else {
            condition.revision = try remote.requiredNumber()
            condition.placeRevision = remote.placeRevision
        }
        return BatchedWrite(
            write: OutgoingWrite(
                item: item.id, effect: .delete(nodes: try store.remoteCount(item.id)),
                pathBefore: try store.path(of: item.id, on: .remote)),
            operation: SyncOperation(try operations.next(), .delete(node), if: condition))
    }

    private func prepareUpload(
        _ item: Item, _ reader: FileReader, _ report: inout SyncReport
    ) throws -> BatchedWrite? {
        guard let local = item.local else { return nil }
        if local.size > groupedUploadBytes {
            report.transfers.append(TransferRequest(item: item.id, kind: .upload))
            return nil
        }
        if local.size > SyncBatch.maximumInlineBytes { return try prepareFile(item, local, reader, &report) }
        guard let content = try reader.content(item.id, local, &report) else { return nil }
        let size = Int64(content.bytes.count)
        let read = item.observed(with: content.local.stat)
        guard let operation = try contentOperation(read, content.hash, size, chunks: nil) else { return nil }
        return BatchedWrite(
            write: OutgoingWrite(
                item: item.id, effect: .content(content.hash, size: size), local: content.local),
            operation: operation, bytes: content.bytes)
    }

    /// Prepares the upload of a file whose content is sent before its batch.
    private func prepareFile(
        _ item: Item, _ local: LocalState, _ reader: FileReader, _ report: inout SyncReport
    ) throws -> BatchedWrite? {
        guard let hash = local.hash, let opened = try reader.open(item.id, local, &report) else { return nil }
        guard opened.stat.fingerprint == local.stat?.fingerprint else {
            report.rescans.insert(local.location.parent)
            return nil
        }
        guard let operation = try contentOperation(item, hash, local.size, chunks: [hash]) else { return nil }
        try reader.noteDate(of: item.id, opened.stat, &report)
        return BatchedWrite(
            write: OutgoingWrite(item: item.id, effect: .content(hash, size: local.size), local: local),
            operation: operation, file: opened)
    }

    /// The write that gives an item new content; nil when its folder is not on the server.
    private func contentOperation(
        _ item: Item, _ hash: ContentHash, _ size: Int64, chunks: [ContentHash]?, upload: String? = nil
    ) throws -> SyncOperation? {
        let content = SyncOperation.Content(
            bytes: size, hash: hash, chunks: chunks, upload: upload, modified: item.local?.modified,
            isExecutable: item.toldExecutable)
        if let remote = item.remote {
            guard let node = remote.node?.journalNode else { return nil }
            let condition = SyncOperation.Condition(revision: try remote.requiredNumber())
            return SyncOperation(try operations.next(), .edit(node, content), if: condition)
        }
        return try creation(of: item, content)
    }

    /// The write that makes an entry of an item, or restores its last one; nil when its folder is not on the server.
    private func creation(of item: Item, _ content: SyncOperation.Content?) throws -> SyncOperation? {
        guard let local = item.local, let location = try wire(local.location) else { return nil }
        let action: SyncOperation.Action =
            item.lastNode?.journalNode.map { .undelete($0, location, content) } ?? .create(location, content)
        return SyncOperation(try operations.next(), action)
    }

    // MARK: Answers

    /// Applies the results of writes.
    private func take(_ batch: [BatchedWrite], _ results: [SyncResult], _ report: inout SyncReport) throws {
        var done: [(write: BatchedWrite, entry: SyncEntry)] = []
        for (ready, result) in zip(batch, results) {
            if result.isDone, let entry = result.entry {
                done.append((ready, entry))
            } else {
                try takeRefusal(result, of: ready, &report)
            }
        }
        if done.isEmpty { return }
        report.emissions += try store.edit(durably: true) { editor in
            for one in done { try record(one.write.write, one.entry, &editor, &report) }
            return try done.map { try $0.write.write.log(in: context) }
        }
        for (ready, _) in done { report.note(.succeeded, of: ready.write.item) }
        report.done += done.count
    }

    /// Records a write that the server refused.
    ///
    /// The conflicting state comes from the feed rather than the answer, since the feed lists parents first.
    private func takeRefusal(_ result: SyncResult, of ready: BatchedWrite, _ report: inout SyncReport) throws {
        report.distrustFeed(.refused)
        let message = result.message ?? "the server refused it"
        if case .undelete = ready.operation.action, [404, 409, 412].contains(result.status) {
            // It exists elsewhere or is of another kind: it is created as a new entry.
            guard let item = try store.item(ready.write.item), item.remote == nil else { return }
            try store.edit(durably: false) { editor in try editor.forgetLastNode(item.id) }
        }
        report.refuse(ready.write.item, message, [400, 403, 406, 413].contains(result.status) ? .lasting : .passing)
    }

    /// Records a completed write in the trees.
    private func record(
        _ write: OutgoingWrite, _ entry: SyncEntry, _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws {
        guard let item = try store.item(write.item) else { return }
        if case .delete = write.effect {
            report.deleted += try editor.tombstoned(item)
            return
        }
        if let known = item.remote?.node, known != EntryID(entry.node) {
            // Not the entry that was written.
            return report.distrustFeed(.answerMismatch)
        }
        guard let parent = try feed.item(folder: EntryID(entry.parent)) else { return }
        var pass = FeedPass()
        do { try feed.checkLocation(of: item, in: parent, EntryName(entry.name), &pass) } catch is RemoteError {
            return try tree.restartFeed(&report)
        }
        var remote = RemoteEntry(entry).state(at: Location(parent, EntryName(entry.name)))
        remote.generation = item.remote?.generation ?? 0
        try editor.written(item, write, remote)
    }

    // MARK: Single contents

    func writeMerged(
        _ bytes: [UInt8], _ hash: ContentHash, _ item: Item, _ remote: RemoteState, _ report: inout SyncReport
    ) async throws -> Bool {
        guard let node = remote.node?.journalNode else { return false }
        let isInline = Int64(bytes.count) <= SyncBatch.maximumInlineBytes
        if !isInline { try await wire.putChunk(bytes) }
        let content = SyncOperation.Content(
            bytes: Int64(bytes.count), hash: hash, chunks: isInline ? nil : [hash], modified: context.now,
            isExecutable: item.toldExecutable)
        let operation = SyncOperation(
            try operations.next(), .edit(node, content), if: .init(revision: try remote.requiredNumber()))
        let outcome = try await wire.apply(SyncBatch([operation]), contents: isInline ? [bytes] : [])
        guard let result = outcome.results.first else { return false }
        if let entry = result.entry {
            var pass = FeedPass()
            try store.edit(durably: false) { editor in
                try feed.apply(FeedChange(entry), &pass, &editor, &report)
            }
        }
        if !result.isDone { report.distrustFeed(.refused) }
        return result.isDone
    }

    func isCut(_ item: Item) -> Bool {
        !sendsManyChunks || (item.remote?.node != nil && (item.remote?.size ?? 0) > groupedUploadBytes)
    }

    func upload(
        _ upload: LargeUpload, _ report: inout SyncReport
    ) throws -> (@Sendable () async throws -> UploadResult)? {
        let (wire, inGroups) = (wire, sendsManyChunks)
        var base: ChunkQuestion.Base?
        if inGroups, let remote = try store.item(upload.write.item)?.remote, let node = remote.node?.journalNode {
            base = ChunkQuestion.Base(node, try remote.requiredNumber())
        }
        return { @Sendable [base] in try await upload.send(to: wire, base: base, inGroups: inGroups) }
    }

    func finish(_ upload: LargeUpload, _ result: UploadResult, _ report: inout SyncReport) async throws {
        let chunks = if case .chunks = result { upload.content.chunks?.map(\.hash) } else { [ContentHash]?.none }
        let name = if case .upload(let name) = result { name } else { String?.none }
        guard chunks != nil || name != nil, let item = try store.item(upload.write.item), item.local != nil,
            ServerAction.upload.isStillDue(item),
            let operation = try contentOperation(
                item.observed(with: upload.source.stat), upload.content.whole, upload.content.size, chunks: chunks,
                upload: name)
        else { return }
        // The server stores an upload in no other batch, and keeps one that this batch does not store.
        let outcome = try await wire.apply(SyncBatch([operation], isAllOrNothing: name != nil), contents: [])
        try take([BatchedWrite(write: upload.write, operation: operation)], outcome.results, &report)
    }
}

/// The pages of a server's journal, without the contents that this engine has sent since its start.
///
/// One that it does not have any more is fetched by itself.
struct JournalPages: Sendable {
    private static let limit = 2_000

    let wire: any SyncRemote
    /// What the engine's operations begin with, before a hyphen and a number.
    let writer: String

    /// The page after a cursor, or the first one, waiting for a change when there is none.
    ///
    /// - Throws: As ``SyncRemote/journal(after:limit:contents:wait:)``.
    func page(after cursor: String?, wait: Duration = .zero) async throws(RemoteError) -> SyncChanges {
        try await wire.journal(after: cursor, limit: Self.limit, contents: .besides(writer: writer), wait: wait)
    }
}

/// A generator of unique operation identifiers.
final class OperationIDs {
    /// What the identifiers begin with, before a hyphen and a number.
    let writer: String
    private var count = 0

    /// Creates a generator for one session of the mirror with this identity.
    init(mirror: String, at now: Int64) {
        writer = mirror.prefix(8) + "-" + String(UInt64(bitPattern: now), radix: 16)
    }

    /// The next identifier.
    ///
    /// - Throws: ``SyncError`` with the code `database` when the mirror's identity is no name.
    func next() throws(SyncError) -> OperationID {
        count += 1
        let digits = String(count)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        guard let id = OperationID(writer + "-" + number) else {
            throw SyncError(.database, "the mirror's identity in the database is damaged")
        }
        return id
    }
}
