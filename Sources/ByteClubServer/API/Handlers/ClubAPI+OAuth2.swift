import ByteClubCore
import FoundationEssentials
import HTTPTypes

/// Signs programs in by OAuth 2.0, and out.
extension ClubAPI {
    /// Answers `POST /oauth2/token`: a code becomes a token, once.
    func token(_ request: RoutedRequest) async throws -> Response {
        if request.parameters["grant_type"] == Self.deviceGrantType { return try await deviceToken(request) }
        return try await authenticator.countingFailures(of: request) { request in
            guard request.parameters["grant_type"] == "authorization_code" else {
                return .oauth2(
                    "unsupported_grant_type", "grant_type must be authorization_code or \(Self.deviceGrantType)")
            }
            guard let code = request.parameters["code"] else {
                return .oauth2("invalid_request", "the parameter code is missing")
            }
            let (key, secret) = try request.clientCredentials()
            guard let key, let app = try await store.app(key) else { return .invalidClient }
            let verifier = request.parameters["code_verifier"]
            // A program that proves itself by PKCE needs no secret; one that shows a secret must show the right one.
            if secret != nil || verifier == nil {
                guard let known = app.secret, let secret, ConstantTime.equal(known, secret) else {
                    return .invalidClient
                }
            }
            let (redirect, challenge) = (request.parameters["redirect_uri"], verifier.map(PKCE.challenge))
            let redeemed = try await store.redeemCode(code) {
                $0.app == app.key && $0.redirect == redirect && $0.challenge == challenge
            }
            guard let redeemed else {
                return .oauth2(
                    "invalid_grant", "the code is unknown, used, over ten minutes old, or was made for somebody else")
            }
            return .token(redeemed.token, of: redeemed.grant.member)
        }
    }

    /// Answers `POST /oauth2/token_from_oauth1`: a bearer token in exchange for an OAuth 1 token.
    func tokenFromOAuth1(_ request: MemberRequest) async throws -> Response {
        guard case .oauth1(let signed, _) = request.identity.credentials else {
            throw APIError(403, "this needs a request signed by OAuth 1.0")
        }
        let token = try await store.addDevice(member: request.member.uid, app: signed.consumerKey, name: "")
        return .token(token, of: nil)
    }

    /// Answers `POST /disable_access_token`: the token that the request shows is dead at once.
    func disableToken(_ request: MemberRequest) async throws -> Response {
        try await store.removeDevice(holding: request.identity.credentials.token)
        return .object { _ in }
    }
}

extension RoutedRequest {
    /// The key and the secret with which an app identifies itself by OAuth 2.0, from HTTP Basic or the form.
    func clientCredentials() throws(APIError) -> (key: String?, secret: String?) {
        guard let header = headers[.authorization] else {
            return (parameters["client_id"], parameters["client_secret"])
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

extension Response {
    /// A refusal as RFC 6749 section 5.2 words it.
    static func oauth2(
        _ error: String, _ description: String, status: HTTPResponse.Status = .badRequest
    ) -> Response {
        var response = object(status: status) { json in
            json.member("error", error)
            json.member("error_description", description)
        }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Basic realm=\"byteclub\"" }
        return response
    }

    /// The refusal of an app whose key or secret is not known.
    static var invalidClient: Response {
        oauth2("invalid_client", "the app key or its secret is wrong", status: .unauthorized)
    }

    /// An answer with a secret in it, which no cache may keep (RFC 6749 section 5.1).
    static func secret(_ members: (inout JSONText) -> Void) -> Response {
        var response = object(members)
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// A token for a program; the member's number is a text here, unlike in the account.
    static func token(_ token: String, of member: Int64?) -> Response {
        secret { json in
            json.member("access_token", token)
            json.member("token_type", "bearer")
            json.member("uid", member.map(String.init))
        }
    }
}
