import ByteClubCore

@testable import ByteClubServer

extension FolderStore {
    /// A page of the journal with all inline contents.
    func journal(
        after cursor: JournalCursor?, limits: JournalLimits
    ) async throws -> (page: SyncPage, bodies: [[UInt8]]) {
        try await journal(after: cursor, besides: nil, limits: limits)
    }
}

extension LinkStore {
    /// A link with a lifetime in seconds from now, or none.
    func link(
        _ purpose: Link.Purpose, to entry: FolderEntry, by member: Int64, lifetime: Int64?
    ) async throws -> Link {
        try await link(purpose, to: entry, by: member, Link.Terms(lifetime: lifetime))
    }
}
