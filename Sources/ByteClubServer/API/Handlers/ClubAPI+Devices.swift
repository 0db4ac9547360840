import ByteClubCore

/// Lets machines without a browser in by a short code (RFC 8628), on which a member decides at the page `/device`.
extension ClubAPI {
    /// The grant type in requests to the token endpoint.
    static let deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code"

    /// Answers `POST /1/oauth2/device_authorization`: a code to show, and a secret to ask with.
    func authorizeDevice(_ request: RoutedRequest) async throws -> Response {
        try await authenticator.countingFailures(of: request) { request in
            guard let app = try await client(request) else { return .invalidClient }
            let asker = DeviceSignIns.Asker(
                app: app, device: ConsentRequest.device(in: request.parameters), address: request.client.address)
            // A whole site of IPv6 addresses is one requester, as on the sign-in page.
            let requester = Requester.stranger(request.client.address?.site)
            guard let begun = signIns.begin(asker, for: requester, at: settings.now()) else {
                throw APIError(429, "too many sign-ins are waiting for a code; try again later", retryAfter: 60)
            }
            let page = settings.origin(for: request.client) + "/device"
            // RFC 8628 section 3.2.
            return .secret { json in
                json.member("device_code", begun.deviceCode)
                json.member("user_code", begun.userCode.description)
                json.member("verification_uri", page)
                json.member("verification_uri_complete", "\(page)?code=\(begun.userCode)")
                json.member("expires_in", DeviceSignIns.lifetime)
                json.member("interval", DeviceSignIns.interval)
            }
        }
    }

    /// Answers `POST /1/oauth2/token` for the secret of a sign-in: a token, once, when a member has agreed.
    func deviceToken(_ request: RoutedRequest) async throws -> Response {
        guard let app = try await client(request) else { return try await counted(.invalidClient, request) }
        guard let deviceCode = request.parameters["device_code"] else {
            return try await counted(.oauth2("invalid_request", "the parameter device_code is missing"), request)
        }
        switch signIns.ask(deviceCode, by: app, at: settings.now()) {
        case .pending: return .oauth2("authorization_pending", "no member has decided yet; try again later")
        case .slowDown: return .oauth2("slow_down", "wait 5 s longer between requests")
        case .refused: return .oauth2("access_denied", "the member refused")
        case .expired: return .oauth2("expired_token", "it was not allowed within ten minutes")
        case .unknown: break
        case .allowed(let code):
            guard let (grant, token) = try await store.redeemCode(code, where: { $0.app == app.key }) else { break }
            return .token(token, of: grant.member)
        }
        return try await counted(
            .oauth2("invalid_grant", "the device_code is unknown or used; the server may have restarted"), request)
    }

    /// The app that asks; nil when it is not known, or does not show its secret.
    private func client(_ request: RoutedRequest) async throws -> App? {
        let (key, secret) = try request.clientCredentials()
        guard let key, let app = try await store.app(key) else { return nil }
        guard let known = app.secret else { return secret == nil ? app : nil }
        return secret.map { ConstantTime.equal($0, known) } == true ? app : nil
    }

    /// A refusal that is counted as a guess.
    private func counted(_ refusal: Response, _ request: RoutedRequest) async throws -> Response {
        try await authenticator.countingFailures(of: request) { _ in refusal }
    }
}
