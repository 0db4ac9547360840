import GRDB

/// How much is stored, as one transaction of the database sees it: the club's sum and each member's.
struct UsageLedger {
    private let database: Database

    /// Reads and writes through a connection.
    init(_ database: Database) {
        self.database = database
    }

    /// The bytes of all live files.
    func club() throws -> Int64 {
        try database.firstRow("SELECT value FROM meta WHERE name = ?", [Schema.Meta.used]) { $0[0] as Int64 } ?? 0
    }

    /// The bytes of the live files that a member was the last to write.
    func member(_ uid: Int64) throws -> Int64 {
        try database.firstRow("SELECT bytes FROM member_usage WHERE member = ?", [uid]) { $0[0] as Int64 } ?? 0
    }

    /// Refuses a change that grows what is over its limit; one that shrinks it is always welcome.
    ///
    /// - Parameters:
    ///   - change: What the transaction has changed so far and not yet written.
    ///   - before: What it had changed before the change in question.
    ///   - settings: The limits.
    /// - Throws: ``StorageError`` `full`.
    func check(_ change: UsageChange, since before: UsageChange, against settings: HistorySettings) throws {
        if let quota = settings.clubQuota, change.club > before.club, try club() + change.club > quota {
            throw StorageError(.full, "the club's quota of \(quota) bytes is used up")
        }
        guard let quota = settings.memberQuota else { return }
        for (uid, bytes) in change.members where bytes > before.members[uid, default: 0] {
            if try member(uid) + bytes > quota {
                throw StorageError(.full, "the quota of \(quota) bytes of the member \(uid) is used up")
            }
        }
    }

    /// Adds what a transaction has changed.
    func add(_ change: UsageChange) throws {
        if change.club != 0 {
            try database.run("UPDATE meta SET value = value + ? WHERE name = ?", [change.club, Schema.Meta.used])
        }
        for (uid, bytes) in change.members where bytes != 0 {
            try database.run(
                """
                INSERT INTO member_usage(member, bytes) VALUES (?, ?)
                ON CONFLICT(member) DO UPDATE SET bytes = bytes + excluded.bytes
                """, [uid, bytes])
        }
    }
}
