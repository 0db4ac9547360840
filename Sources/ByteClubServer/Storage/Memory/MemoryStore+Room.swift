import ByteClubCore

extension MemoryStore {
    func usage(of member: Int64) async throws -> StorageUsage {
        try query { club in
            let usage = club.usage()
            let used = usage.club.bytes
            let quota = settings.quota(used: used, ofMember: usage.members[member]?.bytes ?? 0)
            return StorageUsage(used: used, quota: quota, capacity: quota ?? .max)
        }
    }

    func hold(
        _ bytes: Int64, for member: Int64, replacing path: RemotePath?, naming chunks: [ContentHash]
    ) async throws -> (any RoomHold)? {
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
        let demand = RoomDemand(
            bytes: bytes, member: member, hold: hold, waiting: try await self.chunks.waitingBytes(),
            named: try await self.chunks.waitingBytes(of: chunks, from: member))
        return try query { club in
            let usage = club.usage()
            return demand.lack(
                replacing: path.flatMap { club.folder.latest($0.key) }, settings,
                ofMember: (usage.members[member]?.bytes ?? 0) + club.unfinishedBytes(of: member),
                ofClub: usage.club.bytes + club.unfinishedBytes(of: nil))
        }
    }

    func named(_ chunks: [ContentHash], by member: Int64) async {
        guard settings.hasQuota else { return }
        try? await self.chunks.remove(chunks, from: member)
    }

    /// Gives up what a member left lying, the oldest first, until so many bytes are free; returns whether anything
    /// went.
    private func giveUpIdle(_ bytes: Int64, of member: Int64) async throws -> Bool {
        let oldest = now.seconds - WaitingTime.idle
        let freed = try change { club in
            removeExpiredUploads(in: &club)
            let idle = club.uploads.filter { id, upload in
                upload.member == member && !upload.isCompleted && upload.touched < oldest && !upload.bytes.isEmpty
                    && upload.holder == nil
            }
            var freed: Int64 = 0
            for (id, upload) in idle.sorted(by: { $0.value.touched < $1.value.touched }) where freed < bytes {
                club.uploads[id] = nil
                freed += Int64(upload.bytes.count)
            }
            return freed
        }
        return try await freed + chunks.giveUp(bytes - freed, from: member) > 0
    }
}
