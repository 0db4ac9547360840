import ByteClubCore
import TestSupport

/// All versions in one list and nothing clever: what a store must answer.
struct ModelFolderState: FolderState {
    var all: [FolderEntry] = []

    func latest(_ key: PathKey) -> FolderEntry? { all.last { $0.path.key == key } }
    func version(_ key: PathKey, revision: Int64) -> FolderEntry? {
        all.first { $0.path.key == key && $0.revision == revision }
    }
    func versions(_ key: PathKey, before revision: Int64?, limit: Int) -> [FolderEntry] {
        Array(all.filter { $0.path.key == key && $0.revision < revision ?? .max }.reversed().prefix(limit))
    }
    private var newest: [FolderEntry] {
        Set(all.map(\.path.key)).compactMap(latest).sorted { $0.path.key < $1.path.key }
    }
    func children(_ key: PathKey, includeDeleted: Bool, limit: Int) -> [FolderEntry] {
        Array(newest.filter { $0.path.key.parent == key && (includeDeleted || !$0.isDeleted) }.prefix(limit))
    }
    func descendants(_ key: PathKey, limit: Int) -> [FolderEntry] {
        Array(newest.filter { $0.path.key.isBelow(key) && !$0.isDeleted }.prefix(limit))
    }
    func changes(after revision: Int64, prefix: PathKey, includeDeleted: Bool, limit: Int) -> [FolderEntry] {
        let found = newest.filter {
            $0.revision > revision && ($0.path.key == prefix || $0.path.key.isBelow(prefix))
                && (includeDeleted || !$0.isDeleted)
        }
        return Array(found.sorted { $0.revision < $1.revision }.prefix(limit))
    }
    func current(_ node: NodeID) -> FolderEntry? { all.last { $0.node == node } }
    func journal(after revision: Int64, changedAfter known: Int64, limit: Int) -> [FolderEntry] {
        Array(
            Set(all.map(\.node)).compactMap(current).filter { $0.revision > revision && $0.change > known }
                .sorted { $0.revision < $1.revision }.prefix(limit))
    }
    var forgotten: Int64 = 0
    func forgottenRevision() -> Int64 { forgotten }
    func version(_ key: PathKey, before revision: Int64) -> FolderEntry? {
        all.last { $0.path.key == key && $0.revision < revision }
    }
    func forEachChange(before revision: Int64, _ body: (FolderEntry) throws -> Bool) throws {
        for entry in all.reversed() where entry.revision < revision && entry.change == entry.revision {
            if try !body(entry) { return }
        }
    }
    var outcomes: [String: FolderEntry] = [:]
    func revisions(by writer: OperationWriter, after revision: Int64, limit: Int) -> Set<Int64> { [] }
    func outcome(of operation: OperationID, by member: Int64) -> OperationOutcome? {
        outcomes["\(member) \(operation)"].map { OperationOutcome.made($0) }
    }
    mutating func remember(_ operation: OperationID, by member: Int64, at date: APIDate, made entry: FolderEntry) {
        outcomes["\(member) \(operation)"] = entry
    }
    func lastRevision() -> Int64 { all.last?.revision ?? 0 }
    mutating func record(_ entry: FolderEntry) { all.append(entry) }
}

/// A folder whose changes are made like a server's: each whole, or not at all.
struct ModelFolder {
    var state = ModelFolderState()

    mutating func change(_ rule: (inout SharedFolder) throws -> FolderEntry) throws -> FolderEntry {
        var folder = SharedFolder(state: state, now: APIDate(seconds: 1_000), author: 7)
        let entry = try rule(&folder)
        state = folder.state as? ModelFolderState ?? state
        return entry
    }

    @discardableResult
    mutating func put(
        _ path: String, _ text: String, _ condition: WriteCondition = .overwrite, _ policy: ConflictPolicy = .rename
    ) throws -> FolderEntry {
        let bytes = Array(text.utf8)
        return try change {
            try $0.put(
                RemotePath(path), bytes: Int64(bytes.count), hash: ContentHasher.hash(bytes), condition: condition,
                policy: policy)
        }
    }

    var folder: SharedFolder {
        SharedFolder(state: state, now: APIDate(seconds: 1_000), author: 7)
    }

    /// The live paths in order.
    var paths: [String] { state.descendants(.root, limit: .max).map(\.path.string) }
}
