import ByteClubCore

extension SQLiteTreeStore {
    func meta(_ key: MetaKey) throws -> String? {
        if let value = later[key] { return value }
        let statement = try prepared("SELECT value FROM meta WHERE name = ?")
        statement.bind(1, key.rawValue)
        defer { statement.reset() }
        return try statement.step() ? statement.text(0) : nil
    }

    func setMeta(_ key: MetaKey, _ value: String?) throws {
        later[key] = nil
        if try meta(key) == value { return }
        try changing { () throws(SyncError) in try setValue(key.rawValue, value) }
    }

    func setMetaLater(_ key: MetaKey, _ value: String) throws { later[key] = value }

    /// Keeps or forgets a value within a transaction.
    func setValue(_ name: String, _ value: String?) throws(SyncError) {
        let statement = try prepared(
            value == nil ? "DELETE FROM meta WHERE name = ?" : "INSERT OR REPLACE INTO meta VALUES(?, ?)")
        statement.bind(1, name)
        if let value { statement.bind(2, value) }
        try statement.run()
    }

    func records<Record: StoredRecord>(_ kind: Record.Type) throws -> [Record] {
        try rows("SELECT * FROM \(Record.table.name) ORDER BY 1", Self.record).compactMap(\.self)
    }

    func problems(below path: String) throws -> [ProblemRecord] {
        // "0" is the byte after "/".
        try rows(
            "SELECT * FROM problem WHERE path = ?1 OR path >= ?1 || '/' AND path < ?1 || '0' ORDER BY path",
            bind: { $0.bind(1, path) }, Self.record
        ).compactMap(\.self)
    }

    private static func record<Record: StoredRecord>(_ row: SQLiteStatement) -> Record? {
        Record((0..<Int32(Record.table.columns.count)).map(row.value))
    }

    func save<Record: StoredRecord>(_ record: Record) throws {
        try changing { () throws(SyncError) in try insert(record) }
    }

    private func insert<Record: StoredRecord>(_ record: Record) throws(SyncError) {
        let placeholders = Record.table.columns.map { _ in "?" }.joined(separator: ", ")
        let insert = try prepared("INSERT OR REPLACE INTO \(Record.table.name) VALUES(\(placeholders))")
        for (index, value) in record.values.enumerated() { insert.bind(Int32(index) + 1, value) }
        try insert.run()
    }

    func setAll<Record: StoredRecord>(_ records: [Record]) throws {
        try changing { () throws(SyncError) in
            try prepared("DELETE FROM \(Record.table.name)").run()
            for record in records { try insert(record) }
        }
    }

    func removeRecord<Record: StoredRecord>(_ kind: Record.Type, _ key: StoredValue) throws {
        let column = Record.table.columns.first?.prefix { $0 != " " } ?? ""
        try changing { () throws(SyncError) in
            let delete = try prepared("DELETE FROM \(Record.table.name) WHERE \(column) = ?")
            delete.bind(1, key)
            try delete.run()
        }
    }

    /// All rows of a query.
    func rows<Value>(
        _ sql: String, bind: (SQLiteStatement) -> Void = { _ in }, _ value: (SQLiteStatement) -> Value
    ) throws(SyncError) -> [Value] {
        let statement = try prepared(sql)
        bind(statement)
        return try statement.rows(value)
    }
}

extension SQLiteTreeStore {
    /// How many events the log keeps.
    static let eventLimit: Int64 = 100_000

    func log(_ event: LogRecord) throws {
        try changing { () throws(SyncError) in try add(event) }
    }

    private func add(_ event: LogRecord) throws(SyncError) {
        let insert = try prepared("INSERT INTO event(at, path, event, rule, detail) VALUES(?, ?, ?, ?, ?)")
        insert.bind(1, event.at)
        insert.bind(2, event.path)
        insert.bind(3, event.event)
        insert.bind(4, .text(event.rule))
        insert.bind(5, .text(event.detail))
        try insert.run()
        // Old events go a thousand at a time.
        let newest = connection.lastRow
        if newest % 1_024 == 0 {
            let delete = try prepared("DELETE FROM event WHERE seq <= ?")
            delete.bind(1, newest - Self.eventLimit)
            try delete.run()
        }
    }

    func events(limit: Int, below path: String?) throws -> [LogRecord] {
        try events(after: nil, limit: limit, below: path).map(\.record)
    }

    /// The same with each event's number, which grows; with `after` only those behind that number.
    func events(after: Int64?, limit: Int, below path: String?) throws -> [(number: Int64, record: LogRecord)] {
        let path = path?.isEmpty == true ? nil : path
        let condition = path == nil ? "" : "AND (path = ?3 OR substr(path, 1, length(?3) + 1) = ?3 || '/')"
        let statement = try prepared(
            """
            SELECT at, path, event, rule, detail, seq FROM event
            WHERE seq > max(?4, (SELECT max(seq) FROM event) - ?1) \(condition) ORDER BY seq DESC LIMIT ?2
            """)
        statement.bind(1, Self.eventLimit)
        statement.bind(2, Int64(max(0, limit)))
        if let path { statement.bind(3, path) }
        statement.bind(4, after ?? -1)
        return try statement.rows { row in
            let record = LogRecord(
                at: row.number(0), path: row.text(1) ?? "", event: row.text(2) ?? "", rule: row.text(3),
                detail: row.text(4))
            return (row.number(5), record)
        }.reversed()
    }
}

extension SQLiteTreeStore {
    /// Files, folders and bytes that are synced.
    func totals() throws -> (files: Int, folders: Int, bytes: Int64) {
        let folder = ItemFlags.syncedFolder.rawValue
        let statement = try prepared(
            """
            SELECT count(*), coalesce(sum(flags & \(folder) <> 0), 0), coalesce(sum(s_size), 0) FROM item
            WHERE s_parent IS NOT NULL AND id <> 0
            """)
        defer { statement.reset() }
        guard try statement.step() else { return (0, 0, 0) }
        let folders = Int(statement.number(1))
        return (Int(statement.number(0)) - folders, folders, statement.number(2))
    }
}
