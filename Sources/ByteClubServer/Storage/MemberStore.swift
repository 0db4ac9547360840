import ByteClubCore

/// The password that a new one may replace.
enum ReplacedPassword: Hashable, Sendable {
    /// Any, or none.
    case any
    /// The one with this hash, nil for none so far; on behalf of an owner, only while the owner is in this state.
    case exactly(PasswordHash?, vouchedBy: OwnerState? = nil)
}

/// An owner as the owner was when something was made in that name.
struct OwnerState: Hashable, Sendable {
    /// The owner's number.
    let uid: Int64
    /// The hash of the owner's password; nil where there was none.
    let password: PasswordHash?
}

/// The members of a club, and the invitations to become one.
protocol MemberStore: Sendable {
    /// Adds a member with a new token, and with OAuth 1 credentials when asked.
    ///
    /// Without a role a member becomes the owner where there is none, else an editor.
    ///
    /// - Throws: ``StorageError`` as ``MemberName/check(_:besides:)``.
    func addMember(name: String, role: Role?, oauth1: Bool) async throws -> NewMember

    /// All members ever, removed ones included, by number.
    func members() async throws -> [Member]

    /// Kills a member's tokens, sessions, links and invitations and frees the name; running servers notice within a
    /// second.
    ///
    /// - Parameters:
    ///   - name: The member's name.
    ///   - evenTheLast: Whether the last owner may go, too, when there is no other member.
    /// - Throws: ``StorageError`` `noMember` when there is no such member, `lastOwner` when the club would be left
    ///   without an owner.
    func removeMember(name: String, evenTheLast: Bool) async throws

    /// Gives a member another role; running servers notice within a second.
    ///
    /// - Throws: ``StorageError`` as ``removeMember(name:evenTheLast:)``.
    func setRole(_ role: Role, ofMember name: String) async throws

    /// Sets a member's password, and ends the member's sessions in browsers; when asked, kills all tokens, too.
    ///
    /// Does nothing and gives false when the member's password is not the one to replace, or the owner who vouches for
    /// it is not the same any more.
    ///
    /// - Throws: ``StorageError`` `noMember` when there is no such member.
    func setPassword(
        _ hash: PasswordHash, ofMember name: String, replacing known: ReplacedPassword, shuttingOutDevices: Bool
    ) async throws -> Bool

    /// The member of a name with the hash of the password, which is nil when there is none yet.
    func credentials(ofMember name: String) async throws -> (member: Member, password: PasswordHash?)?

    /// Makes an invitation, and returns its secret.
    ///
    /// - Throws: ``StorageError`` `badMember` when the inviter is a member and no owner (any more).
    func addInvitation(role: Role, lifetime: Int64, by inviter: Int64) async throws -> String

    /// Makes an invitation to own a club that has no owner, with the secret that belongs to its end in seconds since
    /// 1970; nil when there is an owner.
    ///
    /// It expires as soon as the club has an owner.
    func addOwnerInvitation(
        lifetime: Int64, secret: @Sendable (_ expires: Int64) -> String
    ) async throws -> (secret: String, expires: APIDate)?

    /// The valid invitations, the first to expire first.
    func invitations() async throws -> [OpenInvitation]

    /// Withdraws an invitation; false when there is none of that name.
    func removeInvitation(id: String) async throws -> Bool

    /// The rights that an invitation grants; nil for an invalid one.
    func invitation(_ secret: String) async throws -> Invitation?

    /// Makes a member of the one who was invited; the invitation is used up by this. Nil when it is unknown.
    ///
    /// - Throws: ``StorageError`` as ``addMember(name:role:oauth1:)``.
    func redeemInvitation(_ secret: String, name: String, password: PasswordHash) async throws -> Member?
}

extension StorageError {
    /// There is no member of a name.
    static func noMember(_ name: String) -> StorageError { StorageError(.noMember, "no member named '\(name)'") }

    /// The member of a number was removed in the meantime.
    static let memberGone = StorageError(.noMember, "the member has been removed")

    /// The inviter is no owner, or no owner any more.
    static let noInviter = StorageError(.badMember, "only owners can invite members")

    /// A change would leave members without an owner.
    static func lastOwner(_ name: String) -> StorageError {
        StorageError(.lastOwner, "'\(name)' is the last owner; make another member owner first")
    }
}

extension MemberStore {
    /// Whether there is an owner.
    func hasOwner() async throws -> Bool {
        try await members().contains { !$0.isDisabled && $0.role == .owner }
    }
}
