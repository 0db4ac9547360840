import ByteClubCore
import GRDB

extension SQLiteStore {
    func hold(
        _ bytes: Int64, for member: Int64, replacing path: RemotePath?, naming chunks: [ContentHash]
    ) async throws -> (any RoomHold)? {
        try files.reserve.check(for: bytes)
        guard settings.hasQuota, bytes > 0 else { return nil }
        let hold = underWay.hold(bytes, of: member, quota: settings.memberQuota)
        guard let lack = try await lack(of: hold, bytes, for: member, replacing: path, naming: chunks) else {
            return hold
        }
        guard try await giveUpIdle(lack.bytes, of: member) else { throw lack.error }
        if let still = try await self.lack(of: hold, bytes, for: member, replacing: path, naming: chunks) {
            throw still.error
        }
        return hold
    }

    private func lack(
        of hold: BytesUnderWay.Hold, _ bytes: Int64, for member: Int64, replacing path: RemotePath?,
        naming chunks: [ContentHash]
    ) async throws -> RoomDemand.Lack? {
        // What is under way was counted before: what arrives meanwhile counts twice, never not at all.
        let demand = RoomDemand(
            bytes: bytes, member: member, hold: hold, waiting: try await self.chunks.waitingBytes(),
            named: try await self.chunks.waitingBytes(of: chunks, from: member))
        let settings = settings
        return try await query { database in
            let ledger = UsageLedger(database)
            return try demand.lack(
                replacing: path.flatMap { try SQLiteFolderState(reading: database).latest($0.key) }, settings,
                ofMember: try ledger.member(member).bytes + ledger.unfinishedUploads(of: member),
                ofClub: try ledger.club().bytes + ledger.unfinishedUploads(of: nil))
        }
    }

    // Without a quota they stay for what is like them.
    func named(_ chunks: [ContentHash], by member: Int64) async {
        guard settings.hasQuota, !chunks.isEmpty else { return }
        // Those that cannot be removed go when their time is over.
        try? await self.chunks.remove(chunks, from: member)
    }

    /// Gives up what a member left lying, the oldest first, until so many bytes are free; returns whether anything
    /// went.
    private func giveUpIdle(_ bytes: Int64, of member: Int64) async throws -> Bool {
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
