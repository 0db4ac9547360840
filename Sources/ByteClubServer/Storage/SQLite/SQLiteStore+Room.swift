import ByteClubCore
import GRDB

extension SQLiteStore {
    func usage(of member: Int64) async throws -> StorageUsage {
        let (directory, settings) = (directory, settings)
        return try await query { database in
            let ledger = UsageLedger(database: database)
            let used = try ledger.club().bytes
            let (disk, isEndless) = used.addingReportingOverflow(try Directory.freeBytes(directory))
            let quota = try settings.quota(used: used, ofMember: ledger.member(member).bytes)
            return StorageUsage(
                used: used, quota: quota, capacity: min(isEndless ? .max : disk, quota ?? .max))
        }
    }

    func checkDisk(for bytes: Int64) throws { try files.reserve.check(for: bytes) }

    func takenRoom(by member: Int64, at path: RemotePath?) async throws -> TakenRoom {
        try await query { database in
            let ledger = UsageLedger(database: database)
            return TakenRoom(
                ofMember: try ledger.member(member).bytes + ledger.unfinishedUploads(of: member),
                ofClub: try ledger.club().bytes + ledger.unfinishedUploads(of: nil),
                replaced: try path.flatMap { try SQLiteFolderState(reading: database).latest($0.key) })
        }
    }

    func giveUpIdle(_ bytes: Int64, of member: Int64) async throws -> Bool {
        try await removeExpiredUploads()
        let (claims, oldest) = (claims, now().seconds - WaitingTime.idle)
        let (uploads, freed) = try await writer.perform { transaction in
            let idle = try transaction.database.rows(
                """
                SELECT id, size FROM upload WHERE member = ? AND completed = 0 AND touched < ? AND size > 0
                ORDER BY touched, id
                """, [member, oldest]
            ) { (id: $0[0] as String, size: $0[1] as Int64) }
            var (given, freed): ([String], Int64) = ([], 0)
            for upload in idle where freed < bytes && claims.isIdle(upload.id) {
                given.append(upload.id)
                freed += upload.size
            }
            try Self.forget(given, in: transaction)
            return (given, freed)
        }
        await removeFiles(ofUploads: uploads)
        let removed = try await chunks.giveUp(bytes - freed, from: member)
        return freed + removed > 0
    }
}

/// How much is stored, as one transaction of the database sees it: the club's sum and each member's.
struct UsageLedger {
    let database: Database

    /// All that is live.
    func club() throws -> Usage {
        Usage(
            bytes: try database.meta(Schema.Meta.used) ?? 0, entries: try database.meta(Schema.Meta.entries) ?? 0)
    }

    /// The live entries that a member was the last to write.
    func member(_ uid: Int64) throws -> Usage {
        try database.firstRow("SELECT bytes, entries FROM member_usage WHERE member = ?", [uid]) {
            Usage(bytes: $0[0], entries: $0[1])
        } ?? Usage()
    }

    /// The bytes of the unfinished uploads of a member, or of all.
    func unfinishedUploads(of uid: Int64?) throws -> Int64 {
        let sum = "SELECT coalesce(sum(size), 0) FROM upload WHERE completed = 0"
        guard let uid else { return try database.firstRow(sum) { $0[0] as Int64 } ?? 0 }
        return try database.firstRow(sum + " AND member = ?", [uid]) { $0[0] as Int64 } ?? 0
    }

    /// Refuses a change that grows a sum that is over its limit; one that shrinks it always passes.
    ///
    /// - Parameters:
    ///   - change: The change in question.
    ///   - before: The changes of the transaction before it, which are not written yet.
    ///   - settings: The limits.
    /// - Throws: ``StorageError`` `overQuota`.
    func check(_ change: UsageChange, after before: UsageChange, against settings: HistorySettings) throws {
        try settings.checkClub(growing: change.club) { try club() + before.club + change.club }
        guard settings.memberQuota != nil || settings.memberEntries != nil else { return }
        for (uid, growth) in change.members {
            try settings.checkMember(uid, growing: growth) {
                try member(uid) + before.members[uid, default: Usage()] + growth
            }
        }
    }

    /// Adds what a transaction has changed.
    func add(_ change: UsageChange) throws {
        for (name, growth) in [(Schema.Meta.used, change.club.bytes), (Schema.Meta.entries, change.club.entries)]
        where growth != 0 {
            try database.run("UPDATE meta SET value = value + ? WHERE name = ?", [growth, name])
        }
        for (uid, usage) in change.members where usage != Usage() {
            try database.run(
                """
                INSERT INTO member_usage(member, bytes, entries) VALUES (?, ?, ?)
                ON CONFLICT(member) DO UPDATE SET bytes = bytes + excluded.bytes, entries = entries + excluded.entries
                """, [uid, usage.bytes, usage.entries])
        }
    }
}
