import ByteClubCore

/// The operation that describes the member's account.
extension ClubAPI {
    /// Answers `GET /account/info`.
    func accountInfo(_ request: MemberRequest) async throws -> Response {
        let member = request.member
        let usage = try await store.usage(of: member.uid)
        var account = Account(
            uid: member.uid, displayName: member.name,
            quotaInfo: Account.Quota(quota: usage.quota ?? Account.Quota.unlimited, normal: usage.used, shared: 0),
            extensions: Account.Extensions(
                version: 1, conditionalDelete: true, sync: true, links: true, history: true, contentSearch: true,
                photoSearch: true, bulkChunks: true, club: settings.clubName(in: store)))
        account.referralLink = settings.publicURL
        account.role = member.role.word
        return .json(account)
    }
}

/// Sets the password with which a member signs in on the pages, for programs that hold a token of the member's.
extension ClubAPI {
    /// Answers `GET /sync/password`: whether the member has one.
    func hasPassword(_ request: MemberRequest) async throws -> Response {
        let known = try await store.credentials(ofMember: request.member.name)?.password
        return .object { $0.member("is_set", known != nil) }
    }

    /// Answers `POST /sync/password`: `current` must be the password that the member has, if there is one.
    ///
    /// Browsers are signed out, devices stay signed in.
    func setPassword(_ request: MemberRequest) async throws -> Response {
        let member = request.member
        if let wait = settings.signIns.change(by: member.uid) { throw WebSite.tooMany(wait) }
        let new = request.parameters["password"] ?? ""
        try PasswordHash.checkLength(of: new)
        let (store, current) = (store, request.parameters["current"])
        let isChanged = try await request.inTurn(of: shares.knownPasswordHashes, for: request.requester) {
            let known = try await store.credentials(ofMember: member.name)?.password
            if let known, try await !PasswordHash.verify(current ?? "", against: known) { return false }
            // It may have changed since it was read.
            return try await store.setPassword(
                PasswordHash.make(new), ofMember: member.name, replacing: .exactly(known), shuttingOutDevices: false)
        }
        guard isChanged else { throw APIError(403, "the current password is wrong", parameter: "current") }
        return .object { _ in }
    }
}

extension PasswordHash {
    /// Refuses a new password in the parameter `password` that is too short or too long.
    static func checkLength(of password: String) throws(APIError) {
        guard lengths.contains(password.utf8.count) else {
            throw APIError(
                400, "a password must have \(lengths.lowerBound) to \(lengths.upperBound) bytes", parameter: "password")
        }
    }
}
