import ByteClubCore

/// Sessions: devices with tokens, and browsers, and whether credentials that were accepted are still valid.
protocol SessionStore: Sendable {
    /// The member of a bearer token; nil for an unknown or expired one. Recent answers are cached.
    func member(forToken token: String) async throws -> Member?

    /// The secrets that sign a request with this app key and token; nil when either is unknown or expired.
    func oauth1Credentials(consumerKey: String, token: String) async throws -> OAuth1Credentials?

    /// A member's devices, the newest first.
    func devices(of member: Int64) async throws -> [Device]

    /// Adds a device and returns its new bearer token.
    ///
    /// - Throws: ``StorageError`` `noMember` when the member was removed.
    func addDevice(member: Int64, app: String, name: String) async throws -> String

    /// Removes a member's device; false when the member has no such device.
    func removeDevice(_ id: Int64, of member: Int64) async throws -> Bool

    /// Removes the device that has a bearer token or OAuth 1 token.
    func removeDevice(holding token: String) async throws

    /// Starts a session in a browser for a password with this hash, and returns its secret; nil when the member was
    /// removed or has changed the password.
    func addWebSession(member: Int64, password: PasswordHash, lifetime: Int64) async throws -> String?

    /// The member of a session in a browser.
    func webSession(_ secret: String) async throws -> Member?

    /// Ends a session in a browser.
    func removeWebSession(_ secret: String) async throws

    /// A number that is another one after each change by which a member, a device, a session or a link went, in this
    /// process or in another one.
    func standingVersion() async throws -> Int64

    /// The standings, of these, that are not valid any more: unknown, removed, or of a removed member.
    func lapsed(_ standings: Set<Standing>) async throws -> Set<Standing>
}

/// One program on one machine with access for a member; each has a token of its own.
struct Device: Hashable, Sendable {
    /// The device's number, never used again.
    let id: Int64
    /// The key of the app; empty for a token that `members add` printed.
    let app: String
    /// The name of the app; nil when it was removed or is unknown.
    let appName: String?
    /// The device's own name for itself; may be empty.
    let name: String
    /// When it got access.
    let created: APIDate
    /// When it was last seen, to the day.
    let seen: APIDate

    /// The name that people see.
    var title: String {
        switch (name.isEmpty, appName) {
        case (false, let app?): "\(app) on \(name)"
        case (false, nil): name
        case (true, let app?): app
        case (true, nil): "Token from the server"
        }
    }
}
