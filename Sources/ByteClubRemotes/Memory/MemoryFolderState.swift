import ByteClubCore

/// All versions of all entries of one tree, in memory, in the order of their keys and of their changes.
struct MemoryFolderState: FolderState {
    private var entries: [PathKey: [FolderEntry]] = [:]
    /// Every key that ever was, in order, so that a folder's subtree is one run.
    private var keys: [PathKey] = []
    private var journal: [(revision: Int64, key: PathKey)] = []
    /// The versions of each entry by number, with the keys where they are.
    private var nodes: [NodeID: [(revision: Int64, key: PathKey)]] = [:]
    private var outcomes: [Operation: (revision: Int64, key: PathKey)] = [:]
    private var operations: [Operation] = []

    private struct Operation: Hashable {
        let id: OperationID
        let member: Int64
    }

    init() {}

    func latest(_ key: PathKey) -> FolderEntry? { entries[key]?.last }

    func version(_ key: PathKey, revision: Int64) -> FolderEntry? {
        entries[key]?.last { $0.revision == revision }
    }

    func versions(_ key: PathKey, limit: Int) -> [FolderEntry] {
        Array((entries[key] ?? []).reversed().prefix(limit))
    }

    func children(_ key: PathKey, includeDeleted: Bool, limit: Int) -> [FolderEntry] {
        var found: [FolderEntry] = []
        for child in below(key) where found.count < limit && child.parent == key {
            if let entry = latest(child), includeDeleted || !entry.isDeleted { found.append(entry) }
        }
        return found
    }

    func descendants(_ key: PathKey, limit: Int) -> [FolderEntry] {
        Array(below(key).lazy.compactMap { latest($0) }.filter { !$0.isDeleted }.prefix(limit))
    }

    func changes(after revision: Int64, prefix: PathKey, includeDeleted: Bool, limit: Int) -> [FolderEntry] {
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

    func current(_ node: NodeID) -> FolderEntry? {
        nodes[node]?.last.flatMap { version($0.key, revision: $0.revision) }
    }

    func journal(after revision: Int64, limit: Int) -> [FolderEntry] {
        let start = position(in: journal.count) { journal[$0].revision > revision }
        var found: [FolderEntry] = []
        for change in journal[start...] where found.count < limit {
            guard let entry = version(change.key, revision: change.revision),
                nodes[entry.node]?.last?.revision == change.revision
            else { continue }
            found.append(entry)
        }
        return found
    }

    func outcome(of operation: OperationID, by member: Int64) -> OperationOutcome? {
        outcomes[Operation(id: operation, member: member)].map {
            version($0.key, revision: $0.revision).map { OperationOutcome.made($0) } ?? OperationOutcome.forgotten
        }
    }

    mutating func remember(_ operation: OperationID, by member: Int64, at date: APIDate, made entry: FolderEntry) {
        let operation = Operation(id: operation, member: member)
        outcomes[operation] = (entry.revision, entry.path.key)
        operations.append(operation)
    }

    func lastRevision() -> Int64 { journal.last?.revision ?? 0 }

    mutating func record(_ entry: FolderEntry) {
        let key = entry.path.key
        if entries[key] == nil { keys.insert(key, at: position(in: keys.count) { !(keys[$0] < key) }) }
        entries[key, default: []].append(entry)
        journal.append((entry.revision, key))
        nodes[entry.node, default: []].append((entry.revision, key))
    }

    /// What ``undo(to:)`` goes back to.
    var mark: (changes: Int, operations: Int) { (journal.count, operations.count) }

    /// Forgets all that came after a mark, as the end of a transaction that failed.
    mutating func undo(to mark: (changes: Int, operations: Int)) {
        while operations.count > mark.operations { outcomes[operations.removeLast()] = nil }
        while journal.count > mark.changes, let last = journal.last {
            journal.removeLast()
            if let node = entries[last.key]?.popLast()?.node { forgetVersion(of: node) }
            guard entries[last.key]?.isEmpty == true else { continue }
            entries[last.key] = nil
            keys.remove(at: position(in: keys.count) { !(keys[$0] < last.key) })
        }
    }

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
