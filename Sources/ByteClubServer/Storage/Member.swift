import ByteClubCore

/// A person who shares the folder.
struct Member: Hashable, Sendable {
    /// The member's number, from 1, never used again.
    let uid: Int64
    /// The member's name.
    let name: String
    /// When the member was added.
    let created: APIDate
    /// The member's role.
    var role = Role.editor
    /// Whether the member was removed; the token is dead, the number stays in the history.
    let isDisabled: Bool
}

/// A new member with the secrets that are shown only once.
struct NewMember: Hashable, Sendable {
    /// The member's name.
    let name: String
    /// The bearer token: 64 hexadecimal digits.
    let token: String
    /// The member's number.
    let uid: Int64
    /// The member's role.
    let role: Role
    /// The secrets of an OAuth 1 client; nil unless requested.
    var oauth1: OAuth1Credentials?
}

/// The two pairs of key and secret that sign an OAuth 1 request (RFC 5849).
struct OAuth1Credentials: Hashable, Sendable {
    /// The app's key, one for each data directory.
    let consumerKey: String
    /// The app's secret.
    let consumerSecret: String
    /// The token's key.
    let token: String
    /// The token's secret.
    let tokenSecret: String
    /// The member of the token.
    let member: Member
}

/// The rights of a member; each role includes those below it.
enum Role: Int, CaseIterable, Comparable, Sendable {
    /// Read everything, change nothing.
    case viewer
    /// Also change the folder.
    case editor
    /// Also manage members.
    case owner

    /// The role that a word names; nil for any other word.
    init?(word: String) {
        guard let role = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = role
    }

    /// The role's name for people and scripts.
    var word: String {
        switch self {
        case .viewer: "viewer"
        case .editor: "editor"
        case .owner: "owner"
        }
    }

    /// The role's name for sentences, as in `an editor`.
    var phrase: String { self == .viewer ? "a viewer" : "an \(word)" }

    static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}
