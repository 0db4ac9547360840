import ByteClubCore

/// What a link that lets somebody join is good for.
struct Invitation: Hashable, Sendable {
    /// How long a link works unless told otherwise, in seconds.
    static let lifetime: Int64 = 7 * 86_400

    /// What the new member may do.
    let role: Role
    /// When the link dies.
    let expires: APIDate
}
