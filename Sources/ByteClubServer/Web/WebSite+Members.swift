import ByteClubCore

extension WebSite {
    /// Shows the members to an owner.
    func members(_ visit: Visit, _ member: Member) async throws -> Response {
        try await members(visit, member, link: nil)
    }

    private func members(_ visit: Visit, _ member: Member, link: String?) async throws -> Response {
        try Self.checkOwner(member)
        let rows = try await store.members().filter { !$0.isDisabled }.map { other in
            [
                "name": other.name, "role": other.role.word, "created": Self.day(other.created),
                "isOther": other.uid != member.uid,
                "roles": Role.allCases.map { ["word": $0.word, "isCurrent": $0 == other.role] as [String: Any] },
            ] as [String: Any]
        }
        var values: [String: Any] = ["members": rows, "days": Invitation.lifetime / 86_400]
        if let link { values["link"] = link }
        return view(.members, values, visit)
    }

    /// Invites, removes, or changes a role; nobody does the latter two to themselves.
    func changeMembers(_ visit: Visit, _ member: Member) async throws -> Response {
        try Self.checkOwner(member)
        let role = visit["role"].flatMap(Role.init(word:))
        if visit["action"] == "invite" {
            let secret = try await store.addInvitation(
                role: role ?? .editor, lifetime: Invitation.lifetime, by: member.uid)
            return try await members(
                visit, member, link: settings.origin(for: visit.request.client) + "/invite/" + secret)
        }
        guard let name = visit["name"], try await store.credentials(ofMember: name)?.member.uid != member.uid else {
            throw APIError(400, "Nobody can remove or demote themselves.")
        }
        if visit["action"] == "remove" {
            try await store.removeMember(name: name)
        } else if let role {
            try await store.setRole(role, ofMember: name)
        }
        return redirect("/members")
    }

    /// The form that makes a member of somebody.
    func joinForm(_ visit: Visit) async throws -> Response {
        let invitation = try await invitation(visit)
        return view(
            .join,
            [
                "role": invitation.role.word,
                "path": "/invite/" + PercentEncoding.encode(visit.request.tail.first ?? ""),
            ],
            visit)
    }

    /// Makes a member of somebody, and signs them in.
    func join(_ visit: Visit) async throws -> Response {
        _ = try await invitation(visit)
        if let wait = settings.signIns.guess(from: visit.request.client.address) { throw Self.tooMany(wait) }
        let text = visit["password"] ?? ""
        let password = try await inTurn(visit.request, .unknown) { try await PasswordHash.make(text) }
        let member = try await store.redeemInvitation(
            visit.request.tail.first ?? "", name: visit["name"] ?? "", password: password)
        guard let member else { throw Self.unknownInvitation }
        return try await begin(member, visit, then: "/")
    }

    private func invitation(_ visit: Visit) async throws -> Invitation {
        if let invitation = try await store.invitation(visit.request.tail.first ?? "") { return invitation }
        if let wait = settings.signIns.guess(from: visit.request.client.address) { throw Self.tooMany(wait) }
        throw Self.unknownInvitation
    }

    private static var unknownInvitation: APIError {
        APIError(404, "This invitation was used or is too old. Ask for a new one.")
    }

    private static func checkOwner(_ member: Member) throws(APIError) {
        guard member.role == .owner else { throw APIError(403, "Only owners manage members.") }
    }
}
