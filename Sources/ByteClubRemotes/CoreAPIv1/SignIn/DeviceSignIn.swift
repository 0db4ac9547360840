public import ByteClubCore
public import ByteClubHTTP
import HTTPTypes

/// A sign-in by a short code that a member types on a page of the server, in a browser anywhere (RFC 8628).
public struct DeviceSignIn: Sendable {
    /// What a person needs to sign this machine in, and this program to learn of it.
    public struct Code: Sendable {
        /// The page on which the member types the code.
        public var page: String
        /// The code.
        public var text: String
        /// How long it works, in seconds.
        public var lifetime: Int
        /// How long to wait between two questions, in seconds.
        public var interval: Int
        /// Identifies the sign-in in requests to the server; a secret.
        let secret: String

        /// Creates a code as a server might give it.
        public init(page: String, text: String, lifetime: Int, interval: Int, secret: String) {
            self.page = page
            self.text = text
            self.lifetime = lifetime
            self.interval = interval
            self.secret = secret
        }
    }

    /// The state of a sign-in.
    public enum Answer: Hashable, Sendable {
        /// No member has decided yet.
        case pending
        /// The same, and the server wants to be asked less often.
        case slowDown
        /// A member refused.
        case refused
        /// The code is too old, or the server does not know it any more.
        case over
        /// A bearer token.
        case token(String)
    }

    private let origin: ServiceOrigin
    private let device: String

    /// Prepares a sign-in.
    ///
    /// - Parameters:
    ///   - origin: The server's address, as for a ``CoreAPIv1Remote``.
    ///   - device: What the member calls this machine; shown on the page, at most 100 characters of it.
    ///   - allowsInsecureHTTP: Whether plain http may go to other machines.
    /// - Throws: `badRequest` when the address cannot be used.
    public init(origin: String, device: String, allowsInsecureHTTP: Bool = false) throws(RemoteError) {
        self.origin = try ServiceOrigin(origin, allowsInsecureHTTP: allowsInsecureHTTP)
        self.device = device
    }

    /// Asks for a code.
    ///
    /// - Parameter session: A session without credentials of its own.
    /// - Returns: The code; nil when the server has no such sign-in, or too many wait there.
    /// - Throws: As any call of a remote.
    public func begin(over session: Session) async throws(RemoteError) -> Code? {
        let form: Parameters = ["client_id": SignInRequest.client, "device": device]
        let answer = try await post("oauth2/device_authorization", form, [200, 404, 405, 429], session)
        return answer.status == 200 ? try answer.decoded(CodeAnswer.self).code : nil
    }

    /// Asks whether a member has decided.
    ///
    /// - Parameters:
    ///   - code: The code from ``begin(over:)``.
    ///   - session: A session without credentials of its own.
    /// - Returns: The state; the token is returned only once.
    /// - Throws: As any call of a remote.
    public func ask(_ code: Code, over session: Session) async throws(RemoteError) -> Answer {
        let form: Parameters = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code.secret,
            "client_id": SignInRequest.client,
        ]
        let reported = try await post("oauth2/token", form, [200, 400], session).decoded(TokenAnswer.self)
        if let token = reported.token { return .token(token) }
        switch reported.error {
        case "authorization_pending": return .pending
        case "slow_down": return .slowDown
        case "access_denied": return .refused
        case "expired_token", "invalid_grant": return .over
        default:
            throw RemoteError(.unauthorized, "the server refused the sign-in: \(reported.problem ?? "no reason given")")
        }
    }

    private func post(
        _ address: String, _ form: Parameters, _ statuses: Set<Int>, _ session: Session
    ) async throws(RemoteError) -> Transport.Answer {
        try await Transport(origin: origin, session: WarmSession(session)).post(address, form: form, statuses: statuses)
    }
}

/// What `/oauth2/device_authorization` answers (RFC 8628 section 3.2).
private struct CodeAnswer: JSONReadable {
    /// The default interval between two requests, in seconds.
    private static let interval: Int64 = 5

    let code: DeviceSignIn.Code

    init(json: inout JSONReader) throws(JSONError) {
        var (page, text, secret): (String?, String?, String?)
        var (lifetime, interval): (Int64?, Int64?)
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "verification_uri": page = try json.value()
            case "user_code": text = try json.value()
            case "device_code": secret = try json.value()
            case "expires_in": lifetime = try json.value()
            case "interval": interval = try json.value()
            default: try json.skip()
            }
        }
        guard let page else { throw JSONError(.missing("verification_uri")) }
        guard let text else { throw JSONError(.missing("user_code")) }
        guard let secret else { throw JSONError(.missing("device_code")) }
        guard let lifetime else { throw JSONError(.missing("expires_in")) }
        // No answer makes this program ask without a pause, or for days.
        code = DeviceSignIn.Code(
            page: page, text: text, lifetime: Int(min(max(lifetime, 1), 3600)),
            interval: Int(min(max(interval ?? Self.interval, 1), 60)), secret: secret)
    }
}
