import ByteClubCore
import ByteClubRemotes

/// How to reach the server of a club.
struct Connector: Sendable {
    /// The purpose of a connection; each has a session of its own.
    enum Lane: Hashable, Sendable {
        /// Notes and questions: several at once.
        case notes
        /// Photos: several at once; with a rate limit one at a time.
        case photos(bytesPerSecond: Int?)
        /// A mirror: many at once.
        case mirror

        /// Concurrent photo transfers without a rate limit.
        static let photosAtOnce = 16
    }

    /// Opens a connection; nothing is sent before its first use.
    var open: @Sendable (Login, Lane) throws -> any Remote
    /// Exchanges a sign-in's code for a token.
    var token: @Sendable (SignInRequest, _ code: String, _ trust: Settings) async throws -> String
    /// Makes a token useless at its server.
    var disable: @Sendable (Login) async throws -> Void
    /// Whether the member has a password for the server's pages; nil when the server does not support passwords.
    var hasPassword: @Sendable (Login) async throws -> Bool? = { try await remote($0, .notes).hasPassword() }
    /// Sets the member's password for the server's pages; false when `current` is wrong.
    var setPassword: @Sendable (Login, _ new: String, _ current: String?) async throws -> Bool = {
        try await remote($0, .notes).setPassword($1, replacing: $2)
    }
    /// Asks a server once for the member's account, for a diagnosis.
    var probe: @Sendable (Login) async throws -> ServerProbe = ServerProbe.ask
    /// Requests a short code with which a browser on any machine signs in this one; nil when unsupported.
    var shortCode: @Sendable (DeviceSignIn, _ trust: Settings) async throws -> DeviceSignIn.Code? = {
        try await $0.begin(over: signInSession($1))
    }
    /// Polls a member's decision about a short code.
    var shortCodeAnswer:
        @Sendable (DeviceSignIn, DeviceSignIn.Code, _ trust: Settings) async throws -> DeviceSignIn.Answer = {
            try await $0.ask($1, over: signInSession($2))
        }
}
