import ByteClubCore
import HTTPTypes

extension WebSite {
    /// Asks a member whether an app may have access (OAuth 2.0).
    func approveForm(_ visit: Visit, _ member: Member) async throws -> Response {
        let request = try await consentRequest(visit)
        if let fault = request.fault { return refusal(request, fault, visit) }
        return form(app: request.app, device: request.device, visit, member)
    }

    /// Carries out the member's decision.
    func approve(_ visit: Visit, _ member: Member) async throws -> Response {
        let request = try await consentRequest(visit)
        if let fault = request.fault { return refusal(request, fault, visit) }
        guard visit["decision"] == "allow" else {
            return refusal(request, ("access_denied", "the member refused"), visit)
        }
        if request.response == .token {
            let token = try await store.addDevice(member: member.uid, app: request.app.key, name: request.device)
            let place = request.location([
                ("access_token", token), ("token_type", "bearer"), ("uid", String(member.uid)),
            ])
            return redirect(place ?? "/")
        }
        let code = try await store.addCode(
            Grant(
                app: request.app.key, member: member.uid, redirect: request.redirect, challenge: request.challenge,
                device: request.device))
        if let place = request.location([("code", code)]) { return redirect(place) }
        return view(.code, (app: request.app.name, code: code), visit)
    }

    /// Asks a member whether an app may have access (OAuth 1.0).
    func approveOAuth1Form(_ visit: Visit, _ member: Member) async throws -> Response {
        form(app: try await requestedApp(visit).app, device: "", visit, member)
    }

    /// Carries out the member's decision.
    func approveOAuth1(_ visit: Visit, _ member: Member) async throws -> Response {
        let (app, token) = try await requestedApp(visit)
        let isAllowed = visit["decision"] == "allow"
        if isAllowed, try await !store.approveRequestToken(token, by: member.uid) { throw Self.unknownRequest }
        let values =
            isAllowed
            ? [("uid", String(member.uid)), ("oauth_token", token)]
            : [("not_approved", "true"), ("oauth_token", token)]
        if let callback = visit["oauth_callback"] {
            return redirect(callback + (callback.contains("?") ? "&" : "?") + PercentEncoding.form(values))
        }
        return done(app, isAllowed: isAllowed, visit)
    }

    private static var unknownRequest: APIError {
        APIError(400, "This request is unknown or has expired. Start again in the program that sent you here.")
    }

    private func consentRequest(_ visit: Visit) async throws -> ConsentRequest {
        let key = visit["client_id"]
        let app: App? = if let key { try await store.app(key) } else { nil }
        return try ConsentRequest(visit.request.parameters, app: app)
    }

    /// The app that waits for consent by OAuth 1.0; it is sent back only to where it may.
    private func requestedApp(_ visit: Visit) async throws -> (app: App, token: String) {
        guard let token = visit["oauth_token"], let request = try await store.requestToken(token) else {
            throw Self.unknownRequest
        }
        if let callback = visit["oauth_callback"], !request.app.allows(redirect: callback) {
            throw APIError(400, "'\(request.app.name)' asked for a redirect that it has not registered.")
        }
        return (request.app, token)
    }

    /// Asks a member whether an app may have access.
    ///
    /// The form is sent to `action`, or to this page when that is nil; `asker` is a program that shows a code.
    func form(
        app: App, device: String, _ visit: Visit, _ member: Member, action: String? = nil,
        asker: (code: String, address: String)? = nil
    ) -> Response {
        let here = "/" + visit.request.rawPath.drop { $0 == "/" } + "?" + visit.request.query
        let page = (
            app: app.name, device: device.isEmpty ? nil : device, mayWrite: member.role >= .editor,
            action: action ?? here, code: asker?.code, address: asker?.address
        )
        return view(.approve, page, visit)
    }

    private func refusal(
        _ request: ConsentRequest, _ fault: (error: String, description: String), _ visit: Visit
    ) -> Response {
        if let place = request.location([("error", fault.error), ("error_description", fault.description)]) {
            return redirect(place)
        }
        return done(request.app, isAllowed: false, visit)
    }

    /// The page with the result.
    func done(_ app: App, isAllowed: Bool, _ visit: Visit) -> Response {
        view(.done, (app: app.name, isAllowed: isAllowed), visit)
    }
}

extension WebSite {
    /// The form for the code that a program without a browser shows; a link of the program fills it in.
    func deviceForm(_ visit: Visit, _: Member) -> Response { deviceForm(visit, problem: nil) }

    private func deviceForm(_ visit: Visit, problem: String?) -> Response {
        let code = visit["code"].flatMap { $0.utf8.count <= 32 ? $0 : nil }
        return view(.device, (message: problem, code: code), visit, problem == nil ? 200 : 400)
    }

    /// Shows the program behind a code, or carries out the member's decision.
    func device(_ visit: Visit, _ member: Member) async throws -> Response {
        // Codes are short, so each attempt counts, a right one as well.
        if let wait = settings.signIns.guess(from: visit.request.client.address) { throw Self.tooMany(wait) }
        guard let code = visit["code"].flatMap(UserCode.init),
            let asker = signIns.asker(showing: code, at: settings.now())
        else { return unknownCode(visit) }
        switch visit["decision"] {
        case "allow":
            let grant = try await store.addCode(
                Grant(app: asker.app.key, member: member.uid, redirect: nil, challenge: nil, device: asker.device))
            guard signIns.answer(.allowed(grant: grant), to: code, at: settings.now()) else {
                return unknownCode(visit)
            }
        case "refuse":
            guard signIns.answer(.refused, to: code, at: settings.now()) else { return unknownCode(visit) }
        default:
            return form(
                app: asker.app, device: asker.device, visit, member, action: "/device",
                asker: (code.description, asker.address?.description ?? ""))
        }
        return done(asker.app, isAllowed: visit["decision"] == "allow", visit)
    }

    private func unknownCode(_ visit: Visit) -> Response {
        deviceForm(visit, problem: "No program is waiting for this code. Check it, or start again in the program.")
    }
}
