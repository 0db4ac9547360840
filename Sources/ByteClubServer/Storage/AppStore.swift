import ByteClubCore

/// The programs that may ask members for access, and the consent that these have yet to exchange for a token.
protocol AppStore: Sendable {
    /// Registers an app.
    func addApp(name: String, redirects: [String]) async throws -> App

    /// The registered apps, by name.
    func apps() async throws -> [App]

    /// Removes an app and all its devices; false when there is none.
    func removeApp(key: String) async throws -> Bool

    /// An app, the built-in one included; nil when unknown.
    func app(_ key: String) async throws -> App?

    /// Starts an OAuth 1 sign-in: a request token and its secret.
    func addRequestToken(app: String) async throws -> (token: String, secret: String)

    /// The app and the secret of an OAuth 1 request token; nil when unknown or used.
    func requestToken(_ token: String) async throws -> (app: App, secret: String)?

    /// Notes a member's consent to an OAuth 1 request token; false when it is unknown or has one already.
    func approveRequestToken(_ token: String, by member: Int64) async throws -> Bool

    /// Exchanges an approved OAuth 1 request token for credentials, once; nil when it is not approved.
    func redeemRequestToken(_ token: String) async throws -> OAuth1Credentials?

    /// Records a member's consent, and returns the code that a program exchanges for a token.
    func addCode(_ grant: Grant) async throws -> String

    /// Exchanges a code for a bearer token of its member, once; nil when the code is unknown or used, was made for
    /// another purpose, or its member was removed.
    ///
    /// The call uses the code up, whatever `isMeant` returns. Both steps are one transaction, so a member who revokes
    /// access in between leaves no new token behind.
    func redeemCode(
        _ code: String, where isMeant: @escaping @Sendable (Grant) -> Bool
    ) async throws -> (grant: Grant, token: String)?
}

/// A club's name, and where its server is reached, for those who make links without asking it.
protocol AddressStore: Sendable {
    /// The public address of the last run of the server; nil when it never ran.
    func publicURL() async throws -> String?

    /// Notes where the server is reached.
    func setPublicURL(_ url: String) async throws

    /// The name that the club's owners gave it; nil for none. It is held in memory.
    var clubName: String? { get }

    /// Sets the club's name, or removes it with nil.
    func setClubName(_ name: String?) async throws
}

/// A program that may ask members for access.
struct App: Hashable, Sendable {
    /// The name of the app that `members add --oauth1` makes keys for.
    static let oauth1Name = "OAuth 1 programs"

    /// The app's public name on the wire.
    let key: String
    /// The app's secret; nil for programs that everybody can read, which prove themselves by PKCE.
    let secret: String?
    /// The name that members see.
    let name: String
    /// The addresses to which members may be redirected.
    let redirects: [String]

    /// ByteClub's own command line, which needs no registration.
    static let byteclub = App(key: "byteclub", secret: nil, name: "ByteClub", redirects: ["http://127.0.0.1/"])

    /// Whether members may be sent to a URL: a registered one, on loopback with any port (RFC 8252 section 7.3).
    func allows(redirect: String) -> Bool {
        redirects.contains(redirect) || redirects.contains { Self.loopback($0) == Self.loopback(redirect) ?? "" }
    }

    /// Whether a URL can be registered: https, or http on loopback, without a fragment.
    static func mayRegister(redirect: String) -> Bool {
        let isPlain = redirect.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        return isPlain && (redirect.hasPrefix("https://") && redirect.utf8.count > 8 || loopback(redirect) != nil)
    }

    /// A loopback URL without its port; nil for any other URL.
    private static func loopback(_ url: String) -> String? {
        for host in ["http://127.0.0.1", "http://[::1]", "http://localhost"] where url.hasPrefix(host) {
            let rest = url.dropFirst(host.count)
            guard rest.first == ":" else { return rest.isEmpty || rest.first == "/" ? url : nil }
            let path = rest.dropFirst().drop { $0.isASCII && $0.isNumber }
            return path.isEmpty || path.first == "/" ? host + path : nil
        }
        return nil
    }
}

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
    /// The address to which the code was sent; nil when the member copies it.
    let redirect: String?
    /// The PKCE challenge; nil without.
    let challenge: String?
    /// The device's own name for itself; may be empty.
    let device: String
}
