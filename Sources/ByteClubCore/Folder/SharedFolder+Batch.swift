/// Why an operation of a batch was refused, and which entry it conflicts with.
struct SyncRefusal: Error {
    let status: Int
    let message: String
    let current: FolderEntry?

    init(_ status: Int, _ message: String, _ current: FolderEntry? = nil) {
        self.status = status
        self.message = message
        self.current = current
    }
}

/// A batch of which nothing may be done, since one of its operations was refused.
public struct BatchRefused: Error {
    /// What the batch is answered with.
    public let outcome: SyncOutcome
}

extension SharedFolder {
    /// Does a batch's operations in their order; each content's hash must be known.
    ///
    /// A refused operation changes nothing. One that was done before answers as it did then.
    ///
    /// - Throws: ``BatchRefused`` for an all-or-nothing batch with a refused operation; the caller must undo the
    ///   others.
    public mutating func apply(_ batch: SyncBatch) throws -> SyncOutcome {
        let before = try state.lastRevision()
        var results: [SyncResult] = []
        results.reserveCapacity(batch.operations.count)
        for operation in batch.operations {
            let result: SyncResult
            do {
                guard try state.lastRevision() - before <= Int64(Self.maximumBatchEntries) else {
                    throw SyncRefusal(413, "the operations before this one touch too many entries for one batch")
                }
                result = SyncResult(status: 200, entry: try told(perform(operation, after: results)))
            } catch let refusal as SyncRefusal {
                let current = try refusal.current.map { try told($0) }
                result = SyncResult(status: refusal.status, entry: current, message: refusal.message)
            } catch let error as APIError {
                result = SyncResult(status: error.status, entry: nil, message: error.message)
            }
            if batch.isAllOrNothing, !result.isDone {
                throw BatchRefused(outcome: Self.nothing(of: batch, before, since: result, at: results.count))
            }
            results.append(result)
        }
        return SyncOutcome(isApplied: true, sequence: try state.lastRevision(), results: results)
    }

    private static func nothing(
        of batch: SyncBatch, _ last: Int64, since result: SyncResult, at index: Int
    ) -> SyncOutcome {
        let other = SyncResult(status: 424, entry: nil, message: "operation \(index) of the batch was refused")
        var results = [SyncResult](repeating: other, count: batch.operations.count)
        results[index] = result
        return SyncOutcome(isApplied: false, sequence: last, results: results)
    }

    private mutating func perform(_ operation: SyncOperation, after results: [SyncResult]) throws -> FolderEntry {
        switch try state.outcome(of: operation.id, by: author) {
        case .made(let entry)?: return entry
        case .forgotten?: throw SyncRefusal(410, "the operation was done, but its result is no longer available")
        case nil: break
        }
        let entry = try perform(operation.action, operation.condition, after: results)
        try state.remember(operation.id, by: author, at: now, made: entry)
        return entry
    }

    private mutating func perform(
        _ action: SyncOperation.Action, _ condition: SyncOperation.Condition, after results: [SyncResult]
    ) throws -> FolderEntry {
        switch action {
        case .create(let place, let content):
            return try record(content, at: free(place, after: results))
        case .edit(let node, let content):
            let file = try check(condition, of: live(node))
            if file.isFolder { throw SyncRefusal(409, "\(node) is a folder", file) }
            return try edit(
                file, bytes: content.bytes, hash: hash(of: content), modified: content.modified,
                executable: content.isExecutable)
        case .undelete(let node, let place, let content):
            let gone = try check(condition, of: known(node))
            guard gone.isDeleted else { throw SyncRefusal(412, "\(node) is not deleted", gone) }
            if gone.isFolder != (content == nil) {
                throw SyncRefusal(409, "\(node) was a \(gone.isFolder ? "folder" : "file")", gone)
            }
            return try record(content, at: free(place, after: results), node: node)
        case .move(let node, let place):
            let source = try check(condition, of: live(node))
            return try move(source, to: place, after: results)
        case .delete(let node):
            let entry = try live(node)
            let summary = try summary(of: entry, limit: Self.maximumBatchEntries)
            return try tombstone(check(condition, of: entry, summary), summary)
        }
    }

    /// Records a file, or a folder when there is no content, new unless its identity is known.
    private mutating func record(
        _ content: SyncOperation.Content?, at place: Place, node: NodeID = .root
    ) throws -> FolderEntry {
        guard let content else { return try record(.folder(at: place, node: node)) }
        return try record(
            .file(
                at: place, node: node, bytes: content.bytes, hash: hash(of: content), modified: content.modified,
                executable: content.isExecutable))
    }

    private mutating func move(
        _ source: FolderEntry, to place: SyncOperation.Place, after results: [SyncResult]
    ) throws -> FolderEntry {
        let target = try self.place(place, after: results)
        if target.path == source.path { return source }
        if target.path.key != source.path.key {
            try checkFree(target)
            if target.path.key.isBelow(source.path.key) {
                throw SyncRefusal(409, "'\(source.path)' cannot be moved into itself", try known(target.parent))
            }
        }
        return try move(source, summary(of: source, limit: Self.maximumBatchEntries), to: target)
    }

    /// The newest version of an entry, a deletion included.
    private func known(_ node: NodeID) throws -> FolderEntry {
        if node == .root { return .root }
        guard let entry = try state.current(node) else { throw SyncRefusal(404, "no entry \(node) ever existed") }
        return entry
    }

    /// A live file whose content is of a revision; nil when it is another one by now.
    public func file(_ base: ChunkQuestion.Base) throws -> FolderEntry? {
        guard let entry = try state.current(base.node), !entry.isDeleted, !entry.isFolder,
            entry.contentRevision == base.revision
        else { return nil }
        return entry
    }

    private func live(_ node: NodeID) throws -> FolderEntry {
        if node == .root { throw SyncRefusal(403, "the root cannot be changed") }
        let entry = try known(node)
        if entry.isDeleted { throw SyncRefusal(412, "'\(entry.path)' is deleted", entry) }
        return entry
    }

    private func check(
        _ condition: SyncOperation.Condition, of entry: FolderEntry, _ below: SubtreeSummary = SubtreeSummary()
    ) throws -> FolderEntry {
        if let revision = condition.revision, revision != entry.contentRevision {
            throw SyncRefusal(412, "the content of '\(entry.path)' has changed since \(revision)", entry)
        }
        if let revision = condition.placeRevision, revision != entry.placeRevision {
            throw SyncRefusal(412, "'\(entry.path)' has been moved since \(revision)", entry)
        }
        if let seen = condition.seen, max(entry.change, below.newestChange) > seen {
            let below = try entry.change > seen ? nil : state.firstChanged(below: entry.path.key, after: seen)
            let newer = below ?? entry
            throw SyncRefusal(412, "'\(newer.path)' has changed since \(seen)", newer)
        }
        return entry
    }

    /// A place at which nothing is.
    private func free(_ place: SyncOperation.Place, after results: [SyncResult]) throws -> Place {
        let target = try self.place(place, after: results)
        try checkFree(target)
        return target
    }

    private func checkFree(_ place: Place) throws {
        if let other = try live(place.path) { throw SyncRefusal(409, "'\(place.path)' already exists", other) }
    }

    private func place(_ place: SyncOperation.Place, after results: [SyncResult]) throws -> Place {
        let node: NodeID
        switch place.parent {
        case .node(let known): node = known
        case .operation(let index):
            guard results.indices.contains(index) else {
                throw SyncRefusal(400, "operation \(index) does not come before this one")
            }
            guard results[index].isDone, let made = results[index].entry else {
                throw SyncRefusal(424, "operation \(index) of the batch was refused")
            }
            node = made.node
        }
        let folder = try known(node)
        if folder.isDeleted { throw SyncRefusal(409, "the folder '\(folder.path)' is deleted", folder) }
        guard folder.isFolder else { throw SyncRefusal(409, "'\(folder.path)' is a file", folder) }
        if place.name.utf8.contains(UInt8(ascii: "/")) { throw SyncRefusal(400, "a name cannot contain '/'") }
        let path: RemotePath
        do {
            path = try folder.path.appending(place.name)
        } catch {
            throw SyncRefusal(400, error.message)
        }
        try Self.checkWritable(path)
        return Place(path: path, parent: folder.node)
    }

    private func hash(of content: SyncOperation.Content) throws -> ContentHash {
        guard let hash = content.hash else {
            throw SyncRefusal(424, "some chunks are missing, or their content has another hash")
        }
        return hash
    }
}
