import ByteClubCore

/// The trees in a SQLite database.
///
/// One row an item. A commit that need not be durable is only written; a durable one syncs the WAL with all commits
/// before it. Readers work while an engine writes.
final class SQLiteTreeStore {
    /// The database's file in a mirror's state directory.
    static let fileName = "mirror.sqlite"

    let connection: SQLiteConnection
    let items: ItemStatements
    /// Whether the engine that had the database last did not close it.
    let wasUnclean: Bool
    private let isWriter: Bool
    /// Recently read or saved items, since work on one item reads it several times; cleared when another connection has
    /// changed the database.
    var cache: [ItemID: Item] = [:]
    private var kept: [String: SQLiteStatement] = [:]

    /// The number of the next new item, and the one that is in the database.
    var nextItem: Int64 = 1
    private var storedNextItem: Int64 = 1
    /// Where the next search for unseen items starts: no earlier item is unseen in this generation or a later one.
    var unseenStart: (generation: Int64, item: ItemID)?

    /// Values that are saved with the next change.
    var later: [MetaKey: String] = [:]
    private var isFull = false
    private var hasUnsyncedCommits = false
    private var hasSyncedCommits = false
    private var isNew = false
    private(set) var isInTransaction = false
    /// The database's version by which other connections' changes are noticed.
    private var dataVersion: Int64 = -1
    private var isReading = false
    private var changesAtBegin: Int64 = 0

    /// Opens the database of an engine, making it when it is missing.
    ///
    /// A file that cannot be used, being damaged or another version's, is renamed to end in `.old`, and so is one that
    /// turns out to be damaged, when it is closed.
    ///
    /// - Throws: ``SyncError`` with the code `database`.
    convenience init(path: String) throws {
        let (connection, wasUnclean, isNew) = try DatabaseFile.open(path)
        try self.init(connection, isWriter: true, wasUnclean: wasUnclean)
        (self.isNew, hasUnsyncedCommits) = (isNew, isNew)
        // A connection that changes nothing leaves no files behind either.
        try setMetaLater(.isOpen, "1")
    }

    /// Opens the database for reading or for a change while an engine may run; nil when there is none that can be used.
    static func existing(path: String, _ mode: SQLiteConnection.Mode) throws(SyncError) -> SQLiteTreeStore? {
        guard let connection = try DatabaseFile.openExisting(path, mode) else { return nil }
        return try SQLiteTreeStore(connection, isWriter: false, wasUnclean: false)
    }

    /// A scratch copy for dry runs and verification; empty when there is no database that can be used.
    ///
    /// A small one is in memory, a large one in a temporary file that is deleted with it.
    static func scratchCopy(path: String) throws(SyncError) -> SQLiteTreeStore {
        try SQLiteTreeStore(try DatabaseFile.scratchCopy(path), isWriter: false, wasUnclean: false)
    }

    init(_ connection: SQLiteConnection, isWriter: Bool, wasUnclean: Bool) throws(SyncError) {
        self.connection = connection
        self.isWriter = isWriter
        self.wasUnclean = wasUnclean
        items = try ItemStatements(connection)
        let stored = try connection.number("SELECT value FROM meta WHERE name = 'nextItem'")
        storedNextItem = stored
        nextItem = max(stored, try connection.number("SELECT max(id) FROM item") + 1)
    }

    func close() throws {
        let isDamaged = connection.isDamaged
        if isWriter, !isDamaged {
            try setMeta(.isOpen, nil)
            try flush()
            // A checkpoint must sync the disk; a later session has more to checkpoint.
            if !isNew, !hasSyncedCommits { connection.keepLog() }
        }
        for statement in kept.values { statement.finalize() }
        kept = [:]
        items.finalize()
        try connection.close()
        if isWriter, isDamaged { try DatabaseFile.moveAside(connection.path) }
    }

    /// Keeps an item in the cache.
    func keep(_ item: Item) {
        guard isWriter else { return }
        if cache.count >= 8_192 { cache.removeAll(keepingCapacity: true) }
        cache[item.id] = item
    }

    /// The statement for some SQL, compiled once.
    func prepared(_ sql: String) throws(SyncError) -> SQLiteStatement {
        if let known = kept[sql] { return known }
        let statement = try connection.prepare(sql)
        kept[sql] = statement
        return statement
    }
}

extension SQLiteTreeStore: TreeStore {
    func transaction<Result>(durably: Bool, _ body: () throws -> Result) throws -> Result {
        if isInTransaction { throw SyncError(.database, "a transaction of the mirror's database is open already") }
        let formerLater = later
        do {
            try begin(durably: durably)
            let result = try body()
            try commit(durably: durably)
            return result
        } catch {
            isInTransaction = false
            later = formerLater
            unseenStart = nil
            cache.removeAll()
            if connection.isInTransaction { try? connection.run("ROLLBACK") }
            throw error
        }
    }

    /// Runs a change in the transaction that is open, else in one of its own.
    func changing(_ body: () throws(SyncError) -> Void) throws {
        if isInTransaction { try body() } else { try transaction(durably: false, body) }
    }

    private func begin(durably: Bool) throws(SyncError) {
        if durably != isFull {
            try connection.run(durably ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
            isFull = durably
        }
        try prepared("BEGIN IMMEDIATE").run()
        isInTransaction = true
        try dropStaleItems()
        changesAtBegin = connection.changes
    }

    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        if isReading { return try body() }
        try dropStaleItems()
        isReading = true
        defer { isReading = false }
        return try body()
    }

    func rest() throws {
        try flush()
        cache.removeAll()
        try connection.run("PRAGMA shrink_memory")
    }

    /// Saves the deferred values.
    private func flush() throws {
        if !later.isEmpty { try transaction(durably: false) { try keepLater() } }
    }

    private func keepLater() throws(SyncError) {
        for (key, value) in later { try setValue(key.rawValue, value) }
    }

    /// Clears the cache of items when another connection has changed the database.
    func dropStaleItems() throws(SyncError) {
        if isReading, !isInTransaction { return }
        let statement = try prepared("PRAGMA data_version")
        guard try statement.step() else { return }
        let version = statement.number(0)
        statement.reset()
        if version == dataVersion { return }
        dataVersion = version
        cache.removeAll()
    }

    private func commit(durably: Bool) throws(SyncError) {
        let next = nextItem
        if next != storedNextItem { try setValue("nextItem", String(next)) }
        // Only a commit that writes something is synced.
        if durably, hasUnsyncedCommits, connection.changes == changesAtBegin { try setValue("sync", "") }
        let hasWritten = connection.changes != changesAtBegin
        if hasWritten { try keepLater() }
        try prepared("COMMIT").run()
        isInTransaction = false
        storedNextItem = next
        if hasWritten { (hasUnsyncedCommits, later) = (!durably, [:]) }
        if hasWritten, durably { hasSyncedCommits = true }
    }
}
