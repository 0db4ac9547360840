import ByteClubCore
import GRDB

extension SQLiteStore {
    /// The most changes that one transaction of a purge looks at, so that writers never wait for it.
    private static let purgeBatch: Int64 = 500

    /// How many seconds this data directory has seen pass, now.
    func age(in database: Database) throws -> HistoryAge {
        let (wall, uptime) = (now().seconds, uptime())
        let text: String? = try database.meta(Schema.Meta.age)
        let known = text.flatMap(HistoryAge.init(text:)) ?? HistoryAge(wall: wall, uptime: uptime)
        return known.advanced(wall: wall, uptime: uptime)
    }

    func markAge() async throws {
        try await writer.perform { [self] transaction in
            let database = transaction.database
            let age = try age(in: database)
            try transaction.setMeta(Schema.Meta.age, to: age.text)
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
        let done: Int64 = try database.meta(Schema.Meta.purged) ?? 0
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

    /// The most versions that one transaction forgets, so that writers never wait for it.
    private static let dropBatch = 500

    func dropHistoryOverQuota() async throws -> Int {
        guard let quota = settings.historyQuota else { return 0 }
        let surplus = try await query { try HistorySurplus(over: quota, in: $0).versions }
        for start in stride(from: 0, to: surplus.count, by: Self.dropBatch) {
            let batch = surplus[start..<min(start + Self.dropBatch, surplus.count)]
            try await writer.perform { transaction in
                for (version, next) in batch { try Self.drop(version, before: next, in: transaction) }
            }
        }
        return surplus.count
    }

    private static func drop(_ version: Int64, before next: Int64, in transaction: WriteTransaction) throws {
        let changed = try transaction.execute(
            """
            UPDATE version SET previous = (SELECT previous FROM version WHERE revision = ?1)
            WHERE revision = ?2 AND previous = ?1
            """, [version, next])
        if changed != 1 { return }
        try transaction.execute("DELETE FROM version WHERE revision = ?", [version])
        try transaction.execute(
            "UPDATE meta SET value = max(value, ?) WHERE name = ?", [version, Schema.Meta.forgotten])
        try transaction.execute(
            """
            INSERT INTO meta(name, value) VALUES (?, ?) ON CONFLICT(name) DO UPDATE
            SET value = max(value, excluded.value)
            """, [Schema.Meta.dropped, next])
    }
}

/// The old versions over a quota.
private struct HistorySurplus {
    /// The versions, each with the one that took its place, the longest replaced first.
    private(set) var versions: [(version: Int64, next: Int64)] = []

    /// A content among the old versions of a member; by the beginning of its hash, as in ``ContentUse``.
    private struct Owned: Hashable {
        let author: Int64
        let content: UInt64
    }

    /// Old versions in the order in which they were replaced, but for those that end the history of an entry.
    private static let old = """
        SELECT v.author, v.hash, v.bytes, v.revision, next.revision FROM version next
        JOIN version v ON v.revision = next.previous LEFT JOIN node n ON n.id = v.node
        WHERE next.previous > 0 AND v.bytes > 0 AND n.revision IS NOT v.revision ORDER BY next.revision
        """

    /// Looks through the whole journal, twice when there is too much.
    init(over quota: Int64, in database: Database) throws {
        var live: Set<UInt64> = []
        try database.forEachRow(
            "SELECT v.hash FROM latest l JOIN version v ON v.revision = l.revision WHERE v.bytes > 0"
        ) { row in
            if let hash = row.bytes(0) { live.insert(ContentUse.prefix(hash)) }
        }
        // A content that a live file has needs no room of its own; one that several versions have needs it once.
        var uses: [Owned: Int] = [:]
        var sums: [Int64: Int64] = [:]
        try database.forEachRow(Self.old) { row in
            guard let owned = Self.owned(row), !live.contains(owned.content) else { return }
            if uses[owned] == nil { sums[owned.author, default: 0] += row[2] as Int64 }
            uses[owned, default: 0] += 1
        }
        guard sums.values.contains(where: { $0 > quota }) else { return }
        try database.forEachRow(Self.old) { row in
            guard let owned = Self.owned(row), let sum = sums[owned.author], sum > quota, let count = uses[owned] else {
                return
            }
            uses[owned] = count - 1
            if count == 1 { sums[owned.author] = sum - (row[2] as Int64) }
            versions.append((row[3], row[4]))
        }
    }

    private static func owned(_ row: Row) -> Owned? {
        row.bytes(1).map { Owned(author: row[0], content: ContentUse.prefix($0)) }
    }
}
