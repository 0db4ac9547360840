import ByteClubCore
import HTTPTypes

extension WebSite {
    /// Shows the members to an owner.
    func members(_ visit: Visit, _ member: Member) async throws -> Response {
        try await members(visit, member, link: nil)
    }

    /// The page of the members with one thing that has just come of a form on it.
    func members(
        _ visit: Visit, _ member: Member, link: String? = nil, reset: (name: String, link: String)? = nil,
        nameProblem: String? = nil
    ) async throws -> Response {
        try Self.checkOwner(member)
        var rows: [MemberRow] = []
        for other in try await store.members() where !other.isDisabled {
            let devices = try await store.devices(of: other.uid)
            rows.append(MemberRow(other, devices, isOther: other.uid != member.uid, now: settings.now()))
        }
        let invitations = try await store.invitations().map { open in
            (
                id: open.id, role: open.invitation.role.phrase, expires: Moment(open.invitation.expires),
                maker: open.inviter ?? "the server's machine"
            )
        }
        let page = (
            members: rows, days: Invitation.lifetime / 86_400, invitations: invitations,
            hasInvitations: !invitations.isEmpty, link: link,
            reset: reset, naming: nameField(visit, problem: nameProblem)
        )
        return view(.members, page, visit, nameProblem == nil ? 200 : 400)
    }

    /// Names the club, invites, revokes an invitation, creates a link for a new password, removes a member, or changes
    /// a role; the latter three not for the owner's own account.
    func changeMembers(_ visit: Visit, _ member: Member) async throws -> Response {
        try Self.checkOwner(member)
        if visit["action"] == "name" { return try await nameClub(visit, member) }
        let role = visit["role"].flatMap(Role.init(word:))
        if visit["action"] == "invite" {
            let address = try address(visit)
            let secret = try await store.addInvitation(
                role: role ?? .editor, lifetime: Invitation.lifetime, by: member.uid)
            return try await members(visit, member, link: address.invitation(secret))
        }
        if visit["action"] == "uninvite" {
            guard let id = visit["invitation"], try await store.removeInvitation(id: id) else {
                throw APIError(404, "This invitation no longer exists.")
            }
            return redirect("/members")
        }
        let name = visit["name"] ?? ""
        let found = try await store.credentials(ofMember: name)
        guard found?.member.uid != member.uid else {
            throw APIError(400, "You cannot remove or demote yourself.")
        }
        if visit["action"] == "reset" {
            guard let found else { throw StorageError.noMember(name) }
            let maker = OwnerState(
                uid: member.uid, password: try await store.credentials(ofMember: member.name)?.password)
            let reset = PasswordReset(
                member: found.member.uid, maker: maker, expires: settings.now() + PasswordReset.lifetime)
            let secret = reset.secret(replacing: found.password, key: csrfKey)
            return try await members(
                visit, member, reset: (found.member.name, address(visit).reset(secret)))
        }
        if visit["action"] == "remove" {
            try await store.removeMember(name: name, evenTheLast: false)
        } else if let role {
            try await store.setRole(role, ofMember: name)
        }
        return redirect("/members")
    }

    /// The address that links to send begin with.
    private func address(_ visit: Visit) throws(APIError) -> ClubAddress {
        guard let address = ClubAddress(settings.origin(for: visit.request.client), pin: settings.pin) else {
            throw APIError(400, "Others cannot open a link to this address. Start the server with --public-url.")
        }
        return address
    }

    /// The form to join with.
    func joinForm(_ visit: Visit) async throws -> Response {
        guard let invitation = try await invitation(visit) else { return try await continueWithoutInvitation(visit) }
        return joinForm(visit, invitation, owners: try await owners())
    }

    private func joinForm(
        _ visit: Visit, _ invitation: Invitation, owners: String, problem: String? = nil
    ) -> Response {
        let origin = settings.origin(for: visit.request.client)
        let name = visit["name"].flatMap { $0.utf8.count <= 255 ? $0 : nil }
        let page = (
            role: invitation.role.phrase, meaning: Self.meaning(invitation.role),
            host: origin.split(separator: "/").last.map(String.init) ?? origin,
            path: "/invite/" + PercentEncoding.encode(visit.request.tail.first ?? ""),
            naming: owners.isEmpty ? nameField(visit) : nil, owners: owners.isEmpty ? nil : owners,
            next: visit["next"].map(Self.local), message: problem, name: name
        )
        return view(.join, page, visit, problem == nil ? 200 : 400)
    }

    private func owners() async throws -> String {
        try await store.members().filter { !$0.isDisabled && $0.role == .owner }.map(\.name).joined(separator: ", ")
    }

    /// What a role allows.
    static func meaning(_ role: Role) -> String {
        switch role {
        case .viewer: "you can read everything, but change nothing"
        case .editor: "you can read and change everything"
        case .owner: "you can read and change everything, and manage members"
        }
    }

    /// Creates an account, signs the member in, and continues to the page that the link names; with an invalid name or
    /// password shows the form again.
    func join(_ visit: Visit) async throws -> Response {
        guard let invitation = try await invitation(visit) else { return try await continueWithoutInvitation(visit) }
        if let wait = settings.signIns.guess(from: visit.request.client.address) { throw Self.tooMany(wait) }
        let text = visit["password"] ?? ""
        let (member, password): (Member?, PasswordHash)
        let isFirst = try await !store.hasOwner()
        let clubName: String?
        do {
            clubName = try ClubName.read(visit["club"] ?? "")
        } catch {
            return joinForm(visit, invitation, owners: try await owners(), problem: error.message)
        }
        do {
            password = try await inTurn(visit.request, .unknown) { try await PasswordHash.make(text) }
            member = try await store.redeemInvitation(
                visit.request.tail.first ?? "", name: visit["name"] ?? "", password: password)
        } catch let error as StorageError where error.code == .badMember || error.code == .nameTaken {
            return joinForm(visit, invitation, owners: try await owners(), problem: error.message)
        }
        guard let member else { throw Self.unknownInvitation }
        // A name that cannot be stored must not fail the sign-up: an owner can set it on the members' page.
        if let clubName, isFirst, member.role == .owner, settings.clubName == nil {
            try? await store.setClubName(clubName)
        }
        return try await begin(member, password, visit, then: visit["next"].map(Self.local) ?? "/", isNew: true)
    }

    /// The invitation of the URL; nil when it is unknown, which counts as a guess.
    private func invitation(_ visit: Visit) async throws -> Invitation? {
        if let invitation = try await store.invitation(visit.request.tail.first ?? "") { return invitation }
        if let wait = settings.signIns.guess(from: visit.request.client.address) { throw Self.tooMany(wait) }
        return nil
    }

    /// Continues to the page that the link of a used invitation names: its member may open it again, as when `byteclub
    /// login` is run a second time.
    ///
    /// In a club without an owner it explains how to become one.
    ///
    /// - Throws: ``APIError`` 404 when the link names no page.
    private func continueWithoutInvitation(_ visit: Visit) async throws -> Response {
        guard try await store.hasOwner() else { return view(.unowned, (), visit, 404) }
        guard let next = visit["next"].map(Self.local) else { throw Self.unknownInvitation }
        if visit.member != nil { return redirect(next) }
        return signInForm(
            visit, next: next,
            problem: "This invitation was used or has expired. If you joined with it, sign in; else ask for another.")
    }

    private static var unknownInvitation: APIError {
        APIError(404, "This invitation was used or has expired. Ask for a new one.")
    }

    private static func checkOwner(_ member: Member) throws(APIError) {
        guard member.role == .owner else { throw APIError(403, "Only owners manage members.") }
    }
}

extension WebSite {
    /// Names the club, or removes its name when the field is empty; with an invalid name shows the form again.
    func nameClub(_ visit: Visit, _ member: Member) async throws -> Response {
        if settings.clubName != nil {
            throw APIError(403, "The server's setting 'name' names the club; a page cannot change it.")
        }
        let name: String?
        do {
            name = try ClubName.read(visit["club"] ?? "")
        } catch {
            return try await members(visit, member, nameProblem: error.message)
        }
        try await store.setClubName(name)
        return redirect("/members")
    }

    /// The field for the club's name; nil where the server's setting names the club.
    func nameField(_ visit: Visit, problem: String? = nil) -> (typed: String, problem: String?)? {
        if settings.clubName != nil { return nil }
        // A link may not fill the field in.
        let typed = visit.request.method == .post ? visit["club"] : nil
        return (typed ?? store.clubName ?? "", problem)
    }
}

/// A member in the list of all.
private struct MemberRow {
    let name: String
    let initial: String
    let role: String
    let created: Moment
    /// How many machines and programs have access.
    let machines: String?
    /// When the last of them was seen.
    let seen: Ago?
    /// Whether it is somebody else than the reader.
    let isOther: Bool
    let roles: [(word: String, isCurrent: Bool)]

    init(_ member: Member, _ devices: [Device], isOther: Bool, now: Int64) {
        name = member.name
        initial = member.name.first.map { $0.uppercased() } ?? ""
        role = member.role.word
        created = Moment(member.created)
        machines = devices.isEmpty ? nil : devices.count == 1 ? "1 machine" : "\(devices.count) machines"
        seen = devices.map(\.seen).max { $0.seconds < $1.seconds }.map { Ago($0, now: now) }
        self.isOther = isOther
        roles = Role.allCases.map { ($0.word, $0 == member.role) }
    }
}
