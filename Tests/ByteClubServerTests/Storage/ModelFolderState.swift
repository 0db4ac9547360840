import ByteClubCore
import TestSupport

/// The plainest thing that can be called a folder: a list of versions, looked through from end to end.
struct ModelFolderState: FolderState {
    var journal: [FolderEntry] = []
    private var outcomes: [String: FolderEntry] = [:]

    private var newest: [FolderEntry] {
        var seen: Set<PathKey> = []
        return journal.reversed().filter { seen.insert($0.path.key).inserted }
    }

    func latest(_ key: PathKey) throws -> FolderEntry? { journal.last { $0.path.key == key } }

    func version(_ key: PathKey, revision: Int64) throws -> FolderEntry? {
        journal.first { $0.path.key == key && $0.revision == revision }
    }

    func versions(_ key: PathKey, before revision: Int64?, limit: Int) throws -> [FolderEntry] {
        Array(journal.reversed().filter { $0.path.key == key && $0.revision < revision ?? .max }.prefix(limit))
    }

    func children(_ key: PathKey, includeDeleted: Bool, limit: Int) throws -> [FolderEntry] {
        ordered { $0.path.key.parent == key && (includeDeleted || !$0.isDeleted) }.prefix(limit).map(\.self)
    }

    func descendants(_ key: PathKey, limit: Int) throws -> [FolderEntry] {
        ordered { $0.path.key.isBelow(key) && !$0.isDeleted }.prefix(limit).map(\.self)
    }

    func changes(
        after revision: Int64, prefix: PathKey, includeDeleted: Bool, limit: Int
    ) throws -> [FolderEntry] {
        newest.filter {
            $0.revision > revision && ($0.path.key == prefix || $0.path.key.isBelow(prefix))
                && (includeDeleted || !$0.isDeleted)
        }.sorted { $0.revision < $1.revision }.prefix(limit).map(\.self)
    }

    func current(_ node: NodeID) throws -> FolderEntry? { journal.last { $0.node == node } }

    func journal(after revision: Int64, changedAfter known: Int64, limit: Int) throws -> [FolderEntry] {
        try Set(journal.map(\.node)).compactMap(current).filter { $0.revision > revision && $0.change > known }
            .sorted { $0.revision < $1.revision }.prefix(limit).map(\.self)
    }

    func version(_ key: PathKey, before revision: Int64) throws -> FolderEntry? {
        journal.last { $0.path.key == key && $0.revision < revision }
    }

    func forEachChange(before revision: Int64, _ body: (FolderEntry) throws -> Bool) throws {
        for entry in journal.reversed() where entry.revision < revision && entry.change == entry.revision {
            if try !body(entry) { return }
        }
    }

    func revisions(by writer: OperationWriter, after revision: Int64, limit: Int) throws -> Set<Int64> {
        let made = outcomes.filter { key, entry in
            let parts = key.split(separator: " ", maxSplits: 1).map(String.init)
            return entry.revision > revision && writer.isWriter(of: parts[1], by: Int64(parts[0]) ?? 0)
        }
        return Set(made.values.map(\.revision))
    }

    func outcome(of operation: OperationID, by member: Int64) throws -> OperationOutcome? {
        outcomes["\(member) \(operation)"].map { OperationOutcome.made($0) }
    }

    mutating func remember(
        _ operation: OperationID, by member: Int64, at date: APIDate, made entry: FolderEntry
    ) throws {
        outcomes["\(member) \(operation)"] = entry
    }

    func lastRevision() throws -> Int64 { journal.last?.revision ?? 0 }

    mutating func record(_ entry: FolderEntry) throws { journal.append(entry) }

    private func ordered(_ condition: (FolderEntry) -> Bool) -> [FolderEntry] {
        newest.filter(condition).sorted { $0.path.key < $1.path.key }
    }
}
