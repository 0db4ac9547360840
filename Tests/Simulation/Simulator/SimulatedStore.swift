import ByteClubCore

@testable import ByteClubSync

/// Ends an engine where it stands.
struct SimulatedCrash: Error {}

/// A machine's database as its engine sees it: each use is a moment at which the engine may be stopped.
final class SimulatedStore: TreeStore {
    private let base: any TreeStore
    private let passage: (_ isRead: Bool) -> SimulatedMachine.Passage

    init(_ base: any TreeStore, passage: @escaping (_ isRead: Bool) -> SimulatedMachine.Passage) {
        self.base = base
        self.passage = passage
    }

    /// Counts a use, which fails as one does of a database on a disk that is full or broken.
    private func use(isRead: Bool = false) throws -> any TreeStore {
        switch passage(isRead) {
        case .goes: return base
        case .fails: throw SyncError(.io, "the database cannot be read or written")
        case .stopped: throw SimulatedCrash()
        }
    }

    func transaction<Result>(durably: Bool, _ body: () throws -> Result) throws -> Result {
        try use().transaction(durably: durably) {
            let result = try body()
            _ = try use()
            return result
        }
    }

    func reading<Result>(_ body: () throws -> Result) throws -> Result { try base.reading(body) }

    func newItem() throws -> ItemID { try use().newItem() }
    func save(_ item: Item) throws { try use().save(item) }
    func item(_ id: ItemID) throws -> Item? { try use(isRead: true).item(id) }
    func item(node: EntryID) throws -> Item? { try use(isRead: true).item(node: node) }
    func items(handle: FileHandle) throws -> [Item] { try use(isRead: true).items(handle: handle) }
    func children(of folder: ItemID, on side: Side) throws -> [Item] {
        try use(isRead: true).children(of: folder, on: side)
    }
    func children(of folder: ItemID, key: String, on side: Side) throws -> [Item] {
        try use(isRead: true).children(of: folder, key: key, on: side)
    }
    func unsettled(after: ItemID?, limit: Int) throws -> [Item] {
        try use(isRead: true).unsettled(after: after, limit: limit)
    }
    func unsettledCount() throws -> Int { try use(isRead: true).unsettledCount() }
    func unseen(before generation: Int64, limit: Int) throws -> [Item] {
        try use(isRead: true).unseen(before: generation, limit: limit)
    }
    func synced(after: ItemID?, limit: Int) throws -> [Item] {
        try use(isRead: true).synced(after: after, limit: limit)
    }
    func syncedCount() throws -> Int { try use(isRead: true).syncedCount() }
    func excludedCount() throws -> Int { try use(isRead: true).excludedCount() }
    func listing(of folder: ItemID) throws -> KnownListing? { try use(isRead: true).listing(of: folder) }
    func setListing(_ listing: KnownListing?, of folder: ItemID) throws { try use().setListing(listing, of: folder) }
    func meta(_ key: MetaKey) throws -> String? { try use(isRead: true).meta(key) }
    func setMeta(_ key: MetaKey, _ value: String?) throws { try use().setMeta(key, value) }
    func setMetaLater(_ key: MetaKey, _ value: String) throws { try use().setMetaLater(key, value) }
    func records<Record: StoredRecord>(_ kind: Record.Type) throws -> [Record] {
        try use(isRead: true).records(kind)
    }
    func save<Record: StoredRecord>(_ record: Record) throws { try use().save(record) }
    func removeRecord<Record: StoredRecord>(_ kind: Record.Type, _ key: StoredValue) throws {
        try use().removeRecord(kind, key)
    }
    func setAll<Record: StoredRecord>(_ records: [Record]) throws { try use().setAll(records) }
    func log(_ event: LogRecord) throws { try use().log(event) }
    func events(limit: Int, below path: String?) throws -> [LogRecord] {
        try use(isRead: true).events(limit: limit, below: path)
    }
    func close() throws {}
}

extension MemoryTrees {
    /// An item that a side has in a folder that it does not have: I1 of the contract.
    func orphan(on side: Side) -> ItemID? {
        let parents = items.map { item in
            (item.id, side == .local ? item.local?.location.parent : item.remote?.location.parent)
        }
        let there = Set(parents.filter { $0.1 != nil }.map(\.0))
        return parents.first { _, parent in
            guard let parent else { return false }
            return parent != .root && parent != .outside && !there.contains(parent)
        }?.0
    }
}
