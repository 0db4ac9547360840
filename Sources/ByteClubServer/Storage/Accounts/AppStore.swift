/// The programs that may ask members for access.
protocol AppStore: Sendable {
    /// Registers an app.
    func addApp(name: String, redirects: [String]) async throws -> App

    /// The registered apps, by name.
    func apps() async throws -> [App]

    /// Forgets an app and shuts out all its devices; false when there is none.
    func removeApp(key: String) async throws -> Bool

    /// An app, the built-in one included; nil when unknown.
    func app(_ key: String) async throws -> App?
}

/// The consent that members gave and apps have yet to exchange for a token.
protocol GrantStore: Sendable {
    /// Starts an OAuth 1 sign-in: a request token and its secret.
    func addRequestToken(app: String) async throws -> (token: String, secret: String)

    /// The app and the secret of an OAuth 1 request token; nil when unknown or used.
    func requestToken(_ token: String) async throws -> (app: App, secret: String)?

    /// Notes a member's consent to an OAuth 1 request token; false when it is unknown or has one already.
    func approveRequestToken(_ token: String, by member: Int64) async throws -> Bool

    /// Exchanges an approved OAuth 1 request token for credentials, once; nil when it is not approved.
    func redeemRequestToken(_ token: String) async throws -> OAuth1Credentials?

    /// Notes a member's consent, and gives the code that stands for it.
    func addCode(_ grant: Grant) async throws -> String

    /// Exchanges a code for a bearer token of its member, once; nil when it is unknown or used, was made for something
    /// else, or its member is gone.
    ///
    /// The code is used up by this, whatever `isMeant` says. All is done in one step, so that no token is made after the
    /// member has shut out what was let in.
    func redeemCode(
        _ code: String, where isMeant: @escaping @Sendable (Grant) -> Bool
    ) async throws -> (grant: Grant, token: String)?
}

/// A club's name, and where its server is reached, for those who make links without asking it.
protocol AddressStore: Sendable {
    /// Where the server was last reached; nil when it never ran.
    func publicURL() async throws -> String?

    /// Notes where the server is reached.
    func setPublicURL(_ url: String) async throws

    /// The name that the club's owners gave it; nil for none. It is held in memory.
    var clubName: String? { get }

    /// Names the club; nil takes its name away.
    func setClubName(_ name: String?) async throws
}
