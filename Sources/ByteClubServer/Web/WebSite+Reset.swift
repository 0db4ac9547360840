import ByteClubCore

extension WebSite {
    /// The form with which a member who has forgotten the password sets a new one.
    func resetForm(_ visit: Visit) async throws -> Response {
        resetForm(visit, try await resetting(visit).member)
    }

    private func resetForm(_ visit: Visit, _ member: Member, problem: String? = nil) -> Response {
        let path = "/reset/" + PercentEncoding.encode(visit.request.tail.first ?? "")
        return view(.reset, (name: member.name, path: path, message: problem), visit, problem == nil ? 200 : 400)
    }

    /// Sets the new password, by which the link dies, and signs the member in; who chose one that cannot be chooses again.
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
        // The link may have been used, or have died with its maker's password, since it was looked at.
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
