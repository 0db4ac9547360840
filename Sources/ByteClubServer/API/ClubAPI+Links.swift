import ByteClubCore
import HTTPTypes

extension ClubAPI {
    /// The most links that one answer tells.
    private static let mostLinks = 1000

    /// Answers `POST /shares/<root>/<path>`; `expires_in`, an extension, says in how many seconds the link is to end.
    func share(_ call: Call) async throws -> Answer {
        _ = try call.parameters.bool("short_url", default: true)
        let lifetime = try call.parameters.integer("expires_in", in: Link.lifetimes)
        let link = try await store.link(
            .share, to: linkable(call), by: call.requireMember().uid, lifetime: lifetime)
        return .json(
            LinkAnswer(
                name: "url", text: url(call, link.components), expires: link.expires, visibility: "PUBLIC"))
    }

    /// Answers `POST /media/<root>/<path>`.
    func mediaLink(_ call: Call) async throws -> Answer {
        let entry = try await linkable(call)
        if entry.isFolder { throw APIError(400, "a folder has no bytes", parameter: "path") }
        let link = try await store.link(.media, to: entry, by: call.requireMember().uid, lifetime: nil)
        return .json(LinkAnswer(name: "url", text: url(call, link.components), expires: link.expires))
    }

    /// Answers `GET /view/<secret>/<name>`: the bytes, without an account.
    func view(_ call: Call) async throws -> Answer {
        guard let secret = call.place.first, let entry = try await store.entry(.media, secret: secret, below: "")
        else { throw APIError(404, "the link was not found; it may have expired") }
        return try await bytes(of: entry, for: call)
    }

    /// Answers `GET /copy_ref/<root>/<path>`.
    func copyReference(_ call: Call) async throws -> Answer {
        let link = try await store.link(
            .copy, to: linkable(call), by: call.requireMember().uid, lifetime: nil)
        return .json(LinkAnswer(name: "copy_ref", text: link.secret, expires: link.expires))
    }

    /// Answers `GET /sync/links`: a member's own links, to an owner all.
    func links(_ call: Call) async throws -> Answer {
        let before = try call.parameters.integer("before", in: 1...Int64.max) ?? .max
        let member = try call.requireMember()
        let found = try await inTurn(call) { [store] in
            try await store.links(seenBy: member, nil, before: before, limit: Self.mostLinks + 1)
        }
        let links = found.prefix(Self.mostLinks).map { link in
            PublicLink(
                id: link.id, kind: link.purpose == .media ? .media : .share, path: link.path,
                url: url(call, link.components),
                created: link.created, expires: link.expires, member: link.member)
        }
        return .json(PublicLinkPage(links: links, hasMore: found.count > Self.mostLinks))
    }

    /// Answers `POST /sync/links/revoke`.
    func revokeLink(_ call: Call) async throws -> Answer {
        guard let id = try call.parameters.integer("id", in: 1...Int64.max) else {
            throw APIError(400, "the parameter is missing", parameter: "id")
        }
        guard try await store.removeLink(id, for: call.requireMember()) else {
            throw APIError(404, "the link was not found")
        }
        return .json(Array("{}".utf8))
    }

    /// The live entry that a link is asked for; the root has none.
    private func linkable(_ call: Call) async throws -> FolderEntry {
        let path = try call.path()
        if path.isRoot { throw APIError(400, "the root cannot be linked", parameter: "path") }
        guard let entry = try await store.read({ try $0.live(path) }) else { throw APIError.notFound(path) }
        return entry
    }

    /// The URL of a place on this server, as the client of a call can reach it.
    func url(_ call: Call, _ components: [String]) -> String { call.url(components, settings) }
}

/// What the operations that make links answer.
private struct LinkAnswer: JSONWritable {
    let name: StaticString
    let text: String
    let expires: APIDate
    var visibility: String?

    func write(to json: inout JSONText) {
        json.object { json in
            json.key(name)
            json.value(text)
            json.key("expires")
            json.date(expires)
            if let visibility {
                json.key("visibility")
                json.value(visibility)
            }
        }
    }
}

extension PublicLink: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.key("id")
            json.value(id)
            json.key("kind")
            json.value(kind.rawValue)
            json.key("path")
            json.value(path.string)
            json.key("url")
            json.value(url)
            json.key("created")
            json.date(created)
            json.key("expires")
            json.date(expires)
            json.key("member")
            json.value(member)
        }
    }
}

extension PublicLinkPage: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.key("links")
            links.write(to: &json)
            json.key("has_more")
            json.value(hasMore)
        }
    }
}
