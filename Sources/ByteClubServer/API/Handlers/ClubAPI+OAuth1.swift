import ByteClubCore
import HTTPTypes
import NIOCore

/// Signs programs in by OAuth 1.0.
extension ClubAPI {
    /// Answers `/oauth/request_token`: the start of a sign-in by OAuth 1.0.
    func requestToken(_ request: RoutedRequest) async throws -> Response {
        try await authenticator.countingFailures(of: request) { request in
            let (signed, header) = try signature(of: request)
            guard let app = try await store.app(signed.consumerKey), let secret = app.secret else {
                throw APIError(401, "the app key is unknown")
            }
            try authenticator.check(
                PendingSignature(
                    signed: signed, header: header, consumerSecret: secret, tokenSecret: "", signer: .app(app.key)),
                of: request)
            let fresh = try await store.addRequestToken(app: app.key)
            return Self.form([("oauth_token", fresh.token), ("oauth_token_secret", fresh.secret)])
        }
    }

    /// Answers `/oauth/access_token`: a request token that a member approved becomes a token, once.
    func accessToken(_ request: RoutedRequest) async throws -> Response {
        try await authenticator.countingFailures(of: request) { request in
            let (signed, header) = try signature(of: request)
            guard let token = signed.token, let known = try await store.requestToken(token),
                known.app.key == signed.consumerKey, let secret = known.app.secret
            else { throw APIError(401, "the request token is unknown or was used") }
            try authenticator.check(
                PendingSignature(
                    signed: signed, header: header, consumerSecret: secret, tokenSecret: known.secret,
                    signer: .app(known.app.key)),
                of: request)
            guard let fresh = try await store.redeemRequestToken(token) else {
                throw APIError(401, "the request token has not been approved")
            }
            return Self.form([
                ("oauth_token", fresh.token), ("oauth_token_secret", fresh.tokenSecret),
                ("uid", String(fresh.member.uid)),
            ])
        }
    }

    private func signature(of request: RoutedRequest) throws -> (signed: OAuth1, header: [String: String]) {
        let credentials = try Credentials(
            authorization: request.headers[.authorization], parameters: request.parameters)
        guard case .oauth1(let signed, let header) = credentials else {
            throw APIError(403, "this needs a request signed by OAuth 1.0")
        }
        return (signed, header)
    }

    private static func form(_ pairs: [(name: String, value: String)]) -> Response {
        Response(
            .ok, headers: [.contentType: "application/x-www-form-urlencoded", .cacheControl: "no-store"],
            body: .bytes(ByteBuffer(string: PercentEncoding.form(pairs))))
    }
}
