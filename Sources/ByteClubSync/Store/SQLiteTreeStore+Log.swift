import ByteClubCore

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
        insert.bind(4, event.rule)
        insert.bind(5, event.detail)
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
        var result: [(number: Int64, record: LogRecord)] = []
        while try statement.step() {
            let record = LogRecord(
                at: statement.number(0), path: statement.text(1) ?? "", event: statement.text(2) ?? "",
                rule: statement.text(3), detail: statement.text(4))
            result.append((statement.number(5), record))
        }
        return result.reversed()
    }
}
