import ByteClubCore

@testable import ByteClubServer

extension FolderStore {
    /// A page of the journal with all inline contents.
    func journal(
        after cursor: JournalCursor?, limits: JournalLimits
    ) async throws -> (page: SyncPage, bodies: [[UInt8]]) {
        try await journal(after: cursor, besides: nil, limits: limits)
    }

    /// A write with one content or none.
    func write<T: Sendable>(
        by author: Int64, storing content: StagedContent?,
        _ body: @escaping @Sendable (inout SharedFolder) throws -> T
    ) async throws -> T {
        try await write(by: author, storing: content.map { [$0] } ?? [], body)
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

extension MemberStore {
    /// Removes a member other than the last owner.
    func removeMember(name: String) async throws { try await removeMember(name: name, evenTheLast: false) }

    /// Sets a member's password, whatever it was.
    func setPassword(_ hash: PasswordHash, ofMember name: String, shuttingOutDevices: Bool = false) async throws {
        _ = try await setPassword(hash, ofMember: name, replacing: .any, shuttingOutDevices: shuttingOutDevices)
    }

    /// The new secret of an invitation to own a club that has no owner; nil when there is an owner.
    func addOwnerInvitation(lifetime: Int64) async throws -> String? {
        try await addOwnerInvitation(lifetime: lifetime) { _ in Secret.text(bytes: 16) }?.secret
    }
}
