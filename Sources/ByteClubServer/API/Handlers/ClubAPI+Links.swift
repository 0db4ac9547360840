import ByteClubCore
import HTTPTypes

/// The operations that create, list and revoke links.
extension ClubAPI {
    /// The most links in one answer.
    private static let mostLinks = 1000

    /// Answers `POST /shares/<root>/<path>`.
    ///
    /// Extensions: `expires_in` is the lifetime of the link in seconds. `password` protects the link; an empty one does
    /// not. `location` is `keep` to give photos with their places, or `remove`, the default, to give them without; a
    /// file whose place cannot be removed is refused with 415.
    func share(_ request: MemberRequest) async throws -> Response {
        _ = try request.parameters.bool("short_url", default: true)
        var terms = Link.Terms()
        terms.lifetime = try request.parameters.integer("expires_in", in: Link.lifetimes)
        terms.keepsLocation = try keepsLocation(request)
        let entry = try await linkable(request)
        try await checkForm(of: entry, terms)
        if let password = request.parameters.value("password") {
            terms.password = password.isEmpty ? Link.Terms.Password.none : .hash(try await hash(password, for: request))
        }
        let link = try await store.link(.share, to: entry, by: request.member.uid, terms)
        let isOpen = link.password == nil
        return .object { json in
            json.member("url", request.url(link.components, settings))
            json.member("expires", link.expires)
            json.member("visibility", isOpen ? "PUBLIC" : "PASSWORD")
            json.member("has_password", isOpen ? nil : true)
            json.member("location", link.keepsLocation ? "keep" : "remove")
        }
    }

    /// Answers `POST /media/<root>/<path>`; `location` is as for ``share(_:)``, except that by default a film or a
    /// photo whose place cannot be removed is given unchanged: old programs have no other way to show them, and the
    /// link expires within hours.
    func mediaLink(_ request: MemberRequest) async throws -> Response {
        let entry = try await linkable(request)
        if entry.isFolder { throw APIError(400, "a folder has no bytes", parameter: "path") }
        var terms = Link.Terms(keepsLocation: try keepsLocation(request))
        if terms.keepsLocation == nil, try await isTiedToPlace(entry) { terms.keepsLocation = true }
        try await checkForm(of: entry, terms)
        let link = try await store.link(.media, to: entry, by: request.member.uid, terms)
        return .object { json in
            json.member("url", request.url(link.components, settings))
            json.member("expires", link.expires)
        }
    }

    /// Answers `GET /copy_ref/<root>/<path>`.
    func copyReference(_ request: MemberRequest) async throws -> Response {
        let link = try await store.link(.copy, to: linkable(request), by: request.member.uid, Link.Terms())
        return .object { json in
            json.member("copy_ref", link.secret)
            json.member("expires", link.expires)
        }
    }

    /// Answers `GET /sync/links`: a member's own links, to an owner all.
    func links(_ request: MemberRequest) async throws -> Response {
        let before = try request.parameters.integer("before", in: 1...Int64.max) ?? .max
        let member = request.member
        let found = try await reader.inTurn(for: request) { [store] in
            try await store.links(seenBy: member, nil, before: before, limit: Self.mostLinks + 1)
        }
        let links = found.prefix(Self.mostLinks).map { link in
            PublicLink(
                id: link.id, kind: link.purpose == .media ? .media : .share, path: link.path,
                url: request.url(link.components, settings),
                created: link.created, expires: link.expires, member: link.member)
        }
        return .json(PublicLinkPage(links: links, hasMore: found.count > Self.mostLinks))
    }

    /// Answers `POST /sync/links/revoke`.
    func revokeLink(_ request: MemberRequest) async throws -> Response {
        let id = try Parameters.required("id", request.parameters.integer("id", in: 1...Int64.max))
        guard try await store.removeLink(id, for: request.member) else {
            throw APIError(404, "the link was not found")
        }
        return .object { _ in }
    }

    private func keepsLocation(_ request: MemberRequest) throws(APIError) -> Bool? {
        switch request.parameters["location"] {
        case nil: nil
        case "keep": true
        case "remove": false
        default: throw APIError(400, "expected keep or remove", parameter: "location")
        }
    }

    /// Refuses a link to a file whose place cannot be removed, unless the request keeps the place.
    private func checkForm(of entry: FolderEntry, _ terms: Link.Terms) async throws {
        if entry.isFolder || terms.keepsLocation == true { return }
        if try await isTiedToPlace(entry) { throw PlacelessForm.refusal }
    }

    private func isTiedToPlace(_ entry: FolderEntry) async throws -> Bool {
        try await PlacelessForm(of: entry, try await store.content(of: entry)) == .none
    }

    /// Hashes a link's new password when it is the member's turn.
    private func hash(_ password: String, for request: MemberRequest) async throws -> PasswordHash {
        try PasswordHash.checkLength(of: password)
        return try await request.inTurn(of: shares.knownPasswordHashes, for: request.requester) {
            try await PasswordHash.make(password)
        }
    }

    /// The live entry to link to; the root cannot have a link.
    private func linkable(_ request: MemberRequest) async throws -> FolderEntry {
        let path = try request.path()
        if path.isRoot { throw APIError(400, "the root cannot be linked", parameter: "path") }
        guard let entry = try await store.read({ try $0.live(path) }) else { throw APIError.notFound(path) }
        return entry
    }
}

extension PublicLink: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("id", id)
        json.member("kind", kind.rawValue)
        json.member("path", path.string)
        json.member("url", url)
        json.member("created", created)
        json.member("expires", expires)
        json.member("member", member)
    }
}

extension PublicLinkPage: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("links", links)
        json.member("has_more", hasMore)
    }
}
