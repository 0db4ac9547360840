import ByteClubCore
import FoundationEssentials

/// What a link that lets somebody join is good for.
struct Invitation: Hashable, Sendable {
    /// How long a link works unless told otherwise, in seconds.
    static let lifetime: Int64 = 7 * 86_400
    /// Who made those of the server's machine, in place of a member's number.
    static let byHost: Int64 = 0
    /// Who made those by which a club gets its first owner, in place of a member's number.
    static let byNobody: Int64 = -1

    /// What the new member may do.
    let role: Role
    /// When the link dies.
    let expires: APIDate
}

/// An invitation that nobody has used yet.
struct OpenInvitation: Hashable, Sendable {
    /// What it is called by those who must not see its secret: 8 hexadecimal digits.
    let id: String
    /// What it is good for.
    let invitation: Invitation
    /// The name of the member who made it; nil for the server's machine.
    let inviter: String?

    /// What an invitation is called whose secret has this hash.
    static func id(_ hash: Data) -> String { Hexadecimal.encode(Array(hash.prefix(4))) }
}
