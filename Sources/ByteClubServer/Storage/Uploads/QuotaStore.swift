import ByteClubCore

/// A store that keeps quotas by what it counts: all of them find room in the same way.
protocol QuotaStore: RoomStore, UploadStore, MaintenanceStore {
    /// What is on its way.
    var underWay: BytesUnderWay { get }

    /// Refuses bytes for which the disk has no room.
    ///
    /// - Throws: ``StorageError`` `full`.
    func checkDisk(for bytes: Int64) throws

    /// What the quotas lack for what is to come; nil when there is room.
    func lack(of demand: RoomDemand, replacing path: RemotePath?) async throws -> RoomDemand.Lack?

    /// Gives up uploads and chunks that a member left lying, the oldest first, until so many bytes are free; returns
    /// whether anything went.
    func giveUpIdle(_ bytes: Int64, of member: Int64) async throws -> Bool
}

extension QuotaStore {
    func hold(
        _ bytes: Int64, for member: Int64, replacing path: RemotePath?, naming chunks: [ContentHash]
    ) async throws -> (any RoomHold)? {
        try checkDisk(for: bytes)
        guard settings.hasQuota, bytes > 0 else { return nil }
        let hold = underWay.hold(bytes, of: member, quota: settings.memberQuota)
        let lack = { [self] in
            // What is under way was counted before: what arrives meanwhile counts twice, never not at all.
            let demand = RoomDemand(
                bytes: bytes, member: member, hold: hold, waiting: try await self.chunks.waitingBytes(),
                named: try await self.chunks.waitingBytes(of: chunks, from: member))
            return try await self.lack(of: demand, replacing: path)
        }
        guard let first = try await lack() else { return hold }
        guard try await giveUpIdle(first.bytes, of: member) else { throw first.error }
        if let still = try await lack() { throw still.error }
        return hold
    }

    func named(_ chunks: [ContentHash], by member: Int64) async {
        if chunks.isEmpty { return }
        // Those that cannot be removed go when their time is over.
        if settings.hasQuota {
            try? await self.chunks.remove(chunks, from: member)
        } else {
            try? await self.chunks.release(chunks, from: member)
        }
    }
}
