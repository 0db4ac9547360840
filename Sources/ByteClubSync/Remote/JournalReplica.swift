import ByteClubCore

/// A server with the extension for sync: entries have identities, and a journal tells of every change.
final class JournalReplica: RemoteReplica {
    /// How many batches may be under way at once.
    private static let parallelBatches = 3
    private static let pageLimit = 2_000
    /// How many entries make a page large enough for the next one to be asked for meanwhile.
    private static let largePage = 500

    let tree: RemoteTree
    var inlineContents = InlineContentCache()
    private let wire: any SyncRemote
    private let operations: OperationIDs
    /// What the server calls the mirrored folder; nil when it is not there.
    private var root: NodeID?
    /// What the pages of a pull under way have told; nil when none is.
    private var record: FeedRecord?
    private var ahead: Task<SyncChanges, any Error>?

    private var context: SyncContext { tree.context }
    private var store: any TreeStore { tree.context.store }
    private var configuration: SyncConfiguration { tree.context.configuration }

    init(_ tree: RemoteTree, _ wire: any SyncRemote, _ operations: OperationIDs) throws {
        self.tree = tree
        self.wire = wire
        self.operations = operations
        root =
            try tree.context.configuration.remoteRoot.isRoot
            ? .root : tree.context.store.meta(.rootNode).flatMap { Int64($0) }.map(NodeID.init)
    }

    // MARK: The feed

    func pull(_ report: inout SyncReport) async throws -> PullResult {
        var record: FeedRecord
        if let known = self.record {
            record = known
        } else {
            record = FeedRecord()
            if try tree.checkFeed("journal"), !configuration.remoteRoot.isRoot { try setRoot(nil) }
        }
        // A page that was asked for ahead comes although this task is cancelled.
        try Task.checkCancellation()
        let asked = try store.meta(.cursor)
        let changes = try await page(after: asked)
        // A cursor that the server has refused is forgotten, and the page begins at the beginning.
        let cursor = try store.meta(.cursor) == nil ? nil : asked
        try record.progress.take(
            entries: changes.page.entries.count, isReset: changes.page.isReset, cursor: changes.page.cursor,
            after: cursor, hasMore: changes.page.hasMore)
        guard cursor != nil || changes.page.isReset else {
            throw RemoteError(.protocolViolation, "the server's journal begins without its beginning")
        }
        let walk = try take(changes, after: cursor, record, &report)
        self.record = walk.record
        if walk.needsWholeState { return .more(lands: false) }
        guard changes.page.hasMore else {
            self.record = nil
            try await tree.confirm(walk.swept)
            return .end
        }
        let isLarge = changes.page.entries.count >= Self.largePage
        if isLarge { ahead = Self.page(ahead: changes.page.cursor, wire, context.environment.workers) }
        return .more(lands: try isLarge || store.meta(.isSweepPending) == nil)
    }

    func abandonPull() {
        ahead?.cancel()
        (ahead, record) = (nil, nil)
    }

    func ingest(_ changes: SyncChanges, after cursor: String, _ report: inout SyncReport) throws {
        try take(changes, after: cursor, FeedRecord(), &report)
        // One that starts elsewhere than where the tree stands by now may tell more than the tree has.
        if try changes.page.hasMore || store.meta(.cursor) != changes.page.cursor { report.isFeedStale = true }
    }

    func poll() throws -> (@Sendable () async throws -> PollResult)? {
        guard let first = try store.meta(.cursor) else { return nil }
        let (wire, clock, timeout) = (wire, context.environment.clock, configuration.longPollTimeout)
        return { @Sendable in
            var cursor = first
            while true {
                let pause = PollPause(clock)
                let changes = try await wire.journal(
                    after: cursor, limit: Self.pageLimit, contents: true, wait: timeout)
                if !changes.page.entries.isEmpty || changes.page.hasMore { return .page(changes, after: cursor) }
                cursor = changes.page.cursor
                try await pause.rest()
            }
        }
    }

    /// Asks for a page while the one before it is carried out.
    private static func page(
        ahead cursor: String, _ wire: any SyncRemote, _ workers: (any TaskExecutor)?
    ) -> Task<SyncChanges, any Error> {
        Task(executorPreference: workers) {
            try await wire.journal(after: cursor, limit: pageLimit, contents: true, wait: .zero)
        }
    }

    private func page(after cursor: String?) async throws -> SyncChanges {
        if let ahead {
            self.ahead = nil
            if let page = try? await ahead.value { return page }
        }
        do throws(RemoteError) {
            return try await wire.journal(after: cursor, limit: Self.pageLimit, contents: true, wait: .zero)
        } catch {
            guard error.code == .staleCursor || error.code == .badCursor, cursor != nil else { throw error }
        }
        try store.setMeta(.cursor, nil)
        return try await wire.journal(after: nil, limit: Self.pageLimit, contents: true, wait: .zero)
    }

    /// Brings the tree up to one page of the journal, and moves the cursor, as one change.
    ///
    /// A page that does not start where the tree stands has been taken already, and is left out.
    @discardableResult
    private func take(
        _ changes: SyncChanges, after cursor: String?, _ record: FeedRecord, _ report: inout SyncReport
    ) throws -> FeedWalk {
        guard try store.meta(.cursor) == cursor, cursor != nil || changes.page.isReset else { return FeedWalk(record) }
        var inline = changes.contents.makeIterator()
        for entry in changes.page.entries where entry.isInline {
            if let bytes = inline.next(), let hash = entry.hash { inlineContents.add(bytes, hash) }
        }
        var walk = FeedWalk(record)
        if changes.page.isReset { walk.record.sequence = 0 }
        let formerRoot = root
        do {
            try store.edit(durably: false) { editor in try take(changes.page, &walk, &editor, &report) }
        } catch {
            root = formerRoot
            throw error
        }
        return walk
    }

    private func take(
        _ page: SyncPage, _ walk: inout FeedWalk, _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws {
        if page.isReset { try forgetIdentities(unless: page.cursor) }
        walk.generation = try tree.beginWalk(isReset: page.isReset)
        walk.isForeign = try walk.generation != nil && store.meta(.isForeign) != nil
        for entry in page.entries {
            guard entry.sequence > walk.record.sequence else {
                throw RemoteError(.protocolViolation, "the server's journal goes back to what it has told")
            }
            walk.record.sequence = entry.sequence
            try take(entry, &walk, &editor, &report)
        }
        if walk.needsWholeState { return }
        if !page.hasMore { try tree.endWalk(&walk, &editor, &report) }
        if walk.generation == nil, !report.hasChanges {
            // What this tells again is told again if it is lost.
            try store.setMetaLater(.cursor, page.cursor)
            if let sequence = page.sequence { try store.setMetaLater(.sequence, "\(sequence)") }
            return
        }
        try store.setMeta(.cursor, page.cursor)
        if let sequence = page.sequence { try store.setMeta(.sequence, "\(sequence)") }
    }

    /// Takes what the server told of an entry.
    private func take(
        _ entry: SyncEntry, _ walk: inout FeedWalk, _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws {
        if entry.node == .root { return try walk.record.progress.takeRepeat() }
        if entry.isDeleted {
            if entry.node == root { try setRoot(nil) }
            return try takeDeletion(entry, &report)
        }
        guard let parent = try item(folder: entry.parent) else {
            throw RemoteError(.protocolViolation, "the server's journal tells '\(entry.name)' before its folder")
        }
        if try parent != .root && parent != .outside && store.item(parent)?.isFolder != true {
            throw RemoteError(.protocolViolation, "the server's journal tells of '\(entry.name)' in a file")
        }
        if entry.node == root { return try walk.record.progress.takeRepeat() }
        if (try? NameRules.check(entry.name)) == nil {
            // A name that is a path would lead out of the mirror.
            throw RemoteError(.protocolViolation, "the server's journal tells of an entry with an impossible name")
        }
        let name = EntryName(entry.name)
        let isOutside = try tree.isOutside(parent, &walk)
        var item = try store.item(node: entry.node)
        if item == nil, walk.isForeign { item = try formerItem(at: Place(parent, name), isFolder: entry.isFolder) }
        if try isOutside && isMirroredFolder(entry, parent, name) {
            report.hasChanges = true
            return try enterRoot(entry.node, item)
        }
        if let known = item, let seen = known.remote, walk.generation == nil, entry.isOlder(than: seen) { return }
        if item?.remote == nil, entry.isFolder, walk.generation == nil, try wasTold(entry) {
            // What the tree has lost is not told again. So it is with a folder that somebody moved out of another one, right
            // before we deleted that.
            walk.needsWholeState = true
            report.isFeedStale = true
            try store.setMeta(.cursor, nil)
        }
        try tree.checkPlace(of: item, in: parent, name, &walk)
        var told = entry.state(in: parent)
        told.generation = walk.generation ?? item?.remote?.generation ?? 0
        try tree.keep(
            told, as: item, isOutside: isOutside, isRefresh: walk.generation != nil, &walk, &editor, &report)
    }

    /// Whether the journal has told of an entry's making already, so that all that is in it was told as well.
    private func wasTold(_ entry: SyncEntry) throws -> Bool {
        try toldSequence().map { entry.revision <= $0 } ?? false
    }

    /// Up to which change the journal has told; nil before its first walk has ended.
    private func toldSequence() throws -> Int64? { try store.meta(.sequence).flatMap { Int64($0) } }

    private func takeDeletion(_ entry: SyncEntry, _ report: inout SyncReport) throws {
        guard var item = try store.item(node: entry.node) else { return }
        if let remote = item.remote, entry.revision < remote.revision { return }
        if item.remote != nil { report.hasChanges = true }
        item.remote = nil
        item.lastNode = item.isOutside ? nil : entry.node
        try store.save(item)
    }

    // MARK: Identities

    /// Forgets identities when a walk over the whole state is not of the journal that was followed last; the entries are
    /// known again by their places.
    private func forgetIdentities(unless cursor: String) throws {
        let epoch = String(cursor.prefix { $0 != "." })
        let isForeign = try store.meta(.epoch) != epoch
        if isForeign {
            for top in [ItemID.root, .outside] {
                try store.visitRemote(below: top) { item in
                    var item = item
                    item.remote?.node = nil
                    item.remote?.generation = 0
                    item.lastNode = nil
                    try store.save(item)
                }
            }
            if !configuration.remoteRoot.isRoot { try setRoot(nil) }
        }
        try store.setMeta(.isForeign, isForeign ? "1" : nil)
        try store.setMeta(.epoch, epoch)
    }

    /// The entry that the server had at a place before it numbered anew.
    private func formerItem(at place: Place, isFolder: Bool) throws -> Item? {
        try store.children(of: place.parent, key: place.name.key, on: .remote).first {
            $0.remote?.node == nil && $0.isFolder == isFolder
        }
    }

    /// The item of a folder by the server's name for it; nil when it was never told.
    private func item(folder node: NodeID) throws -> ItemID? {
        if node == root { return .root }
        if node == .root { return .outside }
        return try store.item(node: node)?.id
    }

    private func setRoot(_ node: NodeID?) throws {
        root = node
        try store.setMeta(.rootNode, node.map { "\($0)" })
    }

    private func isMirroredFolder(_ entry: SyncEntry, _ parent: ItemID, _ name: EntryName) throws -> Bool {
        guard entry.isFolder, root == nil else { return false }
        let wanted = configuration.remoteRoot.components.map(PathKey.fold)
        var keys = [name.key]
        var next = parent
        while next != .outside {
            guard keys.count < wanted.count, let place = try store.item(next)?.remote?.place else { return false }
            keys.insert(place.name.key, at: 0)
            next = place.parent
        }
        return keys == wanted
    }

    /// Takes a folder of the server for the mirrored one, with all that is in it.
    private func enterRoot(_ node: NodeID, _ known: Item?) throws {
        try setRoot(node)
        guard var known else { return }
        for var child in try store.children(of: known.id, on: .remote) {
            child.remote?.place.parent = .root
            (child.isOutside, child.isExcluded) = (false, false)
            try store.save(child)
            try tree.mark(below: child.id, isOutside: false, isExcluded: false)
        }
        known.remote = nil
        known.lastNode = nil
        try store.save(known)
    }

    // MARK: Writes

    /// A write in the extension's terms, ready to be sent.
    private struct BatchedWrite: Sendable {
        let write: OutgoingWrite
        let operation: SyncOperation
        /// The bytes that travel along.
        var bytes: [UInt8]?

        /// About how many bytes it takes in a batch.
        var weight: Int { (bytes?.count ?? 0) + 320 + operation.nameLength }
    }

    func write(_ operations: [Operation], _ reader: FileReader, _ report: inout SyncReport) async throws {
        if operations.isEmpty { return }
        if root == nil { return try await makeRoot(&report) }
        try await withThrowingTaskGroup(of: Answer.self) { group in
            var rest = operations[...]
            var underWay = 0
            let wire = wire
            while true {
                while underWay < Self.parallelBatches, report.failure == nil, !rest.isEmpty {
                    let batch = try nextBatch(&rest, reader, &report)
                    if batch.isEmpty { break }
                    underWay += 1
                    let sent = SyncBatch(batch.map(\.operation))
                    let contents = batch.compactMap(\.bytes)
                    group.addTask { await Answer(batch: batch, result: Self.apply(sent, contents, wire)) }
                }
                guard let answer = try await group.next() else { return }
                underWay -= 1
                switch answer.result {
                case .failure(let error): try report.judge(error, about: answer.batch.map(\.write.item))
                case .success(let outcome): try take(answer.batch, outcome.results, &report)
                }
            }
        }
    }

    /// A batch and what became of it.
    private struct Answer: Sendable {
        let batch: [BatchedWrite]
        let result: Result<SyncOutcome, RemoteError>
    }

    private static func apply(
        _ batch: SyncBatch, _ contents: [[UInt8]], _ wire: any SyncRemote
    ) async -> Result<SyncOutcome, RemoteError> {
        do throws(RemoteError) {
            return .success(try await wire.apply(batch, contents: contents))
        } catch {
            return .failure(error)
        }
    }

    /// Makes the mirrored folder on the server, and has the feed tell what it is called.
    private func makeRoot(_ report: inout SyncReport) async throws {
        report.isFeedStale = true
        do throws(RemoteError) {
            _ = try await wire.createFolder(configuration.remoteRoot)
        } catch {
            guard error.code == .forbidden || error.code == .conflict else { throw error }
        }
    }

    /// Prepares as many operations as fit one batch.
    private func nextBatch(
        _ rest: inout ArraySlice<Operation>, _ reader: FileReader, _ report: inout SyncReport
    ) throws -> [BatchedWrite] {
        var batch: [BatchedWrite] = []
        var weight = 1_024
        while batch.count < SyncBatch.maximumOperations, let next = rest.first {
            guard let ready = try prepare(next, reader, &report) else {
                rest.removeFirst()
                continue
            }
            if weight + ready.weight > SyncBatch.maximumBytes {
                if let bytes = ready.bytes, let hash = ready.write.hash, let local = ready.write.local {
                    reader.keep(ready.write.item, FileReader.Content(bytes: bytes, hash: hash, local: local))
                }
                break
            }
            weight += ready.weight
            batch.append(ready)
            rest.removeFirst()
        }
        try context.noteSending(batch.map(\.write))
        return batch
    }

    /// Makes an operation ready to be sent; nil when it must wait, or a large file takes its own way.
    private func prepare(
        _ operation: Operation, _ reader: FileReader, _ report: inout SyncReport
    ) throws -> BatchedWrite? {
        guard let item = try store.item(operation.item), try tree.isStillDue(operation, item) else { return nil }
        switch operation {
        case .makeRemoteFolder: return try prepareFolder(item)
        case .upload: return try prepareUpload(item, reader, &report)
        case .moveRemote(_, let place): return try prepareMove(item, place)
        case .deleteRemote: return try prepareDeletion(item)
        default: return nil
        }
    }

    /// A place as the extension names it; nil when its folder is not on the server yet.
    private func place(_ place: Place) throws -> SyncOperation.Place? {
        let node = try place.parent == .root ? root : store.item(place.parent)?.remote?.node
        return node.map { SyncOperation.Place(.node($0), place.name.text) }
    }

    private func prepareFolder(_ item: Item) throws -> BatchedWrite? {
        guard let local = item.local, item.remote == nil, let place = try place(local.place) else { return nil }
        let action: SyncOperation.Action = item.lastNode.map { .revive($0, place, nil) } ?? .create(place, nil)
        return BatchedWrite(
            write: OutgoingWrite(item: item.id, effect: .folder, local: local),
            operation: SyncOperation(try operations.next(), action))
    }

    private func prepareMove(_ item: Item, _ target: Place) throws -> BatchedWrite? {
        guard let remote = item.remote, let node = remote.node, let place = try place(target) else { return nil }
        return BatchedWrite(
            write: OutgoingWrite(
                item: item.id, effect: .move(target), pathBefore: try store.path(of: item.id, on: .remote)),
            operation: SyncOperation(
                try operations.next(), .move(node, place), if: .init(placeRevision: remote.placeRevision)))
    }

    private func prepareDeletion(_ item: Item) throws -> BatchedWrite? {
        guard item.local == nil, let remote = item.remote, let node = remote.node else { return nil }
        var condition = SyncOperation.Condition()
        if remote.isFolder {
            condition.seen = try toldSequence()
        } else {
            condition.revision = remote.revision
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
        if local.size > SyncBatch.maximumInlineBytes {
            report.transfers.append(TransferRequest(item: item.id, kind: .upload))
            return nil
        }
        guard let content = try reader.content(item.id, local, &report) else { return nil }
        let size = Int64(content.bytes.count)
        guard let operation = try contentOperation(item, content.hash, size, chunks: nil) else { return nil }
        return BatchedWrite(
            write: OutgoingWrite(
                item: item.id, effect: .content(content.hash, size: size), local: content.local),
            operation: operation, bytes: content.bytes)
    }

    /// The write that gives an item new content; nil when its folder is not on the server.
    private func contentOperation(
        _ item: Item, _ hash: ContentHash, _ size: Int64, chunks: [ContentHash]?
    ) throws -> SyncOperation? {
        let content = SyncOperation.Content(bytes: size, hash: hash, chunks: chunks)
        if let remote = item.remote {
            guard let node = remote.node else { return nil }
            return SyncOperation(try operations.next(), .edit(node, content), if: .init(revision: remote.revision))
        }
        guard let local = item.local, let place = try place(local.place) else { return nil }
        let action: SyncOperation.Action =
            item.lastNode.map { .revive($0, place, content) } ?? .create(place, content)
        return SyncOperation(try operations.next(), action)
    }

    // MARK: Answers

    /// Takes what became of writes.
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
        for (ready, _) in done {
            report.note(.succeeded, of: ready.write.item)
            if let bytes = ready.bytes, let hash = ready.write.hash { context.environment.bases.keep(bytes, hash) }
        }
        report.done += done.count
    }

    /// Records a write that the server refused.
    ///
    /// What is in its way is not taken from the answer but from the feed, which lists folders before what is in them.
    private func takeRefusal(_ result: SyncResult, of ready: BatchedWrite, _ report: inout SyncReport) throws {
        report.isFeedStale = true
        let message = result.message ?? "the server refused it"
        if case .revive = ready.operation.action, [404, 409, 412].contains(result.status) {
            // It lives elsewhere or is of another kind: it comes as a new entry.
            guard var item = try store.item(ready.write.item), item.remote == nil else { return }
            item.lastNode = nil
            try store.save(item)
        }
        report.refuse(ready.write.item, message, isFinal: [400, 403, 406, 413].contains(result.status))
    }

    /// Keeps in the trees what a write has done.
    private func record(
        _ write: OutgoingWrite, _ entry: SyncEntry, _ editor: inout TreeEditor, _ report: inout SyncReport
    ) throws {
        guard let item = try store.item(write.item) else { return }
        if case .delete = write.effect {
            report.deleted += try editor.tombstoned(item)
            return
        }
        if let known = item.remote?.node, known != entry.node {
            // Another's entry has been taken for this item meanwhile: the feed tells of the one that was made.
            report.isFeedStale = true
            return
        }
        guard let parent = try self.item(folder: entry.parent) else { return }
        var walk = FeedWalk()
        do { try tree.checkPlace(of: item, in: parent, EntryName(entry.name), &walk) } catch is RemoteError {
            // Where the entry is now, only a walk over everything tells.
            report.isFeedStale = true
            return try store.setMeta(.cursor, nil)
        }
        var told: RemoteState?
        if var other = try store.item(node: entry.node), other.id != item.id, other.local == nil {
            // The feed was quicker than the answer, and had nothing to know it by.
            told = other.remote
            other.remote = nil
            other.lastNode = nil
            try store.save(other)
        }
        var remote = entry.state(in: parent)
        remote.generation = told?.generation ?? item.remote?.generation ?? 0
        try editor.written(item, write, remote, newer: told.flatMap { entry.isOlder(than: $0) ? $0 : nil })
    }

    // MARK: Single contents

    func writeMerged(
        _ bytes: [UInt8], _ hash: ContentHash, _ item: Item, _ remote: RemoteState, _ report: inout SyncReport
    ) async throws -> Bool {
        guard let node = remote.node else { return false }
        let isInline = Int64(bytes.count) <= SyncBatch.maximumInlineBytes
        if !isInline { try await wire.putChunk(bytes) }
        let content = SyncOperation.Content(
            bytes: Int64(bytes.count), hash: hash, chunks: isInline ? nil : [hash])
        let operation = SyncOperation(
            try operations.next(), .edit(node, content), if: .init(revision: remote.revision))
        let outcome = try await wire.apply(SyncBatch([operation]), contents: isInline ? [bytes] : [])
        guard let result = outcome.results.first else { return false }
        if let entry = result.entry {
            var walk = FeedWalk()
            try store.edit(durably: false) { editor in try take(entry, &walk, &editor, &report) }
        }
        if !result.isDone { report.isFeedStale = true }
        return result.isDone
    }

    func upload(
        _ upload: LargeUpload, _ report: inout SyncReport
    ) throws -> (@Sendable () async throws -> UploadResult)? {
        let wire = wire
        return { @Sendable in try await upload.sendChunks(to: wire) }
    }

    func finish(_ upload: LargeUpload, _ result: UploadResult, _ report: inout SyncReport) async throws {
        guard case .chunks = result, let item = try store.item(upload.write.item), item.local != nil,
            try tree.isStillDue(.upload(item.id), item),
            let operation = try contentOperation(
                item, upload.content.whole, upload.content.size, chunks: upload.content.chunks.map(\.hash))
        else { return }
        let outcome = try await wire.apply(SyncBatch([operation]), contents: [])
        try take([BatchedWrite(write: upload.write, operation: operation)], outcome.results, &report)
    }
}
