public import ByteClubCore

/// All versions of all entries of one tree, in memory, in the order of their keys and of their changes.
public struct MemoryFolderState: FolderState, Sendable {
    private var entries: [PathKey: [FolderEntry]] = [:]
    /// Every key that ever was, in order, so that a folder's subtree is one run.
    private var keys: [PathKey] = []
    private var journal: [(revision: Int64, key: PathKey)] = []
    /// The versions of each entry by number, with the keys where they are.
    private var nodes: [NodeID: [(revision: Int64, key: PathKey)]] = [:]
    private var outcomes: [Operation: (revision: Int64, key: PathKey)] = [:]
    private var operations: [Operation] = []
    private var forgotten: Int64 = 0

    private struct Operation: Hashable, Sendable {
        let id: OperationID
        let member: Int64
    }

    /// Starts with the root alone.
    public init() {}

    /// The newest version at a key, a deletion included.
    public func latest(_ key: PathKey) -> FolderEntry? { entries[key]?.last }

    /// The version that a change made at a key.
    public func version(_ key: PathKey, revision: Int64) -> FolderEntry? {
        entries[key]?.last { $0.revision == revision }
    }

    /// The versions at a key that are kept, newest first.
    public func versions(_ key: PathKey, before revision: Int64?, limit: Int) -> [FolderEntry] {
        Array((entries[key] ?? []).reversed().drop { $0.revision >= revision ?? .max }.prefix(limit))
    }

    /// The newest versions of a folder's children; looks at all that is below it.
    public func children(_ key: PathKey, includeDeleted: Bool, limit: Int) -> [FolderEntry] {
        var found: [FolderEntry] = []
        for child in below(key) where found.count < limit && child.parent == key {
            if let entry = latest(child), includeDeleted || !entry.isDeleted { found.append(entry) }
        }
        return found
    }

    /// The live entries below a key.
    public func descendants(_ key: PathKey, limit: Int) -> [FolderEntry] {
        Array(below(key).lazy.compactMap { latest($0) }.filter { !$0.isDeleted }.prefix(limit))
    }

    /// The newest versions at or below a key that are numbered above a revision.
    public func changes(after revision: Int64, prefix: PathKey, includeDeleted: Bool, limit: Int) -> [FolderEntry] {
        let start = position(in: journal.count) { journal[$0].revision > revision }
        var found: [FolderEntry] = []
        for change in journal[start...] where found.count < limit {
            guard prefix == change.key || change.key.isBelow(prefix), let entry = latest(change.key),
                entry.revision == change.revision, includeDeleted || !entry.isDeleted
            else { continue }
            found.append(entry)
        }
        return found
    }

    /// The version that an entry has now.
    public func current(_ node: NodeID) -> FolderEntry? {
        nodes[node]?.last.flatMap { version($0.key, revision: $0.revision) }
    }

    /// The versions that entries have now which are numbered above a revision, of those changed after another.
    public func journal(after revision: Int64, changedAfter known: Int64, limit: Int) -> [FolderEntry] {
        let start = position(in: journal.count) { journal[$0].revision > revision }
        var found: [FolderEntry] = []
        for change in journal[start...] where found.count < limit {
            guard let entry = version(change.key, revision: change.revision),
                nodes[entry.node]?.last?.revision == change.revision, entry.change > known
            else { continue }
            found.append(entry)
        }
        return found
    }

    /// The newest version at a key of those numbered below a revision.
    public func version(_ key: PathKey, before revision: Int64) -> FolderEntry? {
        entries[key]?.last { $0.revision < revision }
    }

    /// Hands over the versions numbered below a revision, the newest first.
    public func forEachChange(before revision: Int64, _ body: (FolderEntry) throws -> Bool) rethrows {
        for change in journal.reversed() where change.revision < revision {
            guard let entry = version(change.key, revision: change.revision), entry.change == entry.revision else {
                continue
            }
            if try !body(entry) { return }
        }
    }

    /// The outcome of a member's operation; none is ever forgotten.
    public func outcome(of operation: OperationID, by member: Int64) -> OperationOutcome? {
        outcomes[Operation(id: operation, member: member)].map {
            version($0.key, revision: $0.revision).map { OperationOutcome.made($0) } ?? OperationOutcome.forgotten
        }
    }

    /// The numbers of the changes that a writer's operations made, above a revision.
    public func revisions(by writer: OperationWriter, after revision: Int64, limit: Int) -> Set<Int64> {
        let made = { operation in outcomes[operation]?.revision ?? 0 }
        let start = position(in: operations.count) { made(operations[$0]) > revision }
        let own = operations[start...].prefix(limit).filter { writer.isWriter(of: $0.id, by: $0.member) }
        return Set(own.map(made)).filter { $0 > revision }
    }

    /// Remembers which version an operation made.
    public mutating func remember(_ operation: OperationID, by member: Int64, at date: APIDate, made entry: FolderEntry)
    {
        let operation = Operation(id: operation, member: member)
        outcomes[operation] = (entry.revision, entry.path.key)
        operations.append(operation)
    }

    /// The number of the last change.
    public func lastRevision() -> Int64 { journal.last?.revision ?? 0 }

    /// Adds a version.
    public mutating func record(_ entry: FolderEntry) {
        let key = entry.path.key
        if entries[key] == nil { keys.insert(key, at: position(in: keys.count) { !(keys[$0] < key) }) }
        entries[key, default: []].append(entry)
        journal.append((entry.revision, key))
        nodes[entry.node, default: []].append((entry.revision, key))
    }

    /// A mark for ``undo(to:)``.
    public var mark: (changes: Int, operations: Int) { (journal.count, operations.count) }

    /// Forgets all that came after a mark, as the end of a transaction that failed.
    public mutating func undo(to mark: (changes: Int, operations: Int)) {
        while operations.count > mark.operations { outcomes[operations.removeLast()] = nil }
        while journal.count > mark.changes, let last = journal.last {
            journal.removeLast()
            if let node = entries[last.key]?.popLast()?.node { forgetVersion(of: node) }
            guard entries[last.key]?.isEmpty == true else { continue }
            entries[last.key] = nil
            keys.remove(at: position(in: keys.count) { !(keys[$0] < last.key) })
        }
    }

    /// The highest number up to which versions may have been forgotten.
    public func forgottenRevision() -> Int64 { forgotten }

    /// The versions that changes after `revision` made, in the order of the changes, but for those that were forgotten.
    public func versions(after revision: Int64) -> [FolderEntry] {
        let start = position(in: journal.count) { journal[$0].revision > revision }
        return journal[start...].compactMap { version($0.key, revision: $0.revision) }
    }

    /// The versions that changes after `revision` and up to `last` took the place of, in the order of the changes, but
    /// for those with which the history of an entry ends.
    public func replaced(after revision: Int64, upTo last: Int64) -> [FolderEntry] {
        versions(after: revision).prefix { $0.revision <= last }.compactMap { entry in
            guard let before = entries[entry.path.key]?.last(where: { $0.revision < entry.revision }),
                nodes[before.node]?.last?.revision != before.revision
            else { return nil }
            return before
        }
    }

    /// Forgets a version that another one took the place of.
    public mutating func forget(_ version: FolderEntry) {
        entries[version.path.key]?.removeAll { $0.revision == version.revision }
        nodes[version.node]?.removeAll { $0.revision == version.revision }
        let place = position(in: journal.count) { journal[$0].revision >= version.revision }
        if journal.indices.contains(place), journal[place].revision == version.revision { journal.remove(at: place) }
        forget(upTo: version.revision)
    }

    /// Declares versions up to this number forgotten.
    public mutating func forget(upTo revision: Int64) { forgotten = max(forgotten, revision) }

    private mutating func forgetVersion(of node: NodeID) {
        nodes[node]?.removeLast()
        if nodes[node]?.isEmpty == true { nodes[node] = nil }
    }

    private func below(_ key: PathKey) -> ArraySlice<PathKey> {
        let start = position(in: keys.count) { key < keys[$0] }
        let end = position(in: keys.count) { key < keys[$0] && !keys[$0].isBelow(key) }
        return keys[start..<end]
    }

    /// The first index for which a condition holds that holds for all after it.
    private func position(in count: Int, where holds: (Int) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = low + (high - low) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
