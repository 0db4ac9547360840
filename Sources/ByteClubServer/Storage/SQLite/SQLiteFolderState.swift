import ByteClubCore
import FoundationEssentials
import GRDB

/// The folder as one transaction of the database sees it.
struct SQLiteFolderState: FolderState {
    /// The columns of ``FolderEntry`` queries, in the order in which ``entry(_:)`` reads them.
    static let columns = """
        v.revision, v.path, v.kind, v.bytes, v.hash, v.modified, v.author, v.node, v.parent, v.content_revision,
        v.place_revision, v.client_modified, v.executable
        """
    /// How many those are; a query's own columns come after them.
    static let columnCount = 13
    /// The columns of `version`, in the order in which they are written.
    static let stored = """
        revision, previous, path, kind, bytes, hash, modified, author, node, parent, content_revision, place_revision,
        client_modified, executable
        """
    static let tree = "FROM latest l JOIN version v ON v.revision = l.revision"
    static let isLive = "v.kind < 2"

    private static let selectLatest = "SELECT \(columns) \(tree) WHERE l.key = ?"
    private static let selectVersion = "SELECT \(columns) FROM version v WHERE v.revision = ?"
    private static let selectNode = """
        SELECT \(columns) FROM node n JOIN version v ON v.revision = n.revision WHERE n.id = ?
        """
    private static let selectOutcome = """
        SELECT \(columns) FROM operation o LEFT JOIN version v ON v.revision = o.revision
        WHERE o.member = ? AND o.id = ?
        """
    private static let selectJournal = """
        SELECT \(columns) FROM version v JOIN node n ON n.id = v.node AND n.revision = v.revision
        WHERE v.revision > ? AND max(v.content_revision, v.place_revision) > ? ORDER BY v.revision LIMIT ?
        """
    private static let selectVersionBefore = """
        WITH RECURSIVE chain(revision) AS (
            SELECT revision FROM latest WHERE key = ?
            UNION ALL
            SELECT v.previous FROM chain JOIN version v ON v.revision = chain.revision WHERE v.revision >= ?)
        SELECT \(columns) FROM chain JOIN version v ON v.revision = chain.revision
        WHERE v.revision < ? ORDER BY v.revision DESC LIMIT 1
        """
    private static let selectChanges = """
        SELECT \(columns) FROM version v
        WHERE v.revision < ? AND max(v.content_revision, v.place_revision) = v.revision ORDER BY v.revision DESC
        """
    private static let insertVersion = """
        INSERT INTO version(\(stored))
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    let database: Database
    let transaction: WriteTransaction?

    /// The folder in a reader's snapshot; recording throws.
    init(reading database: Database) {
        self.database = database
        transaction = nil
    }

    /// The folder in the writer's transaction.
    init(writing transaction: WriteTransaction) {
        database = transaction.database
        self.transaction = transaction
    }

    func latest(_ key: PathKey) throws -> FolderEntry? {
        guard let transaction else { return try found(key) }
        return try transaction.latest(key) { try found(key) }
    }

    private func found(_ key: PathKey) throws -> FolderEntry? {
        try database.firstRow(Self.selectLatest, [key.sorting], Self.entry)
    }

    func version(_ key: PathKey, revision: Int64) throws -> FolderEntry? {
        let entry = try version(revision)
        return entry?.path.key == key ? entry : nil
    }

    /// The version that a change made, wherever it was.
    func version(_ revision: Int64) throws -> FolderEntry? {
        try database.firstRow(Self.selectVersion, [revision], Self.entry)
    }

    func versions(_ key: PathKey, before revision: Int64?, limit: Int) throws -> [FolderEntry] {
        let newest = try revision.map { try version(key, before: $0) } ?? latest(key)
        guard let newest else { return [] }
        return try database.rows(
            """
            WITH RECURSIVE chain(revision, depth) AS (
                SELECT ?, 1
                UNION ALL
                SELECT v.previous, depth + 1 FROM chain JOIN version v ON v.revision = chain.revision
                WHERE v.previous > 0 AND depth < ?)
            SELECT \(Self.columns) FROM chain JOIN version v ON v.revision = chain.revision
            ORDER BY v.revision DESC LIMIT ?
            """, [newest.revision, limit, limit], Self.entry)
    }

    func children(_ key: PathKey, includeDeleted: Bool, limit: Int) throws -> [FolderEntry] {
        try database.rows(Self.children(includeDeleted) + " LIMIT ?", [key.sorting, limit], Self.entry)
    }

    func forEachChild(
        _ key: PathKey, includeDeleted: Bool, _ body: (FolderEntry) throws -> Void
    ) throws {
        try database.forEachRow(Self.children(includeDeleted), [key.sorting]) { try body(Self.entry($0)) }
    }

    private static func children(_ includeDeleted: Bool) -> String {
        """
        SELECT \(columns) \(tree) WHERE l.parent = ? AND l.key != '' \(includeDeleted ? "" : "AND \(isLive)")
        ORDER BY l.key
        """
    }

    func newestChild(_ key: PathKey) throws -> Int64 {
        let kept = try database.firstRow("SELECT newest FROM listing WHERE folder = ?", [key.sorting]) {
            $0[0] as Int64
        }
        return max(kept ?? 0, transaction?.newestChild(key) ?? 0)
    }

    func descendants(_ key: PathKey, limit: Int) throws -> [FolderEntry] {
        let range = key.sortingBelow
        return try database.rows(
            """
            SELECT \(Self.columns) \(Self.tree) WHERE l.key > ? AND l.key < ? AND \(Self.isLive)
            ORDER BY l.key LIMIT ?
            """, [range.after, range.before, limit], Self.entry)
    }

    func matches(
        _ query: SearchQuery, below key: PathKey, includeDeleted: Bool, limit: Int
    ) throws -> [FolderEntry] {
        let range = key.sortingBelow
        var found: [FolderEntry] = []
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT \(Self.columns) \(Self.tree) WHERE l.key > ? AND l.key < ?
                    \(includeDeleted ? "" : "AND \(Self.isLive)") ORDER BY l.key
                    """), arguments: [range.after, range.before])
        while found.count < limit, let row = try rows.next() {
            let path: String = row[1]
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
            if query.matches(String(path[slash...])) { found.append(try Self.entry(row)) }
        }
        return found
    }

    func changes(
        after revision: Int64, prefix: PathKey, includeDeleted: Bool, limit: Int
    ) throws -> [FolderEntry] {
        let condition = includeDeleted ? "" : "AND \(Self.isLive)"
        let range = prefix.sortingBelow
        let below = prefix == .root ? "" : "AND (l.key = ? OR (l.key > ? AND l.key < ?))"
        let place: StatementArguments = prefix == .root ? [] : [prefix.sorting, range.after, range.before]
        return try database.rows(
            """
            SELECT \(Self.columns) FROM latest l INDEXED BY latest_revision CROSS JOIN version v
            ON v.revision = l.revision WHERE l.revision > ? \(below) \(condition) ORDER BY l.revision LIMIT ?
            """, [revision] + place + [limit], Self.entry)
    }

    func current(_ node: NodeID) throws -> FolderEntry? {
        guard let transaction else { return try found(node) }
        return try transaction.current(node) { try found(node) }
    }

    private func found(_ node: NodeID) throws -> FolderEntry? {
        try database.firstRow(Self.selectNode, [node.number], Self.entry)
    }

    func journal(after revision: Int64, changedAfter known: Int64, limit: Int) throws -> [FolderEntry] {
        try database.rows(Self.selectJournal, [revision, known, limit], Self.entry)
    }

    func version(_ key: PathKey, before revision: Int64) throws -> FolderEntry? {
        try database.firstRow(Self.selectVersionBefore, [key.sorting, revision, revision], Self.entry)
    }

    func forEachChange(before revision: Int64, _ body: (FolderEntry) throws -> Bool) throws {
        let rows = try Row.fetchCursor(database.cachedStatement(sql: Self.selectChanges), arguments: [revision])
        while let row = try rows.next() {
            if try !body(Self.entry(row)) { return }
        }
    }

    func outcome(of operation: OperationID, by member: Int64) throws -> OperationOutcome? {
        try database.firstRow(Self.selectOutcome, [member, operation.text]) { row in
            let made: Int64? = row[0]
            return made == nil ? OperationOutcome.forgotten : OperationOutcome.made(try Self.entry(row))
        }
    }

    func revisions(by writer: OperationWriter, after revision: Int64, limit: Int) throws -> Set<Int64> {
        let first = try OperationMemory.first(after: revision, in: database)
        var found: Set<Int64> = []
        try database.forEachRow(
            "SELECT member, id, revision FROM operation WHERE number >= ? ORDER BY number LIMIT ?", [first, limit]
        ) { row in
            let made: Int64 = row[2]
            if made > revision, writer.isWriter(of: row[1] as String, by: row[0]) { found.insert(made) }
        }
        return found
    }

    func lastRevision() throws -> Int64 {
        if let transaction { return transaction.lastRevision }
        return try Self.lastRevision(in: database)
    }

    mutating func record(_ entry: FolderEntry) throws {
        guard let transaction else { throw Self.readOnly }
        try transaction.beginChange()
        let key = entry.path.key
        let previous = try latest(key)
        try database.run(
            Self.insertVersion,
            [
                entry.revision, previous?.revision ?? 0, entry.path.string,
                (entry.isFolder ? 1 : 0) + (entry.isDeleted ? 2 : 0), entry.bytes, entry.contentHash?.data,
                entry.modified.seconds, entry.author, entry.node.number, entry.parent.number, entry.contentRevision,
                entry.placeRevision, entry.clientModified?.nanoseconds, entry.isExecutable,
            ])
        if previous == nil {
            try database.run(
                "INSERT INTO latest(key, parent, revision) VALUES (?, ?, ?)",
                [key.sorting, key.parent?.sorting ?? "", entry.revision])
        } else {
            try transaction.updateRow("UPDATE latest SET revision = ? WHERE key = ?", [entry.revision, key.sorting])
        }
        if entry.node.number == entry.revision {
            try database.run("INSERT INTO node(id, revision) VALUES (?, ?)", [entry.node.number, entry.revision])
        } else {
            try transaction.updateRow(
                "UPDATE node SET revision = ? WHERE id = ?", [entry.revision, entry.node.number])
        }
        transaction.recorded(entry, replacing: previous)
    }

    mutating func remember(
        _ operation: OperationID, by member: Int64, at date: APIDate, made entry: FolderEntry
    ) throws {
        guard let transaction else { throw Self.readOnly }
        try transaction.beginChange()
        try database.run(
            "INSERT INTO operation(id, member, made, revision) VALUES (?, ?, ?, ?)",
            [operation.text, member, date.seconds, entry.revision])
        let number = database.lastInsertedRowID
        if number % OperationMemory.sweepInterval == 0 {
            try OperationMemory.sweep(database, last: number, now: date)
        }
    }

    static var readOnly: StorageError { StorageError(.io, "a reader cannot change the folder") }

    func forgottenRevision() throws -> Int64 { try database.meta(Schema.Meta.forgotten) ?? 0 }

    func completeRevision() throws -> Int64 {
        max(try database.meta(Schema.Meta.purged) ?? 0, try database.meta(Schema.Meta.dropped) ?? 0)
    }

    /// The number of the last change; in a copy of a data directory also of those that only the original may have made.
    static func lastRevision(in database: Database) throws -> Int64 {
        let last = try database.firstRow("SELECT max(revision) FROM version") { $0[0] as Int64? } ?? nil
        return max(last ?? 0, try database.meta(Schema.Meta.forgotten) ?? 0)
    }

    static func entry(_ row: Row) throws -> FolderEntry { try entry(row, at: 0) }

    /// The entry whose ``columns`` begin at an index of a row.
    static func entry(_ row: Row, at first: Int) throws -> FolderEntry {
        let text: String = row[first + 1]
        let kind: Int = row[first + 2]
        let path: RemotePath
        do {
            path = try RemotePath(text)
        } catch {
            throw StorageError(.damaged, "the database has an invalid path: \(error.message)")
        }
        return FolderEntry(
            path: path, isFolder: kind & 1 != 0, isDeleted: kind & 2 != 0, revision: row[first], bytes: row[first + 3],
            contentHash: row.hash(first + 4),
            modified: APIDate(seconds: row[first + 5]),
            clientModified: (row[first + 11] as Int64?).map(FileTime.init(nanoseconds:)),
            isExecutable: row[first + 12], author: row[first + 6], node: NodeID(row[first + 7]),
            parent: NodeID(row[first + 8]),
            contentRevision: row[first + 9],
            placeRevision: row[first + 10])
    }
}
