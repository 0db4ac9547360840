import ByteClubCore

/// The links that members made; durable when a call returns, dead ones count as unknown.
///
/// All calls may run at once. They throw ``StorageError`` for what the disk or the database does, besides what each
/// names.
protocol LinkStore: Sendable {
    /// A member's link to a live entry: the one that there is, whose end stays where it is, else a new one.
    ///
    /// What the terms say is so afterwards also for the one that there is.
    ///
    /// - Throws: ``StorageError`` `tooMany` when the member has ``Link/mostOfMember`` already, `notFound` when the
    ///   entry is gone.
    func link(
        _ purpose: Link.Purpose, to entry: FolderEntry, by member: Int64, _ terms: Link.Terms
    ) async throws -> Link

    /// The link with a secret; nil when there is none, or its entry is deleted.
    func link(_ purpose: Link.Purpose, secret: String) async throws -> Link?

    /// What a link with a secret leads to, or what is at a path below that; nil when there is no such link or no such
    /// entry.
    func entry(_ purpose: Link.Purpose, secret: String, below: String) async throws -> FolderEntry?

    /// The links without an account that a member may see, the newest first: the member's own, for owners all.
    ///
    /// With a purpose only those of that kind, else all but copy references, for which one needs an account; with
    /// numbers below `before`, and at most `limit`.
    func links(seenBy member: Member, _ purpose: Link.Purpose?, before: Int64, limit: Int) async throws -> [Link]

    /// Takes a link back; false when there is none that the member may see.
    func removeLink(_ id: Int64, for member: Member) async throws -> Bool
}

extension LinkStore {
    /// As ``link(_:to:by:_:)`` with a lifetime in seconds from now, or none.
    func link(
        _ purpose: Link.Purpose, to entry: FolderEntry, by member: Int64, lifetime: Int64?
    ) async throws -> Link {
        try await link(purpose, to: entry, by: member, Link.Terms(lifetime: lifetime))
    }
}

extension Link {
    /// The refusal of one link more than a member may have, of which the first ends at a moment.
    static func tooMany(until end: Int64?, now: Int64) -> StorageError {
        StorageError(
            .tooMany(retryAfter: Int(clamping: max(1, (end ?? now) - now))),
            "a member has at most \(mostOfMember) such links at a time; revoke some")
    }
}
