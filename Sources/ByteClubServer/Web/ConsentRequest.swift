import ByteClubCore

/// An app's request for access by OAuth 2.0 (RFC 6749 section 4), validated.
struct ConsentRequest {
    /// The kind of answer to the app.
    enum Response: String {
        /// A code that it exchanges for a token.
        case code
        /// A token, straight away.
        case token
    }

    /// The most bytes of the app's own text.
    static let stateLimit = 500
    /// The most bytes of a device's name.
    private static let deviceLimit = 100

    /// Who asks.
    let app: App
    /// The kind of answer to the app.
    let response: Response
    /// The redirect for the answer; nil for a code to be copied.
    let redirect: String?
    /// The app's own text, which the answer returns.
    let state: String?
    /// The PKCE challenge.
    let challenge: String?
    /// The name of the device.
    let device: String
    /// The reason for which the app is refused without asking the member.
    private(set) var fault: (error: String, description: String)?

    /// Validates a request's parameters.
    ///
    /// - Throws: ``APIError`` 400 for errors that must not lead to a redirect.
    init(_ parameters: Parameters, app: App?) throws(APIError) {
        guard let app else { throw APIError(400, "The program that sent you here is not registered with this club.") }
        guard let response = Response(rawValue: parameters["response_type"] ?? "") else {
            throw APIError(400, "response_type must be 'code' or 'token'.")
        }
        redirect = parameters["redirect_uri"]
        if let redirect, !app.allows(redirect: redirect) {
            throw APIError(400, "'\(app.name)' asked for a redirect that it has not registered.")
        }
        if redirect == nil, response == .token { throw APIError(400, "redirect_uri is missing.") }
        state = parameters["state"]
        if let state, state.utf8.count > Self.stateLimit {
            throw APIError(400, "state is longer than \(Self.stateLimit) bytes.")
        }
        self.app = app
        self.response = response
        challenge = parameters["code_challenge"]
        device = Self.device(in: parameters)
        if let challenge, parameters["code_challenge_method"] != "S256" || !PKCE.isChallenge(challenge) {
            fault = ("invalid_request", "code_challenge must be made by the method S256")
        } else if app.secret == nil, challenge == nil || response == .token {
            fault = ("invalid_request", "this program must use a code with a code_challenge")
        }
    }

    /// The name of the device, in one line of a bounded length.
    static func device(in parameters: Parameters) -> String {
        String((parameters["device"] ?? "").unicodeScalars.filter { $0.value >= 0x20 }.prefix(deviceLimit))
    }

    /// The redirect with an answer: after `?` for a code and `#` for a token; nil for a code to be copied.
    func location(_ values: [(name: String, value: String)]) -> String? {
        guard let redirect else { return nil }
        let mark = response == .token ? "#" : redirect.contains("?") ? "&" : "?"
        return redirect + mark + PercentEncoding.form(state.map { values + [("state", $0)] } ?? values)
    }
}
