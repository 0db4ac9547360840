import ByteClubCore

/// How much is stored, and whether there is room for more.
protocol RoomStore: Sendable {
    /// How much is stored, and how much there can be when this member goes on writing.
    func usage(of member: Int64) async throws -> StorageUsage

    /// Finds room for content before the first byte of it is written, and keeps it until the hold goes.
    ///
    /// Beside what is live, what waits counts: unfinished uploads, chunks that no write has named, and what is on its
    /// way. When that is too much, what the member left lying for an hour is given up, the oldest first: a program that
    /// was killed often is not in its own way for two days.
    ///
    /// - Parameters:
    ///   - bytes: How many bytes are to come.
    ///   - member: Who sends them.
    ///   - path: Where they will take the place of others; nil when that is not known.
    ///   - chunks: The member's chunks that they are made of, which go when they come.
    /// - Returns: What keeps the room; nil when there is no quota.
    /// - Throws: ``StorageError`` `full` when the disk has no room for them, `overQuota` when a quota has none.
    func hold(
        _ bytes: Int64, for member: Int64, replacing path: RemotePath?, naming chunks: [ContentHash]
    ) async throws -> (any RoomHold)?

    /// Says that a write has named chunks of a member, so that they need not wait any more.
    func named(_ chunks: [ContentHash], by member: Int64) async
}

extension RoomStore {
    /// As ``hold(_:for:replacing:naming:)`` for bytes that take nothing's place.
    func hold(_ bytes: Int64, for member: Int64) async throws -> (any RoomHold)? {
        try await hold(bytes, for: member, replacing: nil, naming: [])
    }
}

/// Room that is kept until the last reference to this goes.
protocol RoomHold: AnyObject, Sendable {}

/// How much is stored and how much could be, in bytes.
struct StorageUsage: Hashable, Sendable {
    /// The live files' lengths added up.
    let used: Int64
    /// ``used`` and what the quotas of the club and of the member who asks leave; nil when neither is set.
    let quota: Int64?
    /// ``used`` and what is still free on the disk and in the quotas: for who runs the server, not for members.
    let capacity: Int64
}
