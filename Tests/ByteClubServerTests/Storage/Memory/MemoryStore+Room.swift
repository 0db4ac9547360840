import ByteClubCore
import TestSupport

@testable import ByteClubServer

extension MemoryStore {
    func usage(of member: Int64) async throws -> StorageUsage {
        try query { club in
            let usage = club.usage()
            let used = usage.club.bytes
            let quota = settings.quota(used: used, ofMember: usage.members[member]?.bytes ?? 0)
            return StorageUsage(used: used, quota: quota, capacity: quota ?? .max)
        }
    }

    /// There is no disk.
    func checkDisk(for bytes: Int64) {}

    func takenRoom(by member: Int64, at path: RemotePath?) async throws -> TakenRoom {
        try query { club in
            let usage = club.usage()
            return TakenRoom(
                ofMember: (usage.members[member]?.bytes ?? 0) + club.unfinishedBytes(of: member),
                ofClub: usage.club.bytes + club.unfinishedBytes(of: nil),
                replaced: path.flatMap { club.folder.latest($0.key) })
        }
    }

    func giveUpIdle(_ bytes: Int64, of member: Int64) async throws -> Bool {
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
