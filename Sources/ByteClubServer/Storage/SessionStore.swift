import ByteClubCore

/// Sessions: devices with tokens, and browsers.
protocol SessionStore: Sendable {
    /// Whose bearer token this is; nil when unknown or dead. Answers from memory when it was asked lately.
    func member(forToken token: String) async throws -> Member?

    /// What a request with this app key and token must be signed with; nil when either is unknown or dead.
    func oauth1Credentials(consumerKey: String, token: String) async throws -> OAuth1Credentials?

    /// The programs that a member has let in, the newest first.
    func devices(of member: Int64) async throws -> [Device]

    /// Adds a device and returns its new bearer token.
    ///
    /// - Throws: ``StorageError`` `noMember` when the member was removed.
    func addDevice(member: Int64, app: String, name: String) async throws -> String

    /// Shuts a member's device out; false when the member has no such device.
    func removeDevice(_ id: Int64, of member: Int64) async throws -> Bool

    /// Shuts out the device that holds a bearer token or OAuth 1 token.
    func removeDevice(holding token: String) async throws

    /// Starts a session in a browser for a password with this hash, and returns its secret; nil when the member was
    /// removed or has changed the password.
    func addWebSession(member: Int64, password: PasswordHash, lifetime: Int64) async throws -> String?

    /// Whose session in a browser this is.
    func webSession(_ secret: String) async throws -> Member?

    /// Ends a session in a browser.
    func removeWebSession(_ secret: String) async throws
}

/// One program on one machine that a member has let in; each has a token of its own.
struct Device: Hashable, Sendable {
    /// The device's number, never used again.
    let id: Int64
    /// The key of the app; empty for a token that `members add` printed.
    let app: String
    /// What the app is called; nil when it was removed or never was one.
    let appName: String?
    /// What the device calls itself; may be empty.
    let name: String
    /// When it was let in.
    let created: APIDate
    /// When it was last seen, to the day.
    let seen: APIDate

    /// What people are shown.
    var title: String {
        switch (name.isEmpty, appName) {
        case (false, let app?): "\(app) on \(name)"
        case (false, nil): name
        case (true, let app?): app
        case (true, nil): "Token from the server"
        }
    }
}

/// Reports whether credentials that were accepted are still valid.
protocol StandingStore: Sendable {
    /// A number that is another one after each change by which a member, a device, a session or a link went, in this
    /// process or in another one.
    func standingVersion() async throws -> Int64

    /// The standings, of these, that are not valid any more: unknown, removed, or of a removed member.
    func lapsed(_ standings: Set<Standing>) async throws -> Set<Standing>
}
