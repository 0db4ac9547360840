/// A server's or proxy's demand for credentials: one challenge of `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110
/// section 11.3).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// Where credentials for the challenge are valid.
    public var space: ProtectionSpace

    /// The parameters by their names in lower case; of a repeated name the first is kept.
    ///
    /// Quotes and escapes are removed.
    public var parameters: [String: String]

    /// The token that a scheme may have in place of parameters, as in `Negotiate YII…`; nil for none.
    public var token: String?

    /// How many credentials the server or proxy has rejected in this task.
    ///
    /// The handler is asked at most five times, an ``Authenticator`` twice.
    public var previousFailureCount = 0

    /// The authentication scheme in lower case, such as `basic`, `digest` or `bearer`.
    public var scheme: String { space.scheme }

    /// The name that the server gives to a part of itself; nil without one.
    public var realm: String? { parameters["realm"] }

    /// Whether a proxy asks, not the server.
    public var isOfProxy: Bool { space.isOfProxy }

    init(scheme: String, origin: String, isOfProxy: Bool = false) {
        space = ProtectionSpace(origin: origin, realm: "", scheme: scheme.lowercased(), isOfProxy: isOfProxy)
        parameters = [:]
    }

    /// Adds a parameter unless there is one of that name.
    mutating func add(_ name: String, _ value: String) {
        let name = name.lowercased()
        guard parameters[name] == nil else { return }
        parameters[name] = value
        // libcurl does not report the realm of a proxy that refuses a tunnel, so a proxy's credential is for all realms.
        if name == "realm", !isOfProxy { space.realm = value }
    }
}

/// Where a credential is valid: a part of one server, by one scheme (RFC 9110 section 11.5).
public struct ProtectionSpace: Sendable, Hashable {
    /// The server as `https://club.example:8443`, or the proxy as `http://proxy.example:3128`.
    public var origin: String

    /// The name that the server gives to the part; empty without one, and for proxies.
    public var realm: String

    /// The authentication scheme in lower case.
    ///
    /// A credential for Digest is never sent by Basic, which would reveal its password.
    public var scheme: String

    /// Whether it is a proxy.
    public var isOfProxy: Bool
}

/// A user name and a password for a ``ProtectionSpace``.
///
/// No description of it contains either.
public struct PasswordCredential: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let user: String
    let password: String

    /// Creates a credential.
    ///
    /// - Parameters:
    ///   - user: The user's name, without control characters, and for Basic without a colon.
    ///   - password: The password, without control characters.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// A placeholder for the text.
    public var description: String { "(secret)" }

    /// A placeholder for the text.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Why the credential cannot be sent by a scheme; nil if it can.
    func objection(for scheme: String) -> String? {
        let hasControl = [user, password].contains { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }
        if hasControl { return "a user name or password contains a control character" }
        if scheme == "basic", user.utf8.contains(UInt8(ascii: ":")) {
            return "a user name with a colon cannot be used with the scheme Basic"
        }
        return nil
    }
}

/// What to do about an ``AuthenticationChallenge``.
public enum ChallengeDecision: Sendable {
    /// Send the request again with this credential.
    ///
    /// The session keeps it in memory until it ends or the server rejects it, and sends it with later requests to the
    /// same ``ProtectionSpace`` without asking.
    case use(PasswordCredential)

    /// Do not answer: the response is the result, or the proxy's refusal is the error.
    case performDefault

    /// End the task with ``TransferError/Code/cancelled``.
    case cancel

    /// Do not answer this challenge, but the response's next one that the session can answer, if there is one.
    case rejectProtectionSpace
}
