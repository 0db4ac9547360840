import ByteClubCore

extension Mirror {
    /// How many batches may be under way at once.
    private static var parallelBatches: Int { 3 }

    /// Sends writes in batches, in their order as far as they depend on each other.
    func sendBatches(_ operations: [Operation], to remote: any SyncRemote) async throws -> Progress {
        try await withThrowingTaskGroup(of: Answer.self) { group in
            var progress = Progress()
            var rest = operations[...]
            var underWay = 0
            while true {
                while underWay < Self.parallelBatches, progress.failure == nil, !rest.isEmpty {
                    let batch = try nextBatch(&rest)
                    if batch.isEmpty { break }
                    underWay += 1
                    let sent = SyncBatch(batch.map(\.operation))
                    let contents = batch.compactMap(\.bytes)
                    group.addTask { await Answer(batch, Self.apply(sent, contents, remote)) }
                }
                guard let answer = try await group.next() else { return progress }
                underWay -= 1
                progress.add(try take(answer))
            }
        }
    }

    /// A batch and what became of it.
    private struct Answer: Sendable {
        let batch: [Outgoing]
        let result: Result<SyncOutcome, RemoteError>

        init(_ batch: [Outgoing], _ result: Result<SyncOutcome, RemoteError>) {
            self.batch = batch
            self.result = result
        }
    }

    private static func apply(
        _ batch: SyncBatch, _ contents: [[UInt8]], _ remote: any SyncRemote
    ) async -> Result<SyncOutcome, RemoteError> {
        do throws(RemoteError) {
            return .success(try await remote.apply(batch, contents: contents))
        } catch {
            return .failure(error)
        }
    }

    /// Prepares as many operations as fit one batch.
    private func nextBatch(_ rest: inout ArraySlice<Operation>) throws -> [Outgoing] {
        var batch: [Outgoing] = []
        var weight = 1_024
        while batch.count < SyncBatch.maximumOperations, let next = rest.first {
            guard let outgoing = try prepare(next) else {
                rest.removeFirst()
                continue
            }
            if weight + outgoing.weight > SyncBatch.maximumBytes { break }
            weight += outgoing.weight
            batch.append(outgoing)
            rest.removeFirst()
        }
        try noteSending(batch.map(\.write))
        return batch
    }

    /// Remembers what contents are on their way, so that they are known again when the answer is lost.
    func noteSending(_ writes: [Write]) throws {
        let contents = writes.filter { $0.hash != nil }
        if contents.isEmpty { return }
        try store.transaction(durably: false) {
            for write in contents {
                guard var item = try store.item(write.item) else { continue }
                item.sent = write.hash
                if let local = write.local { item.local = local }
                try store.save(item)
            }
        }
    }

    /// Takes the answers of a batch.
    private func take(_ answer: Answer) throws -> Progress {
        switch answer.result {
        case .failure(let error): return try judge(error, about: answer.batch.map(\.write.item))
        case .success(let outcome): return try take(answer.batch, outcome.results)
        }
    }

    /// Takes what became of writes.
    func take(_ batch: [Outgoing], _ results: [SyncResult]) throws -> Progress {
        var done: [(Outgoing, SyncEntry)] = []
        for (outgoing, result) in zip(batch, results) {
            if result.isDone, let entry = result.entry {
                done.append((outgoing, entry))
            } else {
                try takeRefusal(result, of: outgoing)
            }
        }
        if !done.isEmpty {
            try store.transaction(durably: true) {
                for (outgoing, entry) in done { try record(outgoing.write, entry) }
            }
        }
        try together { for (outgoing, _) in done { try tell(outgoing.write) } }
        for (outgoing, _) in done {
            if let bytes = outgoing.bytes, let hash = outgoing.write.hash { surroundings.bases.keep(bytes, hash) }
        }
        return Progress(done: done.count)
    }

    /// Judges the failure of a whole call: the whole sync's, one that may pass, or these items'.
    func judge(_ error: RemoteError, about items: [ItemID]) throws -> Progress {
        switch error.code {
        case .cancelled, .unauthorized: throw error
        case .conflict, .notFound, .forbidden, .staleCursor, .badCursor, .localFile:
            isFeedStale = true
            for item in items { try refuse(item, error.message) }
            return Progress()
        case .overQuota:
            for item in items { try refuse(item, error.message, isFinal: true) }
            return Progress(failure: error)
        case _ where error.isRetryable: return Progress(failure: error)
        default:
            // Another look follows, so that what stays wrong is told.
            isFeedStale = true
            let isBreach = error.code == .protocolViolation
            for item in items { try refuse(item, error.message, isBreach: isBreach) }
            return Progress()
        }
    }

    /// Takes that the server refused a write; what is in its way the feed will tell, in an order that keeps trees whole.
    private func takeRefusal(_ result: SyncResult, of outgoing: Outgoing) throws {
        isFeedStale = true
        let message = result.message ?? "the server refused it"
        if case .revive = outgoing.operation.action, [404, 409, 412].contains(result.status) {
            // It lives elsewhere or is of another kind: it comes as a new entry.
            guard var item = try store.item(outgoing.write.item), item.remote == nil else { return }
            item.lastNode = nil
            try store.save(item)
        }
        try refuse(outgoing.write.item, message, isFinal: [400, 403, 406, 413].contains(result.status))
    }

    /// Whether the journal has told of what an answer tells, and perhaps of what came after it, while the answer was on
    /// its way.
    private func isOvertaken(_ entry: SyncEntry) throws -> Bool {
        try toldSequence().map { entry.sequence <= $0 } ?? false
    }

    /// Keeps in the trees what a write has done.
    private func record(_ write: Write, _ entry: SyncEntry) throws {
        guard var item = try store.item(write.item) else { return }
        refusals[write.item] = nil
        if case .delete = write.effect { return try recordDeletion(item) }
        if let known = item.remote?.node, known != entry.node {
            // Another's entry has been taken for this item meanwhile: the feed tells of the one that was made.
            isFeedStale = true
            return
        }
        guard let parent = try self.item(folder: entry.parent) else { return }
        var walk = FeedWalk()
        do { try checkPlace(of: item, in: parent, EntryName(entry.name), &walk) } catch is RemoteError {
            // Where the entry is now, only a walk over everything tells.
            isFeedStale = true
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
        if try told == nil && (isFeedOpen || isOvertaken(entry)) {
            // What the tree has is what became of the write since, or the feed tells next; gone is gone.
            guard let seen = item.remote, !isOld(entry, seen) else { return }
        }
        var remote = RemoteState(
            node: entry.node, place: Place(parent, EntryName(entry.name)), isFolder: entry.isFolder, hash: entry.hash,
            size: entry.bytes, revision: entry.revision, placeRevision: entry.placeRevision)
        remote.generation = told?.generation ?? item.remote?.generation ?? 0
        item.record(write, remote)
        if let told, isOld(entry, told) { item.remote = told }
        try store.save(item)
    }

    /// Keeps in the trees that an entry is gone on the server with all that was in it.
    func recordDeletion(_ item: Item) throws {
        for child in try store.children(of: item.id, on: .remote) { try recordDeletion(child) }
        var item = item
        item.lastNode = item.remote?.node
        item.remote = nil
        if item.local == nil { item.synced = nil }
        recentDeletions.append((surroundings.uptime(), 1))
        try store.save(item)
    }

    /// Tells what a write has done.
    func tell(_ write: Write) throws {
        switch write.effect {
        case .folder: try tell(.makeRemoteFolder, write.item)
        case .content(_, let size): try tell(.upload, write.item, bytes: size)
        case .move: try tell(.moveRemote, write.item, from: pathsBefore[write.item])
        case .delete(let nodes):
            let path = pathsBefore[write.item] ?? ""
            tally.note(SyncEvent(.deleteRemote, path: path), nodes: nodes)
            try log(.deleteRemote, path)
        }
    }
}

extension Item {
    /// Keeps what a write that the server has answered makes of the item.
    mutating func record(_ write: Write, _ told: RemoteState) {
        let before = synced
        remote = told
        lastNode = told.node
        switch write.effect {
        case .delete: break
        case .folder:
            guard let place = write.local?.place else { return }
            synced = SyncedState(
                place: place, remoteName: place.name.unless(told.place.name), isFolder: true, revision: told.revision)
        case .content(let hash, let size):
            remote?.hash = hash
            sent = nil
            guard let place = before?.place ?? write.local?.place else { return }
            synced = SyncedState(
                place: place,
                remoteName: before.map { $0.remoteName } ?? place.name.unless(told.place.name),
                isFolder: false, hash: hash, size: size, revision: told.revision)
        case .move(let place):
            guard before != nil, let local, local.place.isSameKey(as: place) else { return }
            synced?.place = local.place
            synced?.remoteName = local.place.name.unless(told.place.name)
        }
    }
}
