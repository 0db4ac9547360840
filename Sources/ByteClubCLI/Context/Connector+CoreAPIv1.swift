import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes

extension Connector {
    /// Servers with Core API v1, over sessions of this process.
    ///
    /// - Parameter warm: A daemon's connections for notes and queries.
    /// - Returns: The connector.
    static func coreAPIv1(over warm: WarmConnections? = nil) -> Connector {
        Connector(open: { try remote($0, $1, over: warm) }, token: redeem, disable: disableToken)
    }

    @Sendable private static func disableToken(_ login: Login) async throws {
        try await remote(login, .notes).disableToken()
    }

    /// Whether the member has a password.
    @Sendable static func askForPassword(_ login: Login) async throws -> Bool? {
        try await remote(login, .notes).hasPassword()
    }

    /// Sets the member's password.
    @Sendable static func changePassword(_ login: Login, _ new: String, _ current: String?) async throws -> Bool {
        try await remote(login, .notes).setPassword(new, replacing: current)
    }

    private static func remote(
        _ login: Login, _ lane: Lane, over warm: WarmConnections? = nil
    ) throws -> CoreAPIv1Remote {
        var configuration = CoreAPIv1Remote.sessionConfiguration(
            token: login.token, certificateAuthorityFile: login.certificateAuthorityFile,
            pinnedKeys: login.pinnedKeys)
        var content: WarmSession?
        if lane == .mirror { configuration.maximumTasksPerHost = 16 }
        let api = try WarmSession(
            configuration: configuration, name: "api", over: lane == .notes ? warm : nil)
        if case .photos(let bytesPerSecond) = lane {
            configuration.maximumTasksPerHost = bytesPerSecond == nil ? Lane.photosAtOnce : 1
            content = try WarmSession(Session(configuration: configuration, name: "photos"))
        }
        var remote = try CoreAPIv1Remote(
            origin: login.server.origin, over: api, content: content, allowsInsecureHTTP: login.allowsInsecureHTTP)
        if case .photos(let bytesPerSecond) = lane { remote.rateLimit = bytesPerSecond }
        return remote
    }

    @Sendable private static func redeem(
        _ request: SignInRequest, _ code: String, _ trust: Settings
    ) async throws -> String {
        try await request.token(for: code, over: signInSession(trust))
    }

    /// Asks for a short code.
    @Sendable static func beginShortCode(
        _ request: DeviceSignIn, _ trust: Settings
    ) async throws -> DeviceSignIn.Code? {
        try await request.begin(over: signInSession(trust))
    }

    /// Polls the state of a short code.
    @Sendable static func askShortCode(
        _ request: DeviceSignIn, _ code: DeviceSignIn.Code, _ trust: Settings
    ) async throws -> DeviceSignIn.Answer {
        try await request.ask(code, over: signInSession(trust))
    }

    /// A session that has no credentials.
    private static func signInSession(_ trust: Settings) throws -> Session {
        var configuration = SessionConfiguration.ephemeral
        configuration.certificateAuthorityFile = trust.certificateAuthorityFile
        configuration.pinnedKeys = try trust.pinnedKeys()
        return try Session(configuration: configuration, name: "sign-in")
    }
}
