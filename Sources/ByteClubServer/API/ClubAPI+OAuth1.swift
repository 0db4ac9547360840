import ByteClubCore
import HTTPTypes
import NIOCore

extension ClubAPI {
    /// Answers `/oauth/request_token`: the start of a sign-in by OAuth 1.0.
    func requestToken(_ call: Call) async throws -> Answer {
        try await countingFailures(of: call, startSignIn)
    }

    private func startSignIn(_ call: Call) async throws -> Answer {
        let (signed, header) = try signature(of: call)
        guard let app = try await store.app(signed.consumerKey), let secret = app.secret else {
            throw APIError(401, "the app key is unknown")
        }
        try check(
            PendingSignature(
                signed: signed, header: header, consumerSecret: secret, tokenSecret: "", signer: .app(app.key)),
            of: call)
        let fresh = try await store.addRequestToken(app: app.key)
        return Self.form([("oauth_token", fresh.token), ("oauth_token_secret", fresh.secret)])
    }

    /// Answers `/oauth/access_token`: a request token that a member approved becomes a token, once.
    func accessToken(_ call: Call) async throws -> Answer {
        try await countingFailures(of: call, redeemRequestToken)
    }

    private func redeemRequestToken(_ call: Call) async throws -> Answer {
        let (signed, header) = try signature(of: call)
        guard let token = signed.token, let request = try await store.requestToken(token),
            request.app.key == signed.consumerKey, let secret = request.app.secret
        else { throw APIError(401, "the request token is unknown or was used") }
        try check(
            PendingSignature(
                signed: signed, header: header, consumerSecret: secret, tokenSecret: request.secret,
                signer: .app(request.app.key)),
            of: call)
        guard let fresh = try await store.redeemRequestToken(token) else {
            throw APIError(401, "the request token has not been approved")
        }
        return Self.form([
            ("oauth_token", fresh.token), ("oauth_token_secret", fresh.tokenSecret), ("uid", String(fresh.member.uid)),
        ])
    }

    private func signature(of call: Call) throws -> (signed: OAuth1, header: [String: String]) {
        let credentials = try Credentials(
            authorization: call.headers[.authorization], parameters: call.parameters)
        guard case .oauth1(let signed, let header) = credentials else {
            throw APIError(403, "this needs a request signed by OAuth 1.0")
        }
        return (signed, header)
    }

    private static func form(_ pairs: [(name: String, value: String)]) -> Answer {
        let text = pairs.map { "\($0.name)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
        return Answer(
            .ok, headers: [.contentType: "application/x-www-form-urlencoded", .cacheControl: "no-store"],
            body: .bytes(ByteBuffer(string: text)))
    }
}
