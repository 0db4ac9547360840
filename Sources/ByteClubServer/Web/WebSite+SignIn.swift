import ByteClubCore

extension WebSite {
    /// The form for name and password.
    func signInForm(_ visit: Visit, next: String, message: String? = nil, status: Int = 200) -> Answer {
        var values: [String: Any] = ["next": Self.local(next)]
        if let message { values["message"] = message }
        if let name = visit["name"], name.utf8.count <= 255 { values["name"] = name }
        return view("sign-in", values, visit, status)
    }

    /// Checks name and password, and starts a session.
    func signIn(_ visit: Visit) async throws -> Answer {
        let next = Self.local(visit["next"] ?? "/")
        let name = visit["name"] ?? ""
        let wrong = "The name or the password is wrong."
        // No member has a longer name, and what is counted is kept for a while.
        guard name.utf8.count <= 255 else { return signInForm(visit, next: next, message: wrong, status: 403) }
        let folded = PathKey.fold(name)
        let key = folded + "\n" + visit.call.peer
        if let wait = addressLimit.take(visit.call.peer) ?? nameLimit.take(key) ?? wideNameLimit.take(folded) {
            throw Self.tooMany(wait)
        }
        let known = try await store.credentials(ofMember: name)
        guard try await PasswordHash.verify(visit["password"] ?? "", against: known?.password),
            let member = known?.member
        else { return signInForm(visit, next: next, message: wrong, status: 403) }
        nameLimit.forget(key)
        return try await begin(member, visit, then: next)
    }

    /// Starts a session under a new secret, so that one planted before is worth nothing.
    func begin(_ member: Member, _ visit: Visit, then next: String) async throws -> Answer {
        let secret = try await store.addWebSession(member: member.uid, lifetime: Visit.lifetime)
        return redirect(next, cookie: cookie(secret, for: visit.call, lifetime: Visit.lifetime))
    }

    /// Ends the session.
    func signOut(_ visit: Visit) async throws -> Answer {
        try await store.removeWebSession(visit.secret)
        return redirect("/login", cookie: cookie("", for: visit.call, lifetime: 0))
    }

    /// What somebody is told who guesses.
    static func tooMany(_ wait: Duration) -> APIError {
        let seconds = max(1, wait.components.seconds + 1)
        var error = APIError(429, "too many attempts; try again in \(seconds) s")
        error.retryAfter = Int(seconds)
        return error
    }

    /// A place on this server, and never on another.
    static func local(_ place: String) -> String {
        let isPlain = place.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
        return isPlain && place.hasPrefix("/") && !place.hasPrefix("//") ? place : "/"
    }
}
