import ByteClubCore

/// A server of plain Core API v1, which knows paths only: its feed lists paths, and each write is a call of its own.
final class PathReplica: RemoteReplica {
    let groupedUploadBytes = SyncBatch.maximumInlineBytes
    let tree: RemoteTree
    var inlineContents = InlineContentCache()
    private var remote: any Remote { tree.remote }
    private let feed: FeedIngest
    private let hasLongPoll: Bool
    /// What the pages of a running pull have listed; nil when none runs.
    private var record: FeedRecord?
    /// Whether a move had no answer: paths are unreliable until the feed is read.
    private var hasPendingMove = false
    /// Whether there was a write since the last pull.
    private var hasWrittenSinceFeed = false

    private var context: SyncContext { tree.context }
    private var store: any TreeStore { tree.context.store }
    private var configuration: SyncConfiguration { tree.context.configuration }

    init(_ tree: RemoteTree, hasLongPoll: Bool) {
        self.tree = tree
        self.hasLongPoll = hasLongPoll
        feed = FeedIngest(tree)
    }

    // MARK: The feed

    func pull(_ report: inout SyncReport) async throws -> FeedState {
        if self.record == nil {
            try feed.checkFeed("delta")
            self.record = FeedRecord(isContinued: try store.meta(.isDeltaOpen) != nil)
        }
        var record = self.record ?? FeedRecord()
        let cursor = try store.meta(.cursor)
        hasWrittenSinceFeed = false
        let page = try await page(after: cursor)
        try record.progress.take(
            entries: page.entries.count, isReset: page.reset, cursor: page.cursor, after: cursor,
            hasMore: page.hasMore)
        let pass = try feed.apply(FeedPage(page), record, &report)
        self.record = page.hasMore ? pass.record : nil
        if page.hasMore { return .partial(inline: false) }
        hasPendingMove = false
        try await feed.confirm(pass.swept)
        try await verifyMoved(&report)
        return .current
    }

    func abandonPull() { record = nil }

    /// Never called: plain v1 has no journal.
    func ingest(_: SyncChanges, after _: String, _ report: inout SyncReport) { report.distrustFeed(.incompletePage) }

    func poll() throws -> (@Sendable () async throws -> PollResult)? {
        guard let cursor = try store.meta(.cursor) else { return nil }
        let (remote, clock, timeout) = (remote, context.environment.clock, configuration.longPollTimeout)
        let interval: Duration = hasLongPoll ? .zero : .seconds(10)
        return { @Sendable in
            while true {
                if interval > .zero { try await clock.sleep(until: clock.now + interval) }
                let start = clock.now
                let answer = try await remote.waitForChanges(after: cursor, timeout: timeout)
                if let seconds = answer.backoff {
                    try await clock.sleep(until: clock.now + .seconds(min(seconds, 300)))
                }
                if answer.changes { return .changed }
                try await clock.restAfterPoll(since: start)
            }
        }
    }

    private func page(after cursor: String?) async throws(RemoteError) -> DeltaPage {
        do {
            return try await remote.delta(after: cursor, prefix: configuration.remoteRoot)
        } catch {
            guard error.code == .badCursor || error.code == .staleCursor, cursor != nil else { throw error }
        }
        return try await remote.delta(after: nil, prefix: configuration.remoteRoot)
    }

    /// Verifies entries whose folder was moved and that the feed has not listed since.
    private func verifyMoved(_ report: inout SyncReport) async throws {
        var chunks = UnsettledChunks(store, of: 1_000)
        while let chunk = try chunks.next() {
            for item in chunk {
                // An earlier item of the chunk may have been a folder whose whole contents were forgotten.
                guard try store.item(item.id)?.remote?.isUnverified == true else { continue }
                let reported = try await tree.metadata(at: tree.path(of: item.id, &report))
                guard let now = try store.item(item.id), let seen = now.remote, seen.isUnverified else { continue }
                try store.edit(durably: false) { editor in
                    guard let reported, !reported.isDeleted, reported.isFolder == now.isFolder else {
                        try editor.forgetRemote(now)
                        return
                    }
                    // Without a hash, only the same revision proves the same content.
                    let isSynced = reported.rev != nil && reported.rev == now.synced?.revision
                    let hash = isSynced ? now.synced?.hash : nil
                    try editor.confirmRemote(now, as: RemoteEntry(reported).state(of: seen, hash: hash))
                }
            }
        }
    }

    // MARK: Writes

    /// One call of Core API v1 that writes, with what it was made from.
    private struct Call: Sendable {
        let write: OutgoingWrite
        let perform: @Sendable (any Remote) async throws(RemoteError) -> Metadata

        func send(to remote: any Remote) async -> Result<Metadata, RemoteError> {
            do throws(RemoteError) { return .success(try await perform(remote)) } catch { return .failure(error) }
        }
    }

    func write(_ writes: [PlannedWrite], _ reader: FileReader, _ report: inout SyncReport) async throws {
        for group in Self.grouped(writes) where !hasPendingMove {
            try await write(group, reader, &report)
            if report.failure != nil { return }
        }
    }

    /// Groups writes: folders and moves one by one, since they may depend on each other; contents and deletions in
    /// parallel.
    private static func grouped(_ writes: [PlannedWrite]) -> [ArraySlice<PlannedWrite>] {
        var groups: [ArraySlice<PlannedWrite>] = []
        var start = 0
        for (index, write) in writes.enumerated() {
            switch write.action {
            case .upload, .delete: break
            case .makeFolder, .move:
                if start < index { groups.append(writes[start..<index]) }
                groups.append(writes[index...index])
                start = index + 1
            }
        }
        if start < writes.count { groups.append(writes[start...]) }
        return groups
    }

    private func write(
        _ writes: ArraySlice<PlannedWrite>, _ reader: FileReader, _ report: inout SyncReport
    ) async throws {
        try await withThrowingTaskGroup(of: (Call, Result<Metadata, RemoteError>).self) { group in
            var rest = writes
            var underWay = 0
            let remote = remote
            while true {
                while underWay < configuration.parallelTransfers, report.failure == nil, let next = rest.popFirst() {
                    guard let call = try prepare(next, reader, &report) else { continue }
                    try context.noteSending([call.write])
                    underWay += 1
                    group.addTask { await (call, call.send(to: remote)) }
                }
                guard let (call, result) = try await group.next() else { return }
                underWay -= 1
                try take(call, result, &report)
            }
        }
    }

    private func prepare(
        _ planned: PlannedWrite, _ reader: FileReader, _ report: inout SyncReport
    ) throws -> Call? {
        guard let item = try store.item(planned.item), planned.action.isStillDue(item) else { return nil }
        switch planned.action {
        case .makeFolder:
            guard let local = item.local, item.remote == nil, try tree.isOnServer(local.location.parent) else {
                return nil
            }
            let path = try tree.path(of: local.location, &report)
            let write = OutgoingWrite(item: item.id, effect: .folder, local: local)
            return Call(write: write) { remote throws(RemoteError) in try await remote.createFolder(path) }
        case .upload:
            guard let local = item.local, let (path, condition) = try target(of: item, local, &report) else {
                return nil
            }
            if local.size > groupedUploadBytes {
                report.transfers.append(TransferRequest(item: item.id, kind: .upload))
                return nil
            }
            guard let content = try reader.content(item.id, local, &report) else { return nil }
            let read = item.observed(with: content.local.stat)
            let write = OutgoingWrite(
                item: item.id, effect: .content(content.hash, size: Int64(content.bytes.count)),
                local: content.local, seen: item.remote?.revision)
            return Call(write: write) { remote throws(RemoteError) in
                try await remote.put(
                    .bytes(content.bytes), at: path, modified: read.local?.modified, executable: read.toldExecutable,
                    condition: condition, policy: .fail, progress: nil)
            }
        case .move(let location):
            guard item.remote != nil, try tree.isOnServer(location.parent) else { return nil }
            let write = OutgoingWrite(
                item: item.id, effect: .move(location), seen: item.remote?.revision,
                pathBefore: try store.path(of: item.id, on: .remote))
            let (path, target) = (try tree.path(of: item.id, &report), try tree.path(of: location, &report))
            return Call(write: write) { remote throws(RemoteError) in try await remote.move(path, to: target) }
        case .delete: return try prepareDeletion(item, &report)
        }
    }

    private func prepareDeletion(_ item: Item, _ report: inout SyncReport) throws -> Call? {
        guard let remote = item.remote, item.local == nil else { return nil }
        if item.isFolder, hasWrittenSinceFeed {
            // With our own later revision as the condition, others' earlier writes in the folder would pass for seen.
            report.distrustFeed(.ownWrite)
            return nil
        }
        guard let seen = try remote.isFolder ? newest(in: item) : remote.revision else {
            // Without a condition, others' changes that the feed has not listed yet would be deleted as well.
            report.refuse(item.id, "the server reports no versions by which to notice changes in it")
            return nil
        }
        let write = OutgoingWrite(
            item: item.id, effect: .delete(nodes: try store.remoteCount(item.id)),
            pathBefore: try store.path(of: item.id, on: .remote))
        let path = try tree.path(of: item.id, &report)
        return Call(write: write) { remote throws(RemoteError) in
            try await remote.delete(path, ifUnchangedSince: seen)
        }
    }

    /// The latest revision of a folder and of all that is in it; nil where the server's revisions have no order.
    private func newest(in folder: Item) throws -> Revision? {
        guard tree.ordersRevisions else { return nil }
        let number = { (item: Item) in item.remote?.revision.flatMap { JournalRevision($0) } }
        var newest = number(folder) ?? JournalRevision(number: 0)
        try store.visitRemote(below: folder.id) { newest = max(newest, number($0) ?? newest) }
        return newest.revision
    }

    /// The path and the condition for an upload: the path at which the server has the entry, once that is its planned
    /// location; nil when it must wait, also for its verification.
    private func target(
        of item: Item, _ local: LocalState, _ report: inout SyncReport
    ) throws -> (path: RemotePath, condition: WriteCondition)? {
        guard item.remote?.location.isSameKey(as: local.location) ?? true, try tree.isOnServer(local.location.parent)
        else { return nil }
        if item.remote?.isUnverified == true {
            report.distrustFeed(.unverified)
            return nil
        }
        let path = try item.remote == nil ? tree.path(of: local.location, &report) : tree.path(of: item.id, &report)
        return (path, item.remote?.revision.map { .parent($0) } ?? .create)
    }

    private func take(
        _ call: Call, _ result: Result<Metadata, RemoteError>, _ report: inout SyncReport
    ) throws {
        switch (result, call.write.effect) {
        case (.success(let metadata), _): try take(call.write, metadata, &report)
        // Deleted already, as wanted.
        case (.failure(let error), .delete) where error.code == .notFound: try take(call.write, nil, &report)
        case (.failure(let error), let effect):
            if case .move = effect, error.isRetryable {
                hasPendingMove = true
                report.distrustFeed(.echoExpected)
            }
            try report.judge(error, about: [call.write.item])
        }
    }

    /// Records an answered write; nil metadata means that the server had deleted the entry already.
    func take(_ write: OutgoingWrite, _ metadata: Metadata?, _ report: inout SyncReport) throws {
        report.note(.succeeded, of: write.item)
        let emission = try store.edit(durably: true) { editor in
            if let item = try store.item(write.item) {
                if case .delete = write.effect {
                    report.deleted += try editor.tombstoned(item)
                } else {
                    hasWrittenSinceFeed = true
                    if let metadata { try record(write, metadata, item, &editor, &report) }
                }
            }
            return try write.log(in: context)
        }
        report.emissions.append(emission)
        report.done += 1
    }

    private func record(
        _ write: OutgoingWrite, _ metadata: Metadata, _ item: Item, _ editor: inout TreeEditor,
        _ report: inout SyncReport
    ) throws {
        let parent = (write.target ?? item.remote?.location ?? write.local?.location)?.parent ?? .root
        var reported = RemoteEntry(metadata).state(at: Location(parent, EntryName(metadata.path.name)))
        reported.generation = item.remote?.generation ?? 0
        if reported.hash == nil { reported.hash = item.remote?.hash }
        guard try tree.isOnServer(parent), metadata.isFolder == item.isFolder else {
            // The feed was faster: the folder was deleted, or another entry has the path.
            return try tree.restartFeed(&report)
        }
        guard try tree.path(of: reported.location, &report).key == metadata.path.key else {
            // Its folder was moved while a large file was uploaded to the old path.
            return report.distrustFeed(.answerMismatch)
        }
        for other in try store.children(of: parent, key: reported.location.name.key, on: .remote)
        where other.id != item.id {
            // The server accepted the name, so it has deleted the entry that the tree shows there.
            try editor.forgetRemote(other)
        }
        if write.target != nil, item.isFolder {
            // Without identities, its contents may have been changed at the old path just before.
            try editor.markUnverified(below: item.id)
            report.distrustFeed(.unverified)
        }
        var newer: RemoteState?
        if let listed = item.remote, !listed.isUnverified {
            // The feed may have listed a later edit before the answer to a large upload arrived.
            switch tree.order(of: reported.revision, against: listed.revision) {
            case .earlier: newer = listed
            case .unknown where listed.revision != write.seen:
                // Only the server can say which of the two is the later.
                reported.isUnverified = true
                report.distrustFeed(.unverified)
            case .same, .later, .unknown: break
            }
        }
        try editor.written(item, write, reported, newer: newer)
    }

    // MARK: Single contents

    func writeMerged(
        _ bytes: [UInt8], _ hash: ContentHash, _ item: Item, _ remote: RemoteState, _ report: inout SyncReport
    ) async throws -> Bool {
        if hasPendingMove { return false }
        report.distrustFeed(.ownWrite)
        if remote.isUnverified { return false }
        do throws(RemoteError) {
            guard let path = try? tree.path(of: item.id, &report) else { return false }
            let metadata = try await self.remote.put(
                .bytes(bytes), at: path, modified: context.now, executable: item.toldExecutable,
                condition: remote.revision.map { .parent($0) } ?? .create, policy: .fail, progress: nil)
            do { try takeMerged(metadata, hash, item.id) } catch { return false }
            return true
        } catch {
            if error.code == .conflict || error.code == .notFound { return false }
            throw error
        }
    }

    private func takeMerged(_ metadata: Metadata, _ hash: ContentHash, _ id: ItemID) throws {
        guard let item = try store.item(id), let seen = item.remote, metadata.rev != nil else { return }
        try store.edit(durably: false) { editor in
            try editor.confirmRemote(item, as: RemoteEntry(metadata).state(of: seen, hash: hash))
        }
    }

    func isCut(_: Item) -> Bool { false }

    func upload(
        _ upload: LargeUpload, _ report: inout SyncReport
    ) throws -> (@Sendable () async throws -> UploadResult)? {
        guard !hasPendingMove, let item = try store.item(upload.write.item), let local = item.local,
            let (path, condition) = try target(of: item, local, &report)
        else { return nil }
        let (remote, isExecutable) = (remote, item.toldExecutable)
        let modified = upload.source.stat.fingerprint.time
        return { @Sendable in
            guard let content = try upload.whole() else { return .changed }
            do {
                return .stored(
                    try await upload.rate.limited(.up) { () throws(RemoteError) in
                        try await remote.put(
                            content, at: path, modified: modified, executable: isExecutable, condition: condition,
                            policy: .fail, progress: upload.progress)
                    })
            } catch let error as RemoteError {
                if error.code == .localFile, upload.hasChanged { return .changed }
                throw error
            }
        }
    }

    func finish(_ upload: LargeUpload, _ result: UploadResult, _ report: inout SyncReport) throws {
        guard case .stored(let metadata) = result else { return }
        guard metadata.contentHash ?? upload.write.hash == upload.write.hash else {
            // It was written during the upload: the server has a torn state, which the next upload replaces.
            report.distrustFeed(.contentMismatch)
            if let folder = upload.write.local?.location.parent { report.rescans.insert(folder) }
            report.note(.changedMeanwhile, of: upload.write.item)
            return
        }
        try take(upload.write, metadata, &report)
    }
}
