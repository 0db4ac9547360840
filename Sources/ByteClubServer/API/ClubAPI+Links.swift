import ByteClubCore
import HTTPTypes

extension ClubAPI {
    /// How long a shared link works, in seconds: a year after it was last asked for.
    private static let shareLifetime: Int64 = 365 * 86_400
    /// How long a direct link to a file works, in seconds: the protocol's four hours.
    private static let mediaLifetime: Int64 = 4 * 3600
    /// How long a copy reference works, in seconds: thirty years, as the first server did.
    private static let copyLifetime: Int64 = 30 * 365 * 86_400

    /// Answers `POST /shares/<root>/<path>`.
    func share(_ call: Call) async throws -> Answer {
        _ = try call.parameters.bool("short_url", default: true)
        let entry = try await linkable(call)
        let link = try await store.link(
            .share, to: entry.path, member: call.requireMember().uid, expires: expiry(Self.shareLifetime))
        let url = url(call, ["s", link.secret, entry.path.name])
        return .json(LinkAnswer(name: "url", text: url, expires: link.expires, visibility: "PUBLIC"))
    }

    /// Answers `POST /media/<root>/<path>`.
    func mediaLink(_ call: Call) async throws -> Answer {
        let entry = try await linkable(call)
        if entry.isFolder { throw APIError(400, "a folder has no bytes", parameter: "path") }
        let link = MediaLink(
            revision: entry.revision, member: try call.requireMember().uid, expires: expiry(Self.mediaLifetime))
        let url = url(call, ["1", "view", link.sealed(with: store.signingKey), entry.path.name])
        return .json(LinkAnswer(name: "url", text: url, expires: link.expires))
    }

    /// Answers `GET /view/<secret>/<name>`: the bytes, without an account.
    func view(_ call: Call) async throws -> Answer {
        guard let secret = call.place.first, let link = MediaLink(sealed: secret, key: store.signingKey),
            settings.now() < link.expires.seconds,
            let entry = try await store.file(at: link.revision, linkedBy: link.member)
        else { throw APIError(404, "the link was not found; it may have expired") }
        return try await bytes(of: entry, for: call)
    }

    /// Answers `GET /copy_ref/<root>/<path>`.
    func copyReference(_ call: Call) async throws -> Answer {
        let entry = try await linkable(call)
        let link = try await store.link(
            .copy, to: entry.path, member: call.requireMember().uid, expires: expiry(Self.copyLifetime))
        return .json(LinkAnswer(name: "copy_ref", text: link.secret, expires: link.expires))
    }

    /// The live entry that a link is asked for; the root has none.
    private func linkable(_ call: Call) async throws -> FolderEntry {
        let path = try call.path()
        if path.isRoot { throw APIError(400, "the root cannot be linked", parameter: "path") }
        guard let entry = try await store.read({ try $0.live(path) }) else { throw APIError.notFound(path) }
        return entry
    }

    private func expiry(_ lifetime: Int64) -> APIDate { APIDate(seconds: settings.now() + lifetime) }

    /// The URL of a place on this server, as the client of a call can reach it.
    func url(_ call: Call, _ components: [String]) -> String {
        var base = settings.publicURL.isEmpty ? call.origin(settings) : settings.publicURL
        while base.hasSuffix("/") { base.removeLast() }
        return base + components.map { "/" + PercentCoding.encode($0) }.joined()
    }
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
