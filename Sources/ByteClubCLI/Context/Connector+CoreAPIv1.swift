import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes

extension Connector {
    /// Servers with Core API v1, over sessions of this process, or a daemon's connections for notes and queries.
    static func coreAPIv1(over warm: WarmConnections? = nil) -> Connector {
        Connector(
            open: { try remote($0, $1, over: warm) },
            token: { try await $0.token(for: $1, over: signInSession($2)) },
            disable: { try await remote($0, .notes).disableToken() })
    }

    /// A server with a session of its own for the lane.
    static func remote(_ login: Login, _ lane: Lane, over warm: WarmConnections? = nil) throws -> CoreAPIv1Remote {
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

    /// A session that has no credentials.
    static func signInSession(_ trust: Settings) throws -> Session {
        var configuration = SessionConfiguration.ephemeral
        configuration.certificateAuthorityFile = trust.certificateAuthorityFile
        configuration.pinnedKeys = try trust.pinnedKeys()
        return try Session(configuration: configuration, name: "sign-in")
    }
}
