import ByteClubCore
import Crypto

/// The invitation by which a new club gets its owner, as the server's log shows it.
///
/// Its secret follows from its end and the club's key, so that each start shows the same one as long as it is good, and
/// no two ever have the same.
struct OwnerInvitation: Sendable {
    /// How long one must be good yet to be shown again, in seconds.
    private static let shortest: Int64 = 86_400

    /// What the link ends with.
    let secret: String
    /// When the link dies.
    let expires: APIDate

    /// The invitation to show, made when there is none that is good for long; nil when the club has an owner.
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
