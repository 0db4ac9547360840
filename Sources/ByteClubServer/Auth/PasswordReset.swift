import ByteClubCore
import Crypto

/// A link by which a member who has forgotten the password sets a new one, once.
///
/// Nothing of it is stored. Its code is made with the password that it replaces, so that all links of a member die with
/// the next password. One that an owner has made works only while its maker is an owner and has the same password: who
/// shuts out somebody with a stolen password shuts out the links that were made with it, too.
struct PasswordReset: Hashable, Sendable {
    /// How long a link works, in seconds.
    static let lifetime: Int64 = 86_400

    /// The number of the member whose password it sets.
    let member: Int64
    /// The owner who made it; nil for the server's machine.
    let maker: OwnerState?
    /// When it dies, in seconds since 1970.
    let expires: Int64

    /// What the link ends with.
    func secret(replacing password: PasswordHash?, key: SymmetricKey) -> String {
        let place = "\(member)-\(maker?.uid ?? Invitation.byHost)-\(expires)"
        let signed = "reset \(place) \(password?.text ?? "") \(maker?.password?.text ?? "")"
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key)
        return place + "-" + Hexadecimal.encode(Array(code.prefix(16)))
    }

    /// Whose password a link sets, and which one it replaces; nil when the link does not work (any more).
    static func member(
        of secret: String, in store: any ClubStore, at now: Int64
    ) async throws -> (member: Member, replaced: ReplacedPassword)? {
        let parts = secret.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, let uid = Int64(parts[0]), let makerUID = Int64(parts[1]),
            let expires = Int64(parts[2]), expires > now
        else { return nil }
        let members = try await store.members().filter { !$0.isDisabled }
        func state(of uid: Int64) async throws -> (member: Member, password: PasswordHash?)? {
            guard let name = members.first(where: { $0.uid == uid })?.name else { return nil }
            return try await store.credentials(ofMember: name)
        }
        guard let found = try await state(of: uid) else { return nil }
        var maker: OwnerState?
        if makerUID != Invitation.byHost {
            guard let owner = try await state(of: makerUID), owner.member.role == .owner else { return nil }
            maker = OwnerState(uid: makerUID, password: owner.password)
        }
        let reset = PasswordReset(member: uid, maker: maker, expires: expires)
        let expected = reset.secret(replacing: found.password, key: store.signingKey)
        return ConstantTime.equal(secret, expected) ? (found.member, .exactly(found.password, vouchedBy: maker)) : nil
    }
}
