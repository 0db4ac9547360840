import ByteClubCore
import HTTPTypes

/// Lets machines without a browser in by a short code (RFC 8628), on which a member decides at the page `/device`.
struct DeviceGrantHandlers: Sendable {
    /// The grant type in requests to the token endpoint.
    static let grantType = "urn:ietf:params:oauth:grant-type:device_code"

    let store: any AppStore
    let authenticator: Authenticator
    let signIns: DeviceSignIns
    let settings: ClubAPI.Settings

    /// Answers `POST /1/oauth2/device_authorization`: a code to show, and a secret to ask with.
    func authorize(_ request: RoutedRequest) async throws -> Response {
        try await authenticator.countingFailures(of: request) { request in
            guard let app = try await client(request) else { return OAuth2Refusal.invalidClient.response }
            let asker = DeviceSignIns.Asker(
                app: app, device: ConsentRequest.device(in: request.parameters), address: request.client.address)
            // A whole site of IPv6 addresses is one requester, as on the sign-in page.
            let requester = Requester.stranger(request.client.address?.site)
            guard let begun = signIns.begin(asker, for: requester, at: settings.now()) else {
                throw APIError(429, "too many sign-ins are waiting for a code; try again later", retryAfter: 60)
            }
            let page = settings.origin(for: request.client) + "/device"
            return DeviceAuthorization(deviceCode: begun.deviceCode, userCode: begun.userCode, page: page).response
        }
    }

    /// Answers `POST /1/oauth2/token` for the secret of a sign-in: a token, once, when a member has agreed.
    func token(_ request: RoutedRequest) async throws -> Response {
        guard let app = try await client(request) else { return try await counted(.invalidClient, request) }
        guard let deviceCode = request.parameters["device_code"] else {
            return try await counted(
                OAuth2Refusal(error: "invalid_request", description: "the parameter device_code is missing"), request)
        }
        switch signIns.ask(deviceCode, by: app, at: settings.now()) {
        case .pending:
            return OAuth2Refusal(
                error: "authorization_pending", description: "no member has decided yet; try again later"
            ).response
        case .slowDown:
            return OAuth2Refusal(error: "slow_down", description: "wait 5 s longer between requests").response
        case .refused: return OAuth2Refusal(error: "access_denied", description: "the member refused").response
        case .expired:
            return OAuth2Refusal(error: "expired_token", description: "it was not allowed within ten minutes").response
        case .unknown: break
        case .allowed(let code):
            guard let (grant, token) = try await store.redeemCode(code, where: { $0.app == app.key }) else { break }
            return OAuth2Token(token: token, uid: grant.member).response
        }
        return try await counted(
            OAuth2Refusal(
                error: "invalid_grant", description: "the device_code is unknown or used; the server may have restarted"
            ), request)
    }

    /// The app that asks; nil when it is not known, or does not show its secret.
    private func client(_ request: RoutedRequest) async throws -> App? {
        let (key, secret) = try OAuth2Client.credentials(in: request)
        guard let key, let app = try await store.app(key) else { return nil }
        guard let known = app.secret else { return secret == nil ? app : nil }
        return secret.map { ConstantTime.equal($0, known) } == true ? app : nil
    }

    /// A refusal that is counted as a guess.
    private func counted(_ refusal: OAuth2Refusal, _ request: RoutedRequest) async throws -> Response {
        try await authenticator.countingFailures(of: request) { _ in refusal.response }
    }
}

/// The answer to a program that starts to sign in (RFC 8628 section 3.2).
private struct DeviceAuthorization: JSONWritable {
    let deviceCode: String
    let userCode: UserCode
    let page: String

    var response: Response { .secret(self) }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("device_code", deviceCode)
            json.member("user_code", userCode.description)
            json.member("verification_uri", page)
            json.member("verification_uri_complete", "\(page)?code=\(userCode)")
            json.member("expires_in", DeviceSignIns.lifetime)
            json.member("interval", DeviceSignIns.interval)
        }
    }
}
