import ByteClubCore

@testable import ByteClubSync

/// Ends an engine where it stands.
struct SimulatedCrash: Error {}

/// A machine's database as its engine sees it: each use is a moment at which the engine may be stopped.
final class SimulatedStore: TreeStore {
    private let base: MemoryTreeStore
    private let isAlive: () -> Bool

    init(_ base: MemoryTreeStore, isAlive: @escaping () -> Bool) {
        self.base = base
        self.isAlive = isAlive
    }

    private func check() throws {
        if !isAlive() { throw SimulatedCrash() }
    }

    func transaction<Result>(durably: Bool, _ body: () throws -> Result) throws -> Result {
        try check()
        return try base.transaction(durably: durably) {
            let result = try body()
            try check()
            return result
        }
    }

    func newItem() throws -> ItemID { base.newItem() }
    func save(_ item: Item) throws {
        try check()
        base.save(item)
    }
    func item(_ id: ItemID) throws -> Item? { base.item(id) }
    func item(node: NodeID) throws -> Item? { base.item(node: node) }
    func items(handle: FileHandle) throws -> [Item] { base.items(handle: handle) }
    func children(of folder: ItemID, on side: Side) throws -> [Item] { base.children(of: folder, on: side) }
    func children(of folder: ItemID, key: String, on side: Side) throws -> [Item] {
        base.children(of: folder, key: key, on: side)
    }
    func unsettled(after: ItemID?, limit: Int) throws -> [Item] { base.unsettled(after: after, limit: limit) }
    func unsettledCount() throws -> Int { base.unsettledCount() }
    func unseen(before generation: Int64, limit: Int) throws -> [Item] { base.unseen(before: generation, limit: limit) }
    func synced(after: ItemID?, limit: Int) throws -> [Item] { base.synced(after: after, limit: limit) }
    func syncedCount() throws -> Int { base.syncedCount() }
    func seal(of folder: ItemID) throws -> FolderSeal? { base.seal(of: folder) }
    func setSeal(_ seal: FolderSeal?, of folder: ItemID) throws { base.setSeal(seal, of: folder) }
    func meta(_ key: MetaKey) throws -> String? { base.meta(key) }
    func setMeta(_ key: MetaKey, _ value: String?) throws {
        try check()
        base.setMeta(key, value)
    }
    func problems() throws -> [Problem] { base.problems() }
    func setProblem(_ problem: Problem?, path: String) throws { base.setProblem(problem, path: path) }
    func heldDeletions() throws -> [HeldDeletion] { base.heldDeletions() }
    func setHeldDeletions(_ held: [HeldDeletion]) throws { base.setHeldDeletions(held) }
    func conflicts(all: Bool) throws -> [ConflictRecord] { base.conflicts(all: all) }
    func addConflict(_ conflict: ConflictRecord) throws { base.addConflict(conflict) }
    func resolveConflict(copy: String) throws { base.resolveConflict(copy: copy) }
    func log(_ event: LogRecord) throws { base.log(event) }
    func events(limit: Int, below path: String?) throws -> [LogRecord] { base.events(limit: limit, below: path) }
    func close() throws {}
}

extension MemoryTrees {
    /// An item that a side has in a folder that it does not have: I1 of the contract.
    func orphan(on side: Side) -> ItemID? {
        let parents = items.map { item in
            (item.id, side == .local ? item.local?.place.parent : item.remote?.place.parent)
        }
        let there = Set(parents.filter { $0.1 != nil }.map(\.0))
        return parents.first { _, parent in
            guard let parent else { return false }
            return parent != .root && parent != .outside && !there.contains(parent)
        }?.0
    }
}
