import ByteClubCore
import Crypto
import FoundationEssentials

/// The rights that a link to join grants.
struct Invitation: Hashable, Sendable {
    /// The default lifetime of a link, in seconds.
    static let lifetime: Int64 = 7 * 86_400
    /// The number, in place of a member's, of invitations from the server's own commands.
    static let byHost: Int64 = 0
    /// The number, in place of a member's, of invitations by which a club gets its first owner.
    static let byNobody: Int64 = -1

    /// The new member's role.
    let role: Role
    /// When the link expires.
    let expires: APIDate
}

/// An unused invitation.
struct OpenInvitation: Hashable, Sendable {
    /// A name for those who must not see the secret: 8 hexadecimal digits.
    let id: String
    /// The rights that it grants.
    let invitation: Invitation
    /// The name of the member who made it; nil for the server's machine.
    let inviter: String?

    /// The name of an invitation whose secret has this hash.
    static func id(_ hash: Data) -> String { Hexadecimal.encode(Array(hash.prefix(4))) }
}

/// The invitation by which a new club gets its owner, as the server's log shows it.
///
/// Its secret follows from its end and the club's key, so that each start shows the same one as long as it is good, and
/// no two ever have the same.
struct OwnerInvitation: Sendable {
    /// How long one must be good yet to be shown again, in seconds.
    private static let shortest: Int64 = 86_400

    /// The last part of the link.
    let secret: String
    /// When the link expires.
    let expires: APIDate

    /// The invitation to show, a new one when the last expires soon; nil when the club has an owner.
    static func current(in store: any ClubStore, at now: Int64) async throws -> OwnerInvitation? {
        let key = store.signingKey
        for open in try await store.invitations() where open.inviter == nil && open.invitation.role == .owner {
            let secret = secret(until: open.invitation.expires.seconds, key)
            guard OpenInvitation.id(Secret.hash(secret)) == open.id else { continue }
            if open.invitation.expires.seconds > now + shortest {
                return OwnerInvitation(secret: secret, expires: open.invitation.expires)
            }
            _ = try await store.removeInvitation(id: open.id)
        }
        let fresh = try await store.addOwnerInvitation(lifetime: Invitation.lifetime) { secret(until: $0, key) }
        return fresh.map { OwnerInvitation(secret: $0.secret, expires: $0.expires) }
    }

    private static func secret(until expires: Int64, _ key: SymmetricKey) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array("owner \(expires)".utf8), using: key)
        return Hexadecimal.encode(Array(code.prefix(16)))
    }
}

/// Random texts that cannot be guessed.
enum Secret {
    /// Hexadecimal digits of this many bytes from the system's secure generator.
    static func text(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.encode((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The SHA-256 of a secret, which is stored in place of the secret.
    static func hash(_ text: String) -> Data { Data(SHA256.hash(data: Array(text.utf8))) }
}
