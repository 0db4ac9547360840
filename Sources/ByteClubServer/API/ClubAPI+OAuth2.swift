import ByteClubCore
import FoundationEssentials
import HTTPTypes

extension ClubAPI {
    /// Answers `POST /oauth2/token`: a code becomes a token, once.
    func token(_ call: Call) async throws -> Answer {
        try await countingFailures(of: call, redeemCode)
    }

    private func redeemCode(_ call: Call) async throws -> Answer {
        guard call.parameters["grant_type"] == "authorization_code" else {
            return OAuth2Refusal(
                error: "unsupported_grant_type", description: "grant_type must be authorization_code"
            ).answer
        }
        guard let code = call.parameters["code"] else {
            return OAuth2Refusal(error: "invalid_request", description: "the parameter code is missing").answer
        }
        let (key, secret) = try Self.client(call)
        guard let key, let app = try await store.app(key) else { return Self.invalidClient }
        let verifier = call.parameters["code_verifier"]
        // A program that proves itself by PKCE needs no secret; one that shows a secret must show the right one.
        if secret != nil || verifier == nil {
            guard let known = app.secret, let secret, ConstantTime.equal(known, secret) else {
                return Self.invalidClient
            }
        }
        guard let grant = try await store.redeemCode(code), grant.app == app.key,
            grant.redirect == call.parameters["redirect_uri"],
            grant.challenge == verifier.map(PKCE.challenge)
        else {
            return OAuth2Refusal(
                error: "invalid_grant",
                description: "the code is unknown, used, over ten minutes old, or was made for somebody else"
            ).answer
        }
        let token = try await store.addDevice(member: grant.member, app: app.key, name: grant.device)
        return OAuth2Token(token: token, uid: grant.member).answer
    }

    /// Answers `POST /oauth2/token_from_oauth1`: a bearer token for who holds an OAuth 1 token.
    func tokenFromOAuth1(_ call: Call) async throws -> Answer {
        guard
            case .oauth1(let signed, _) = try Credentials(
                authorization: call.headers[.authorization], parameters: call.parameters)
        else { throw APIError(403, "this needs a request signed by OAuth 1.0") }
        let token = try await store.addDevice(
            member: call.requireMember().uid, app: signed.consumerKey, name: "")
        return OAuth2Token(token: token, uid: nil).answer
    }

    /// Answers `POST /disable_access_token`: the token that the call shows is dead at once.
    func disableAccessToken(_ call: Call) async throws -> Answer {
        try await store.removeDevice(holding: call.token)
        return .json(EmptyObject())
    }

    private static var invalidClient: Answer {
        var answer = OAuth2Refusal(
            error: "invalid_client", description: "the app key or its secret is wrong", status: .unauthorized
        ).answer
        answer.headers[.wwwAuthenticate] = "Basic realm=\"byteclub\""
        return answer
    }

    /// The app's key and secret, from HTTP Basic or the form.
    private static func client(_ call: Call) throws -> (key: String?, secret: String?) {
        guard let header = call.headers[.authorization] else {
            return (call.parameters["client_id"], call.parameters["client_secret"])
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let data = Data(base64Encoded: String(parts[1])),
            let text = String(validating: data, as: UTF8.self)
        else { throw APIError(400, "the Authorization header is malformed") }
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let values = halves.map { PercentCoding.decode($0, plusIsBlank: true) }
        return (values.first.flatMap { $0 }, values.dropFirst().first.flatMap { $0 })
    }
}

/// A refusal as RFC 6749 section 5.2 words it.
private struct OAuth2Refusal: JSONWritable {
    let error: String
    let description: String
    var status = HTTPResponse.Status.badRequest

    var answer: Answer { .json(self, status: status) }

    func write(to json: inout JSONText) {
        json.object { json in
            json.key("error")
            json.value(error)
            json.key("error_description")
            json.value(description)
        }
    }
}

/// A token for a program; the member's number is a text here, unlike in the account.
private struct OAuth2Token: JSONWritable {
    let token: String
    let uid: Int64?

    /// No cache may keep it (RFC 6749 section 5.1).
    var answer: Answer {
        var answer = Answer.json(self)
        answer.headers[.cacheControl] = "no-store"
        return answer
    }

    func write(to json: inout JSONText) {
        json.object { json in
            json.key("access_token")
            json.value(token)
            json.key("token_type")
            json.value("bearer")
            if let uid {
                json.key("uid")
                json.value(String(uid))
            }
        }
    }
}

/// `{}`.
private struct EmptyObject: JSONWritable {
    func write(to json: inout JSONText) { json.object { _ in } }
}
