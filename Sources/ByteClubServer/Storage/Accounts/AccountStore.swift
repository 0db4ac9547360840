import ByteClubCore

/// Members, the apps they let in, and what signing in needs; durable when a call returns.
///
/// All calls may run at once. They throw ``StorageError`` for what the disk or the database does, besides what each names.
/// What has expired counts as unknown.
protocol AccountStore: Sendable {
    /// Where the server was last reached; nil when it never ran.
    func publicURL() async throws -> String?

    /// Notes where the server is reached.
    func setPublicURL(_ url: String) async throws

    /// Adds a member with a new token, and with OAuth 1 credentials when asked.
    ///
    /// Without a role the first member becomes the owner, and every other an editor.
    ///
    /// - Throws: ``StorageError`` `badMember` for a name that looks like one that is taken, and as ``MemberName/check(_:)``.
    func addMember(name: String, role: Role?, oauth1: Bool) async throws -> NewMember

    /// All members ever, removed ones included, by number.
    func members() async throws -> [Member]

    /// Kills a member's tokens and sessions and frees the name; running servers notice within a second.
    ///
    /// - Throws: ``StorageError`` `badMember` when there is no such member, `lastOwner` when only members without that
    ///   role would be left.
    func removeMember(name: String) async throws

    /// Gives a member another role; running servers notice within a second.
    ///
    /// - Throws: ``StorageError`` as ``removeMember(name:)``.
    func setRole(_ role: Role, ofMember name: String) async throws

    /// Sets a member's password, and ends the member's sessions in browsers; when asked, kills all tokens, too.
    ///
    /// - Throws: ``StorageError`` `badMember` when there is no such member.
    func setPassword(_ hash: PasswordHash, ofMember name: String, shuttingOutDevices: Bool) async throws

    /// The member of a name with the hash of the password, which is nil when there is none yet.
    func credentials(ofMember name: String) async throws -> (member: Member, password: PasswordHash?)?

    /// Whose bearer token this is; nil when unknown or dead. Answers from memory when it was asked lately.
    func member(forToken token: String) async throws -> Member?

    /// What a request with this app key and token must be signed with; nil when either is unknown or dead.
    func oauth1Credentials(consumerKey: String, token: String) async throws -> OAuth1Credentials?

    /// The programs that a member has let in, the newest first.
    func devices(of member: Int64) async throws -> [Device]

    /// Lets a program in: a new bearer token.
    func addDevice(member: Int64, app: String, name: String) async throws -> String

    /// Shuts a member's device out; false when the member has no such device.
    func removeDevice(_ id: Int64, of member: Int64) async throws -> Bool

    /// Shuts out the device that holds a bearer token or OAuth 1 token.
    func removeDevice(holding token: String) async throws

    /// Registers an app.
    func addApp(name: String, redirects: [String]) async throws -> App

    /// The registered apps, by name.
    func apps() async throws -> [App]

    /// Forgets an app and shuts out all its devices; false when there is none.
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

    /// Notes a member's consent, and gives the code that stands for it.
    func addCode(_ grant: Grant) async throws -> String

    /// What a code stands for; it is used up by this.
    func redeemCode(_ code: String) async throws -> Grant?

    /// Starts a session in a browser, and gives its secret.
    func addWebSession(member: Int64, lifetime: Int64) async throws -> String

    /// Whose session in a browser this is.
    func webSession(_ secret: String) async throws -> Member?

    /// Ends a session in a browser.
    func removeWebSession(_ secret: String) async throws

    /// Makes an invitation, and gives its secret.
    func addInvitation(role: Role, lifetime: Int64, by inviter: Int64) async throws -> String

    /// What an invitation is good for.
    func invitation(_ secret: String) async throws -> Invitation?

    /// Makes a member of the one who was invited; the invitation is used up by this. Nil when it is unknown.
    ///
    /// - Throws: ``StorageError`` `badMember` as ``addMember(name:role:oauth1:)``.
    func redeemInvitation(_ secret: String, name: String, password: PasswordHash) async throws -> Member?
}

extension AccountStore {
    /// Sets a member's password, and ends the member's sessions in browsers; devices stay signed in.
    ///
    /// - Throws: ``StorageError`` `badMember` when there is no such member.
    func setPassword(_ hash: PasswordHash, ofMember name: String) async throws {
        try await setPassword(hash, ofMember: name, shuttingOutDevices: false)
    }
}
