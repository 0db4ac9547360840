import ByteClubCore
import HTTPTypes

/// The operations that create, list and revoke links.
struct LinkHandlers: Sendable {
    /// The most links in one answer.
    private static let mostLinks = 1000

    let store: any FolderStore & LinkStore
    let reader: FolderReader
    let settings: ClubAPI.Settings

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
        return .json(
            LinkResponse(
                name: "url", text: request.url(link.components, settings), expires: link.expires,
                visibility: link.password == nil ? "PUBLIC" : "PASSWORD",
                password: link.password != nil, keepsLocation: link.keepsLocation))
    }

    /// Answers `POST /media/<root>/<path>`; `location` is as for ``share(_:)``, except that by default a film or a
    /// photo whose place cannot be removed is given unchanged: old programs have no other way to show them, and the
    /// link expires within hours.
    func media(_ request: MemberRequest) async throws -> Response {
        let entry = try await linkable(request)
        if entry.isFolder { throw APIError(400, "a folder has no bytes", parameter: "path") }
        var terms = Link.Terms(keepsLocation: try keepsLocation(request))
        if terms.keepsLocation == nil, try await isTiedToPlace(entry) { terms.keepsLocation = true }
        try await checkForm(of: entry, terms)
        let link = try await store.link(.media, to: entry, by: request.member.uid, terms)
        return .json(LinkResponse(name: "url", text: request.url(link.components, settings), expires: link.expires))
    }

    /// Answers `GET /copy_ref/<root>/<path>`.
    func copyReference(_ request: MemberRequest) async throws -> Response {
        let link = try await store.link(
            .copy, to: linkable(request), by: request.member.uid, Link.Terms())
        return .json(LinkResponse(name: "copy_ref", text: link.secret, expires: link.expires))
    }

    /// Answers `GET /sync/links`: a member's own links, to an owner all.
    func list(_ request: MemberRequest) async throws -> Response {
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
    func revoke(_ request: MemberRequest) async throws -> Response {
        guard let id = try request.parameters.integer("id", in: 1...Int64.max) else {
            throw APIError(400, "the parameter is missing", parameter: "id")
        }
        guard try await store.removeLink(id, for: request.member) else {
            throw APIError(404, "the link was not found")
        }
        return .json(Array("{}".utf8))
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
        let (hashes, requester) = (reader.shares.knownPasswordHashes, request.requester)
        return try await request.whileClientWaits {
            let turn = try await hashes.wait(for: requester)
            defer { withExtendedLifetime(turn) {} }
            return try await PasswordHash.make(password)
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

/// The answer of the endpoints that create links.
private struct LinkResponse: JSONWritable {
    let name: StaticString
    let text: String
    let expires: APIDate
    var visibility: String?
    var password = false
    var keepsLocation: Bool?

    func write(to json: inout JSONText) {
        json.object { json in
            json.key(name)
            json.value(text)
            json.member("expires", expires)
            json.member("visibility", visibility)
            if password {
                json.member("has_password", true)
            }
            if let keepsLocation {
                json.member("location", keepsLocation ? "keep" : "remove")
            }
        }
    }
}

extension PublicLink: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("id", id)
            json.member("kind", kind.rawValue)
            json.member("path", path.string)
            json.member("url", url)
            json.member("created", created)
            json.member("expires", expires)
            json.member("member", member)
        }
    }
}

extension PublicLinkPage: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("links", links)
            json.member("has_more", hasMore)
        }
    }
}
