public import ByteClubCore
public import ByteClubHTTP

/// A sign-in by OAuth 2.0 in a browser: the page to show, and the token for the resulting code.
///
/// No secret is needed: the code is worth nothing without this value, which holds the PKCE verifier (RFC 7636).
public struct SignInRequest: Sendable {
    /// What the server must send back with the code; anything else is not its answer.
    public let state: String
    /// Where the server sends the browser with the code; nil when it shows the code to be copied.
    public let redirect: String?

    private let origin: ServiceOrigin
    private let device: String
    private let verifier: String

    /// Prepares a sign-in.
    ///
    /// - Parameters:
    ///   - origin: The server's address, as for a ``CoreAPIv1Remote``.
    ///   - redirect: An http URL on loopback that this program listens at; nil for a code to be copied.
    ///   - device: What the member calls this machine; shown on the page, at most 100 characters of it.
    ///   - allowsInsecureHTTP: Whether plain http may go to other machines.
    /// - Throws: `badRequest` when the address cannot be used.
    public init(
        origin: String, redirect: String?, device: String, allowsInsecureHTTP: Bool = false
    ) throws(RemoteError) {
        self.origin = try ServiceOrigin(origin, allowsInsecureHTTP: allowsInsecureHTTP)
        self.redirect = redirect
        self.device = device
        state = Self.secret()
        verifier = Self.secret()
    }

    /// The page on which the member allows or refuses; it holds no secret.
    public var url: String {
        let query: Parameters = [
            "response_type": "code", "client_id": Self.client, "redirect_uri": redirect, "state": state,
            "code_challenge": PKCE.challenge(verifier), "code_challenge_method": "S256", "device": device,
        ]
        return "\(origin.scheme)://\(origin.authority)\(origin.prefix)/1/oauth2/authorize?\(query.encoded)"
    }

    /// Exchanges the code for a token, which works once.
    ///
    /// - Parameters:
    ///   - code: What the server sent or the member copied.
    ///   - session: A session without credentials of its own.
    /// - Returns: A bearer token.
    /// - Throws: `unauthorized` when the code is not accepted; otherwise as any call of a remote.
    public func token(for code: String, over session: Session) async throws(RemoteError) -> String {
        let transport = Transport(origin: origin, session: WarmSession(session))
        let form: Parameters = [
            "grant_type": "authorization_code", "code": code, "client_id": Self.client, "redirect_uri": redirect,
            "code_verifier": verifier,
        ]
        let answer = try await transport.post("oauth2/token", form: form, statuses: [200, 400])
        let reported = try answer.decoded(TokenAnswer.self)
        guard let token = reported.token else {
            throw RemoteError(
                .unauthorized, "the server did not accept the code: \(reported.problem ?? "no reason given")")
        }
        return token
    }

    /// The app that this program is, known to every server without registration.
    static let client = "byteclub"

    /// 256 random bits.
    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}

/// What `/oauth2/token` answers, well or badly (RFC 6749 sections 5.1 and 5.2).
struct TokenAnswer: JSONReadable {
    /// The token, when all is well.
    var token: String?
    /// What kind of refusal it is.
    var error: String?
    /// The same for people.
    var problem: String?

    init(json: inout JSONReader) throws(JSONError) {
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "access_token": token = try json.value()
            case "error": error = try json.value()
            case "error_description": problem = try json.value()
            default: try json.skip()
            }
        }
    }
}

/// The addresses of a server's pages that people are shown in a browser.
public enum ClubPage {
    /// The gallery of the server at an origin.
    public static func gallery(at origin: String) -> String { origin + "/gallery" }

    /// The page of a note or a photo.
    public static func entry(_ path: RemotePath, at origin: String) -> String {
        gallery(at: origin) + PercentEncoding.encode(path)
    }

    /// The page for a short code, with the code filled in.
    public static func device(_ code: DeviceSignIn.Code) -> String {
        code.page + "?code=" + PercentEncoding.encode(code.text)
    }

    /// An invitation that leads, once its guest has joined, to another page of the same server.
    public static func invitation(_ link: String, then page: String) -> String {
        let authority = page.firstRange(of: "://")?.upperBound ?? page.startIndex
        let place = page[authority...].drop { $0 != "/" }
        return link + (link.contains("?") ? "&" : "?") + "next=" + PercentEncoding.encode(String(place))
    }
}
