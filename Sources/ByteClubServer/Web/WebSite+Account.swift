import ByteClubCore

extension WebSite {
    /// The most links of each kind that the page shows.
    private static let mostLinks = 200

    /// Shows the account: its devices, and the links that need no account.
    func account(_ visit: Visit, _ member: Member) async throws -> Response {
        let devices = try await store.devices(of: member.uid).map { device in
            (
                id: device.id, title: device.title, created: Moment(device.created),
                seen: Ago(device.seen, now: settings.now())
            )
        }
        let page = (
            role: member.role.phrase, meaning: Self.meaning(member.role), devices: devices,
            hasDevices: !devices.isEmpty,
            login: ClubAddress.text(settings.origin(for: visit.request.client), pin: settings.pin),
            mayWrite: member.role >= .editor, isLastOwner: try await isLastOwner(member),
            links: [try await links(.share, visit, member), try await links(.media, visit, member)].compactMap(\.self)
        )
        return view(.account, page, visit)
    }

    private typealias LinkRow = (
        id: Int64, name: String, path: String, url: String, maker: String, created: Ago, expires: Moment,
        hasPassword: Bool
    )

    /// A list of links; nil when there are none.
    private func links(
        _ purpose: Link.Purpose, _ visit: Visit, _ member: Member
    ) async throws -> (title: String, rows: [LinkRow], isCut: Bool)? {
        let found = try await store.links(seenBy: member, purpose, before: .max, limit: Self.mostLinks + 1)
        if found.isEmpty { return nil }
        let rows = found.prefix(Self.mostLinks).map { link -> LinkRow in
            (
                link.id, link.path.name, link.path.string, visit.request.url(link.components, settings), link.member,
                Ago(link.created, now: settings.now()), Moment(link.expires), link.password != nil
            )
        }
        let title = purpose == .share ? "Shared links" : "Direct links to files, for a few hours"
        return (title, rows, found.count > Self.mostLinks)
    }

    /// Revokes a link.
    func takeBack(_ visit: Visit, _ member: Member) async throws -> Response {
        guard let id = try visit.request.parameters.integer("link", in: 1...Int64.max),
            try await store.removeLink(id, for: member)
        else { throw APIError(404, "This link no longer exists.") }
        return redirect("/account")
    }

    /// Revokes the access of a device.
    func revoke(_ visit: Visit, _ member: Member) async throws -> Response {
        guard let id = try visit.request.parameters.integer("device", in: 1...Int64.max),
            try await store.removeDevice(id, of: member.uid)
        else { throw APIError(404, "This device no longer exists.") }
        return redirect("/account")
    }

    /// The form for a new password.
    func passwordForm(_ visit: Visit, _ member: Member) async throws -> Response {
        try await passwordForm(visit, member, problem: nil)
    }

    private func passwordForm(_ visit: Visit, _ member: Member, problem: String?) async throws -> Response {
        let count = try await store.devices(of: member.uid).count
        let page = (
            hasDevices: count > 0, devices: count == 1 ? "1 device" : "\(count) devices", message: problem
        )
        return view(.password, page, visit, problem == nil ? 200 : 403)
    }

    /// Replaces the password after a check of the old one, and ends all other sessions; devices keep their access
    /// unless the form revokes it.
    func changePassword(_ visit: Visit, _ member: Member) async throws -> Response {
        if let wait = settings.signIns.change(by: member.uid) { throw Self.tooMany(wait) }
        let (store, old, new) = (store, visit["password"] ?? "", visit["new"] ?? "")
        let hashes = try await inTurn(visit.request, .known) { () -> (old: PasswordHash, new: PasswordHash)? in
            guard let known = try await store.credentials(ofMember: member.name)?.password,
                try await PasswordHash.verify(old, against: known)
            else { return nil }
            return (known, try await PasswordHash.make(new))
        }
        // It may have changed since it was read.
        guard let (known, hash) = hashes,
            try await store.setPassword(
                hash, ofMember: member.name, replacing: .exactly(known), shuttingOutDevices: visit["devices"] == "out")
        else { return try await passwordForm(visit, member, problem: "Wrong old password.") }
        return try await begin(member, hash, visit, then: "/account")
    }

    /// The day of a date, as in `06 Aug 2013`.
    static func day(_ date: APIDate) -> String { String(date.description.dropFirst(5).prefix(11)) }

    /// The day and the minute by the clock of the place, as in `06 Aug 2013 09:15`.
    static func minute(_ taken: TakenTime) -> String { String(taken.clock.description.dropFirst(5).prefix(17)) }

    /// The day and the minute of a date, as in `06 Aug 2013 09:15 UTC`.
    static func minute(_ date: APIDate) -> String {
        String(date.description.dropFirst(5).prefix(17)) + " UTC"
    }
}

/// A date for templates whose page shows it by the reader's own clock, with `time.js`.
struct Moment: Sendable {
    let day: String
    let date: String
    let rfc3339: String

    init(_ date: APIDate) {
        day = WebSite.day(date)
        self.date = WebSite.minute(date)
        rfc3339 = date.rfc3339
    }
}

extension WebSite {
    /// Whether this member is the only owner of the club.
    func isLastOwner(_ member: Member) async throws -> Bool {
        guard member.role == .owner else { return false }
        return try await !store.members().contains { !$0.isDisabled && $0.role == .owner && $0.uid != member.uid }
    }

    /// Removes the member who leaves: tokens and sessions are revoked, files stay.
    ///
    /// - Throws: ``StorageError`` `lastOwner` for the last owner, even without other members.
    func leave(_ visit: Visit, _ member: Member) async throws -> Response {
        try await store.removeMember(name: member.name, evenTheLast: false)
        let stranger = Visit(
            request: visit.request, secret: visit.secret, member: nil,
            newCookie: cookie("", for: visit.request, lifetime: 0))
        return view(.left, (), stranger)
    }
}
