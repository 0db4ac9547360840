import ByteClubCore
import Synchronization

/// The bytes that count against quotas: live files and unfinished uploads.
struct TakenRoom: Sendable {
    /// The live files that the member wrote last, and the member's unfinished uploads.
    let ofMember: Int64
    /// All live files and all unfinished uploads.
    let ofClub: Int64
    /// The entry that the new content replaces.
    let replaced: FolderEntry?
}

extension UploadStore {
    /// Finds room for content before its first byte is written, and keeps it as long as the result lives.
    ///
    /// Besides ``TakenRoom`` the quotas count chunks that no write has named, and bytes under way. When the sum is too
    /// much, uploads and chunks that the member has not touched for an hour are removed, the oldest first: a program
    /// that was killed often would otherwise block itself for two days.
    ///
    /// - Parameters:
    ///   - bytes: How many bytes will come.
    ///   - member: Their sender.
    ///   - path: Where they replace other content; nil when that is not known.
    ///   - chunks: The member's chunks that they are made of, which are removed afterwards.
    /// - Returns: The room; nil when there is no quota.
    /// - Throws: ``StorageError`` `full` when the disk has no room for them, `overQuota` when a quota has none.
    func hold(
        _ bytes: Int64, for member: Int64, replacing path: RemotePath? = nil, naming chunks: [ContentHash] = []
    ) async throws -> RoomHold? {
        try checkDisk(for: bytes)
        guard settings.hasQuota, bytes > 0 else { return nil }
        let hold = underWay.hold(bytes, of: member, quota: settings.memberQuota)
        guard let first = try await lack(for: hold, replacing: path, naming: chunks) else { return hold }
        guard try await giveUpIdle(first.bytes, of: member) else { throw first.error }
        if let still = try await lack(for: hold, replacing: path, naming: chunks) { throw still.error }
        return hold
    }

    /// By how many bytes a quota is too small for a hold, the member's before the club's; nil when there is room.
    private func lack(
        for hold: RoomHold, replacing path: RemotePath?, naming chunks: [ContentHash]
    ) async throws -> (bytes: Int64, error: StorageError)? {
        // The hold was counted before all this: what arrives meanwhile counts twice, never not at all.
        let (waiting, member) = (try await self.chunks.waitingBytes(), hold.member)
        let named = try await self.chunks.waitingBytes(of: chunks, from: member)
        let taken = try await takenRoom(by: member, at: path)
        if let quota = settings.memberQuota {
            let freed = named + (taken.replaced?.author == member ? taken.replaced?.bytes ?? 0 : 0)
            let over = taken.ofMember + waiting[member, default: 0] + hold.ofMember - freed - quota
            if hold.bytes > freed, over > 0 { return (over, .overMemberQuota(quota, of: member)) }
        }
        if let quota = settings.clubQuota {
            let freed = named + (taken.replaced?.bytes ?? 0)
            let over = taken.ofClub + waiting.values.reduce(0, +) + hold.ofAll - freed - quota
            if hold.bytes > freed, over > 0 { return (over, .overClubQuota(quota)) }
        }
        return nil
    }

    /// Removes a member's chunks that a write has named, or lets them go when the disk needs their room.
    func named(_ chunks: [ContentHash], by member: Int64) async {
        if chunks.isEmpty { return }
        // Chunks that cannot be removed now expire later.
        if settings.hasQuota {
            try? await self.chunks.remove(chunks, from: member)
        } else {
            try? await self.chunks.release(chunks, from: member)
        }
    }
}

/// The usage and the room of a storage, in bytes.
struct StorageUsage: Hashable, Sendable {
    /// The live files' lengths added up.
    let used: Int64
    /// ``used`` and what the quotas of the club and of the member who asks leave; nil when neither is set.
    let quota: Int64?
    /// ``used`` and the free space on the disk and in the quotas: for the operator, not for members.
    let capacity: Int64
}

/// The bytes of contents that are on their way to the disk, by the member who sends them.
///
/// Bytes that have arrived are counted where they are stored, so a crash leaves nothing to mend.
final class BytesUnderWay: Sendable {
    /// More than any disk holds, so that no sum of announced lengths overflows.
    private static let maximumBytes: Int64 = 1 << 45

    private let state = Mutex<[Int64: Int64]>([:])

    /// Counts bytes that a member has announced.
    ///
    /// Towards the sum of all, a member counts for at most the quota: the rest is refused a moment later, and must not
    /// use up the room of others.
    func hold(_ bytes: Int64, of member: Int64, quota: Int64?) -> RoomHold {
        let counted = min(max(bytes, 0), Self.maximumBytes)
        let (ofMember, ofAll) = state.withLock { state in
            state[member, default: 0] += counted
            return (state[member, default: 0], state.values.reduce(0) { $0 + min($1, quota ?? $1) })
        }
        return RoomHold(bytes: bytes, member: member, ofMember: ofMember, ofAll: ofAll) { [self] in
            state.withLock { state in
                let left = state[member, default: 0] - counted
                state[member] = left == 0 ? nil : left
            }
        }
    }
}

/// Bytes that count as under way until the last reference is released.
final class RoomHold: Sendable {
    /// How many bytes were announced.
    let bytes: Int64
    /// Their sender.
    let member: Int64
    /// The bytes that the member has under way, including these.
    let ofMember: Int64
    /// The bytes that all have under way, including these, but of each member no more than one may store.
    let ofAll: Int64
    private let end: @Sendable () -> Void

    fileprivate init(bytes: Int64, member: Int64, ofMember: Int64, ofAll: Int64, end: @escaping @Sendable () -> Void) {
        (self.bytes, self.member, self.ofMember, self.ofAll, self.end) = (bytes, member, ofMember, ofAll, end)
    }

    deinit { end() }
}
