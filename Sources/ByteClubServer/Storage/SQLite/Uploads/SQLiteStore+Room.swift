import ByteClubCore
import GRDB

extension SQLiteStore: QuotaStore {
    func checkDisk(for bytes: Int64) throws { try files.reserve.check(for: bytes) }

    func lack(of demand: RoomDemand, replacing path: RemotePath?) async throws -> RoomDemand.Lack? {
        let (settings, member) = (settings, demand.member)
        return try await query { database in
            let ledger = UsageLedger(database)
            return try demand.lack(
                replacing: path.flatMap { try SQLiteFolderState(reading: database).latest($0.key) }, settings,
                ofMember: try ledger.member(member).bytes + ledger.unfinishedUploads(of: member),
                ofClub: try ledger.club().bytes + ledger.unfinishedUploads(of: nil))
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
