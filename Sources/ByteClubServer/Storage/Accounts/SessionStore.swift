/// Who is signed in: the devices that hold tokens, and the sessions in browsers.
protocol SessionStore: Sendable {
    /// Whose bearer token this is; nil when unknown or dead. Answers from memory when it was asked lately.
    func member(forToken token: String) async throws -> Member?

    /// What a request with this app key and token must be signed with; nil when either is unknown or dead.
    func oauth1Credentials(consumerKey: String, token: String) async throws -> OAuth1Credentials?

    /// The programs that a member has let in, the newest first.
    func devices(of member: Int64) async throws -> [Device]

    /// Lets a program in: a new bearer token.
    ///
    /// - Throws: ``StorageError`` `noMember` when the member is gone.
    func addDevice(member: Int64, app: String, name: String) async throws -> String

    /// Shuts a member's device out; false when the member has no such device.
    func removeDevice(_ id: Int64, of member: Int64) async throws -> Bool

    /// Shuts out the device that holds a bearer token or OAuth 1 token.
    func removeDevice(holding token: String) async throws

    /// Starts a session in a browser of who knows the password with this hash, and gives its secret; nil when the
    /// member is gone, or has another password by now.
    func addWebSession(member: Int64, password: PasswordHash, lifetime: Int64) async throws -> String?

    /// Whose session in a browser this is.
    func webSession(_ secret: String) async throws -> Member?

    /// Ends a session in a browser.
    func removeWebSession(_ secret: String) async throws
}
