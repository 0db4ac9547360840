import ByteClubCore
import HTTPTypes

extension WebSite {
    /// The form for name and password; where there is no owner yet, how to become one.
    func signInForm(_ visit: Visit) async throws -> Response {
        guard try await store.hasOwner() else { return view(.unowned, (), visit) }
        return signInForm(visit, next: visit["next"] ?? "/")
    }

    /// The form again with a problem, and with the text of an earlier form.
    func signInForm(_ visit: Visit, next: String, problem: String? = nil) -> Response {
        let page = (
            next: Self.local(next), message: problem, text: visit.typedText, revision: visit["parent_rev"] ?? "",
            name: visit["name"].flatMap { $0.utf8.count <= 255 ? $0 : nil }
        )
        return view(.signIn, page, visit, problem == nil ? 200 : 403)
    }

    /// Checks name and password, and starts a session.
    ///
    /// Known names, unknown ones and those without a password cause the same work, so that its time does not reveal
    /// them.
    func signIn(_ visit: Visit) async throws -> Response {
        let next = Self.local(visit["next"] ?? "/")
        let name = visit["name"] ?? ""
        // No member has a longer name, and counted names are kept in memory for a while.
        guard name.utf8.count <= 255 else { return signInForm(visit, next: next, problem: Self.wrongPassword) }
        let (request, folded) = (visit.request, PathKey.fold(name))
        let browser = knownBrowser(request, name: folded)
        let verdict = settings.signIns.attempt(folded, from: request.client.address, browser)
        if case .refused(let wait) = verdict { throw Self.tooMany(wait) }
        let (store, password) = (store, visit["password"] ?? "")
        let known = try await inTurn(request, verdict) { () -> (member: Member, hash: PasswordHash)? in
            let known = try await store.credentials(ofMember: name)
            guard try await PasswordHash.verify(password, against: known?.password), let known,
                let hash = known.password
            else { return nil }
            return (known.member, hash)
        }
        guard let known else { return signInForm(visit, next: next, problem: Self.wrongPassword) }
        settings.signIns.forget(folded, from: request.client.address, browser)
        return try await begin(known.member, known.hash, visit, then: next, isNew: browser == nil)
    }

    /// Checks or makes passwords when it is the visitor's turn, and only while the visitor waits.
    ///
    /// - Throws: ``APIError`` 429 or 503 when too many requests wait; `CancellationError` when the visitor hangs up;
    ///   errors of `work`.
    func inTurn<T: Sendable>(
        _ request: RoutedRequest, _ verdict: SignInLimits.Verdict, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        // A whole site of IPv6 addresses has one turn, not one for each of its networks.
        let requester = Requester.stranger(request.client.address?.site)
        let (shares, pause) = (shares, settings.signIns.pause)
        return try await request.whileClientWaits {
            let doubt = verdict == .doubted ? try await shares.doubtedSignIns.wait(for: requester) : nil
            if doubt != nil { try await Task.sleep(for: pause) }
            let hashes = verdict == .known ? shares.knownPasswordHashes : shares.passwordHashes
            let turn = try await hashes.wait(for: requester)
            defer { withExtendedLifetime((doubt, turn)) {} }
            return try await work()
        }
    }

    /// Starts a session under a new secret, so that one planted before is worth nothing.
    ///
    /// Who showed a password that was changed since then begins again. For a member who `isNew` in this browser, the
    /// gallery shows a ``Welcome``.
    func begin(
        _ member: Member, _ password: PasswordHash, _ visit: Visit, then next: String, isNew: Bool = false
    ) async throws -> Response {
        let begun = try await store.addWebSession(member: member.uid, password: password, lifetime: Visit.lifetime)
        guard let secret = begun else { return signInForm(visit, next: next, problem: Self.wrongPassword) }
        let name = PathKey.fold(member.name)
        let browser = knownBrowser(visit.request, name: name) ?? KnownBrowser(now: settings.now())
        let session = cookie(secret, for: visit.request, lifetime: Visit.lifetime)
        let cookies =
            [
                session,
                cookie(
                    browser.cookie(name: name, key: csrfKey), .knownBrowser, for: visit.request,
                    lifetime: KnownBrowser.lifetime),
            ] + (isNew ? [welcomeCookie(for: visit.request)] : [])
        let now = Visit(request: visit.request, secret: secret, member: member, newCookie: session)
        var page: Response
        do {
            guard let form = try await formAfterSignIn(now, member, at: next) else {
                return redirect(next, cookies: cookies)
            }
            page = form
        } catch let error as APIError {
            page = refusal(error, now, text: visit.typedText)
        }
        page.headers[values: .setCookie] = cookies
        return page
    }

    private static let wrongPassword = "Wrong name or password."

    /// Ends the session.
    func signOut(_ visit: Visit, _: Member) async throws -> Response {
        try await store.removeWebSession(visit.secret)
        return redirect("/login", cookies: [cookie("", for: visit.request, lifetime: 0)])
    }

    /// The visitor's browser, when the name, folded, has signed in there before.
    private func knownBrowser(_ request: RoutedRequest, name: String) -> KnownBrowser? {
        value(of: .knownBrowser, in: request).flatMap {
            KnownBrowser(cookie: $0, name: name, key: csrfKey, now: settings.now())
        }
    }

    /// The refusal after too many guesses.
    static func tooMany(_ wait: Duration) -> APIError {
        let seconds = max(1, wait.components.seconds + 1)
        return APIError(429, "too many attempts; try again in \(seconds) s", retryAfter: Int(seconds))
    }

    /// A place on this server, and never on another.
    static func local(_ place: String) -> String {
        let isPlain = place.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
        return isPlain && place.hasPrefix("/") && !place.hasPrefix("//") ? place : "/"
    }
}

extension WebSite {
    /// The form for a new password in place of a forgotten one.
    func resetForm(_ visit: Visit) async throws -> Response {
        resetForm(visit, try await resetting(visit).member)
    }

    private func resetForm(_ visit: Visit, _ member: Member, problem: String? = nil) -> Response {
        let path = "/reset/" + PercentEncoding.encode(visit.request.tail.first ?? "")
        return view(.reset, (name: member.name, path: path, message: problem), visit, problem == nil ? 200 : 400)
    }

    /// Sets the new password, which invalidates the link, and signs the member in; with an invalid password shows the
    /// form again.
    func reset(_ visit: Visit) async throws -> Response {
        let (member, replaced) = try await resetting(visit)
        if let wait = settings.signIns.guess(from: visit.request.client.address) { throw Self.tooMany(wait) }
        let text = visit["new"] ?? ""
        let hash: PasswordHash
        do {
            hash = try await inTurn(visit.request, .unknown) { try await PasswordHash.make(text) }
        } catch let error as StorageError where error.code == .badMember {
            return resetForm(visit, member, problem: error.message)
        }
        // The link may have been used, or invalidated by its maker's new password, since it was read.
        guard
            try await store.setPassword(hash, ofMember: member.name, replacing: replaced, shuttingOutDevices: false)
        else { throw Self.unknownReset }
        return try await begin(member, hash, visit, then: "/account")
    }

    private func resetting(_ visit: Visit) async throws -> (member: Member, replaced: ReplacedPassword) {
        let secret = visit.request.tail.first ?? ""
        if let found = try await PasswordReset.member(of: secret, in: store, at: settings.now()) { return found }
        if let wait = settings.signIns.guess(from: visit.request.client.address) { throw Self.tooMany(wait) }
        throw Self.unknownReset
    }

    private static var unknownReset: APIError {
        APIError(404, "This link was used or has expired. Ask an owner of the club for a new one.")
    }
}
