import ByteClubCore

/// A member's consent that an app has yet to exchange for a token.
struct Grant: Hashable, Sendable {
    /// How long a code works, in seconds.
    static let lifetime: Int64 = 600
    /// How long an OAuth 1 request token works, in seconds.
    static let requestLifetime: Int64 = 3600

    /// The app's key.
    let app: String
    /// The member's number.
    let member: Int64
    /// Where the code was sent; nil when it was shown to be copied.
    let redirect: String?
    /// The PKCE challenge; nil without.
    let challenge: String?
    /// What the device calls itself; may be empty.
    let device: String
}
