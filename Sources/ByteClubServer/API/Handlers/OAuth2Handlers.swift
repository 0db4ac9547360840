import ByteClubCore
import FoundationEssentials
import HTTPTypes

/// Signs programs in by OAuth 2.0, and out.
struct OAuth2Handlers: Sendable {
    let store: any AppStore & SessionStore
    let authenticator: Authenticator
    let devices: DeviceGrantHandlers

    /// Answers `POST /oauth2/token`: a code becomes a token, once.
    func token(_ request: RoutedRequest) async throws -> Response {
        if request.parameters["grant_type"] == DeviceGrantHandlers.grantType { return try await devices.token(request) }
        return try await authenticator.countingFailures(of: request, redeemCode)
    }

    private func redeemCode(_ request: RoutedRequest) async throws -> Response {
        guard request.parameters["grant_type"] == "authorization_code" else {
            return OAuth2Refusal(
                error: "unsupported_grant_type",
                description: "grant_type must be authorization_code or \(DeviceGrantHandlers.grantType)"
            ).response
        }
        guard let code = request.parameters["code"] else {
            return OAuth2Refusal(error: "invalid_request", description: "the parameter code is missing").response
        }
        let (key, secret) = try OAuth2Client.credentials(in: request)
        guard let key, let app = try await store.app(key) else { return OAuth2Refusal.invalidClient.response }
        let verifier = request.parameters["code_verifier"]
        // A program that proves itself by PKCE needs no secret; one that shows a secret must show the right one.
        if secret != nil || verifier == nil {
            guard let known = app.secret, let secret, ConstantTime.equal(known, secret) else {
                return OAuth2Refusal.invalidClient.response
            }
        }
        let (redirect, challenge) = (request.parameters["redirect_uri"], verifier.map(PKCE.challenge))
        let redeemed = try await store.redeemCode(code) {
            $0.app == app.key && $0.redirect == redirect && $0.challenge == challenge
        }
        guard let redeemed else {
            return OAuth2Refusal(
                error: "invalid_grant",
                description: "the code is unknown, used, over ten minutes old, or was made for somebody else"
            ).response
        }
        return OAuth2Token(token: redeemed.token, uid: redeemed.grant.member).response
    }

    /// Answers `POST /oauth2/token_from_oauth1`: a bearer token in exchange for an OAuth 1 token.
    func tokenFromOAuth1(_ request: MemberRequest) async throws -> Response {
        guard case .oauth1(let signed, _) = request.identity.credentials else {
            throw APIError(403, "this needs a request signed by OAuth 1.0")
        }
        let token = try await store.addDevice(
            member: request.member.uid, app: signed.consumerKey, name: "")
        return OAuth2Token(token: token, uid: nil).response
    }

    /// Answers `POST /disable_access_token`: the token that the request shows is dead at once.
    func disable(_ request: MemberRequest) async throws -> Response {
        try await store.removeDevice(holding: request.identity.credentials.token)
        return .json(EmptyObject())
    }
}

/// `{}`.
private struct EmptyObject: JSONWritable {
    func write(to json: inout JSONText) { json.object { _ in } }
}

/// The ways in which a program identifies itself by OAuth 2.0.
enum OAuth2Client {
    /// The app's key and secret, from HTTP Basic or the form.
    static func credentials(in request: RoutedRequest) throws(APIError) -> (key: String?, secret: String?) {
        guard let header = request.headers[.authorization] else {
            return (request.parameters["client_id"], request.parameters["client_secret"])
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let data = Data(base64Encoded: String(parts[1])),
            let text = String(validating: data, as: UTF8.self)
        else { throw APIError(400, "the Authorization header is malformed") }
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let values = halves.map { PercentEncoding.decode($0, plusIsBlank: true) }
        return (values.first.flatMap { $0 }, values.dropFirst().first.flatMap { $0 })
    }
}

/// A refusal as RFC 6749 section 5.2 words it.
struct OAuth2Refusal: JSONWritable {
    let error: String
    let description: String
    var status = HTTPResponse.Status.badRequest

    var response: Response {
        var response = Response.json(self, status: status)
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Basic realm=\"byteclub\"" }
        return response
    }

    /// The app's key or its secret is not known.
    static let invalidClient = OAuth2Refusal(
        error: "invalid_client", description: "the app key or its secret is wrong", status: .unauthorized)

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("error", error)
            json.member("error_description", description)
        }
    }
}

extension Response {
    /// An answer with a secret in it, which no cache may keep (RFC 6749 section 5.1).
    static func secret(_ value: some JSONWritable) -> Response {
        var response = json(value)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

/// A token for a program; the member's number is a text here, unlike in the account.
struct OAuth2Token: JSONWritable {
    let token: String
    let uid: Int64?

    var response: Response { .secret(self) }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("access_token", token)
            json.member("token_type", "bearer")
            if let uid {
                json.member("uid", String(uid))
            }
        }
    }
}
