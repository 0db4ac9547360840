import ByteClubCore
import ByteClubRemotes

/// How to reach the server of a club.
struct Connector: Sendable {
    /// What a connection is for; each kind has a session of its own.
    enum Lane: Hashable, Sendable {
        /// Notes and questions: several at once.
        case notes
        /// Photos: some at a time, or one, of at most so many bytes a second.
        case photos(bytesPerSecond: Int?)
        /// A mirror: many at once.
        case mirror

        /// How many photos travel at once where no rate is to be kept.
        static let photosAtOnce = 16
    }

    /// Opens a connection; nothing is sent before it is used.
    var open: @Sendable (Login, Lane) throws -> any Remote
    /// Exchanges the code that came of a sign-in for a token.
    var token: @Sendable (SignInRequest, _ code: String, _ trust: Settings) async throws -> String
    /// Makes a token useless at its server.
    var disable: @Sendable (Login) async throws -> Void
    /// Whether the member has a password for the server's pages; nil where the server cannot tell and cannot set one.
    var hasPassword: @Sendable (Login) async throws -> Bool? = askForPassword
    /// Sets the member's password for the server's pages; false when `current` is not the one that it replaces.
    var setPassword: @Sendable (Login, _ new: String, _ current: String?) async throws -> Bool = changePassword
    /// Asks a server once who one is, for a diagnosis.
    var probe: @Sendable (Login) async throws -> ServerProbe = ServerProbe.ask
    /// Asks for a short code by which a browser anywhere lets this machine in; nil where the server has none.
    var shortCode: @Sendable (DeviceSignIn, _ trust: Settings) async throws -> DeviceSignIn.Code? = beginShortCode
    /// Asks whether a member has decided about a short code.
    var shortCodeAnswer:
        @Sendable (DeviceSignIn, DeviceSignIn.Code, _ trust: Settings) async throws
            -> DeviceSignIn.Answer = askShortCode
}
