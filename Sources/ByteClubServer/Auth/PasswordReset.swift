import ByteClubCore
import Crypto

/// A link by which a member who has forgotten the password sets a new one, once.
///
/// Nothing of it is stored. Its code is made with the password that it replaces, so that all links of a member die with
/// the next password; one that an owner has made dies also when its maker is no owner any more.
struct PasswordReset: Hashable, Sendable {
    /// How long a link works, in seconds.
    static let lifetime: Int64 = 86_400

    /// The number of the member whose password it sets.
    let member: Int64
    /// The number of the owner who made it; ``Invitation/byHost`` for the server's machine.
    let maker: Int64
    /// When it dies, in seconds since 1970.
    let expires: Int64

    /// What the link ends with.
    func secret(replacing password: PasswordHash?, key: SymmetricKey) -> String {
        let signed = "reset \(member) \(maker) \(expires) \(password?.text ?? "")"
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key)
        return "\(member)-\(maker)-\(expires)-" + Hexadecimal.encode(Array(code.prefix(16)))
    }

    /// Whose password a link sets, with the hash of the one that it replaces; nil when the link does not work (any more).
    static func member(
        of secret: String, in store: any ClubStore, at now: Int64
    ) async throws -> (member: Member, password: PasswordHash?)? {
        let parts = secret.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, let member = Int64(parts[0]), let maker = Int64(parts[1]),
            let expires = Int64(parts[2]), expires > now
        else { return nil }
        let members = try await store.members().filter { !$0.isDisabled }
        guard let name = members.first(where: { $0.uid == member })?.name,
            maker == Invitation.byHost || members.contains(where: { $0.uid == maker && $0.role == .owner }),
            let found = try await store.credentials(ofMember: name)
        else { return nil }
        let reset = PasswordReset(member: member, maker: maker, expires: expires)
        let expected = reset.secret(replacing: found.password, key: store.signingKey)
        return ConstantTime.equal(secret, expected) ? found : nil
    }
}
