import ByteClubCore
import GRDB

extension SQLiteStore {
    /// The most changes that one transaction of a purge looks at, so that writers never wait for it.
    private static let purgeBatch: Int64 = 500

    /// How many seconds this data directory has seen pass, now.
    func age(in database: Database) throws -> HistoryAge {
        let (wall, uptime) = (now().seconds, uptime())
        let text = try database.firstRow("SELECT value FROM meta WHERE name = ?", [Schema.Meta.age]) { $0[0] as String }
        let known = text.flatMap(HistoryAge.init(text:)) ?? HistoryAge(wall: wall, uptime: uptime)
        return known.advanced(wall: wall, uptime: uptime)
    }

    func markAge() async throws {
        try await writer.perform { [self] transaction in
            let database = transaction.database
            let age = try age(in: database)
            try transaction.execute(
                "INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)", [Schema.Meta.age, age.text])
            try transaction.execute(
                "INSERT OR REPLACE INTO history_mark(age, revision) VALUES (?, ?)",
                [age.seconds, transaction.lastRevision])
        }
    }

    // The purge follows the journal and stores its position with each step, so that a crash costs nothing.
    @discardableResult
    func purgeHistory() async throws -> Int {
        guard let keep = settings.keep else { return 0 }
        var count = 0
        while true {
            let step = try await writer.perform { [self] transaction in try purge(keep, in: transaction) }
            count += step.count
            if step.isLast { return count }
        }
    }

    private func purge(_ keep: Int64, in transaction: WriteTransaction) throws -> (count: Int, isLast: Bool) {
        let database = transaction.database
        let bound = try age(in: database).seconds - keep
        let last = try database.firstRow(
            "SELECT age, revision FROM history_mark WHERE age <= ? ORDER BY age DESC LIMIT 1", [bound]
        ) { (age: $0[0] as Int64, revision: $0[1] as Int64) }
        let done = try SQLiteFolderState.number(Schema.Meta.purged, in: database)
        guard let last, last.revision > done else { return (0, true) }
        // A path's last version may be followed by another entry's there: then its own entry still ends with it.
        let replacing = try database.rows(
            """
            SELECT v.revision, CASE WHEN n.revision = v.previous THEN 0 ELSE v.previous END
            FROM version v LEFT JOIN version p ON p.revision = v.previous LEFT JOIN node n ON n.id = p.node
            WHERE v.revision > ? AND v.revision <= ? ORDER BY v.revision LIMIT ?
            """, [done, last.revision, Self.purgeBatch]
        ) { (revision: $0[0] as Int64, previous: $0[1] as Int64) }
        for (revision, previous) in replacing where previous > 0 {
            try transaction.execute(
                """
                UPDATE version SET previous = (SELECT previous FROM version WHERE revision = ?) WHERE revision = ?
                """, [previous, revision])
            try transaction.execute("DELETE FROM version WHERE revision = ?", [previous])
        }
        let isLast = replacing.count < Self.purgeBatch
        let position = isLast ? last.revision : replacing.last?.revision ?? last.revision
        try transaction.execute("UPDATE meta SET value = ? WHERE name = ?", [position, Schema.Meta.purged])
        try transaction.execute(
            "UPDATE meta SET value = max(value, ?) WHERE name = ?", [position, Schema.Meta.forgotten])
        if isLast { try transaction.execute("DELETE FROM history_mark WHERE age < ?", [last.age]) }
        return (replacing.count { $0.previous > 0 }, isLast)
    }
}
