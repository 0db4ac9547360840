import ByteClubCore

@testable import ByteClubSync

/// A store in memory with a SQLite database beside it: each change goes to both, and each read must find the same.
///
/// The engine gets what the database returns.
final class TwinStore: TreeStore {
    private let memory: MemoryTreeStore
    private var database: SQLiteTreeStore
    /// The version of the memory that the database mirrors.
    private var version: Int
    private let onDifference: (String) -> Void

    /// Copies the memory into a new database.
    init(_ memory: MemoryTreeStore, onDifference: @escaping (String) -> Void) throws {
        self.memory = memory
        self.onDifference = onDifference
        database = try Self.database(with: memory)
        version = memory.version
    }

    private static func database(with memory: MemoryTreeStore) throws -> SQLiteTreeStore {
        let database = try SQLiteTreeStore(try DatabaseFile.scratchCopy(""), isWriter: true, wasUnclean: false)
        try memory.fill(database)
        return database
    }

    /// The database; a new copy when a command or a crash has changed the memory alone.
    private func current() throws -> SQLiteTreeStore {
        if version == memory.version { return database }
        try database.close()
        database = try Self.database(with: memory)
        version = memory.version
        return database
    }

    private func read<Value: Equatable>(
        _ name: String, _ found: (any TreeStore) throws -> Value
    ) throws -> Value {
        let (expected, value) = (try found(memory), try found(current()))
        if value != expected { onDifference("\(name) is \(value) in the database and \(expected) in memory") }
        return value
    }

    private func change(_ change: (any TreeStore) throws -> Void) throws {
        let database = try current()
        defer { version = memory.version }
        try change(memory)
        try change(database)
    }

    func transaction<Result>(durably: Bool, _ body: () throws -> Result) throws -> Result {
        let database = try current()
        defer { version = memory.version }
        return try memory.transaction(durably: durably) {
            try database.transaction(durably: durably, body)
        }
    }

    func reading<Result>(_ body: () throws -> Result) throws -> Result { try current().reading(body) }

    /// Only the database rests; the memory has no cache.
    func rest() throws { try current().rest() }

    func newItem() throws -> ItemID {
        let database = try current()
        defer { version = memory.version }
        let id = memory.newItem()
        // The memory gives a number again that a failed transaction took; nothing has it.
        database.nextItem = id.number
        return try database.newItem()
    }

    func save(_ item: Item) throws { try change { try $0.save(item) } }
    func item(_ id: ItemID) throws -> Item? { try read("item \(id)") { try $0.item(id) } }
    func item(node: EntryID) throws -> Item? { try read("the item of \(node)") { try $0.item(node: node) } }
    func items(handle: FileHandle) throws -> [Item] { try read("a file") { try $0.items(handle: handle) } }
    func children(of folder: ItemID, on side: Side) throws -> [Item] {
        try read("what is in \(folder)") { try $0.children(of: folder, on: side) }
    }
    func children(of folder: ItemID, key: String, on side: Side) throws -> [Item] {
        try read("'\(key)' in \(folder)") { try $0.children(of: folder, key: key, on: side) }
    }
    func unsettled(after: ItemID?, limit: Int) throws -> [Item] {
        try read("what is unsettled") { try $0.unsettled(after: after, limit: limit) }
    }
    func unsettledCount() throws -> Int { try read("the unsettled count") { try $0.unsettledCount() } }
    func unseen(before generation: Int64, limit: Int) throws -> [Item] {
        try read("what is unseen") { try $0.unseen(before: generation, limit: limit) }
    }
    func synced(after: ItemID?, limit: Int) throws -> [Item] {
        try read("what is synced") { try $0.synced(after: after, limit: limit) }
    }
    func syncedCount() throws -> Int { try read("the synced count") { try $0.syncedCount() } }
    func excludedCount() throws -> Int { try read("the excluded count") { try $0.excludedCount() } }
    func listing(of folder: ItemID) throws -> KnownListing? {
        try read("the listing of \(folder)") { try $0.listing(of: folder) }
    }
    func setListing(_ listing: KnownListing?, of folder: ItemID) throws {
        try change { try $0.setListing(listing, of: folder) }
    }
    func meta(_ key: MetaKey) throws -> String? { try read("\(key)") { try $0.meta(key) } }
    func setMeta(_ key: MetaKey, _ value: String?) throws { try change { try $0.setMeta(key, value) } }
    func setMetaLater(_ key: MetaKey, _ value: String) throws { try change { try $0.setMetaLater(key, value) } }
    func records<Record: StoredRecord>(_ kind: Record.Type) throws -> [Record] {
        try read(Record.table.name) { try $0.records(kind) }
    }
    func save<Record: StoredRecord>(_ record: Record) throws { try change { try $0.save(record) } }
    func setAll<Record: StoredRecord>(_ records: [Record]) throws { try change { try $0.setAll(records) } }
    func removeRecord<Record: StoredRecord>(_ kind: Record.Type, _ key: StoredValue) throws {
        try change { try $0.removeRecord(kind, key) }
    }
    func problems(below path: String) throws -> [ProblemRecord] {
        try read("problems below '\(path)'") { try $0.problems(below: path) }
    }
    func log(_ event: LogRecord) throws { try change { try $0.log(event) } }
    func events(limit: Int, below path: String?) throws -> [LogRecord] {
        try read("events") { try $0.events(limit: limit, below: path) }
    }
    func close() throws { try database.close() }
}
