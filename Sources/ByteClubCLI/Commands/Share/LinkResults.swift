import ByteClubCore

/// A link just made; as JSON an object with url and expires.
struct MadeLink: CommandResult {
    var link: SharedLink

    var isVisible: Bool { true }

    func text(_ style: TextStyle) -> String { style.link(link.url) }

    private enum CodingKeys: String, CodingKey { case url, expires }

    func encode(to encoder: any Encoder) throws {
        var box = encoder.container(keyedBy: CodingKeys.self)
        try box.encode(link.url, forKey: .url)
        try box.encode(link.expires.rfc3339, forKey: .expires)
    }
}

/// Links, the newest first; as JSON an array of ``LinkObject``s.
struct LinkList: CommandResult {
    var links: [PublicLink]
    /// The shared folder, which is left out of the paths in it.
    var folder: RemotePath

    /// The most links that are taken from a server.
    private static let most = 100_000

    /// All links, page by page: each page has those with a lower number than `before`.
    ///
    /// - Throws: A ``Failure`` 76 for a server that lists them in another order or without end, and what `page` throws.
    static func read(
        _ page: (_ before: Int64?) async throws -> PublicLinkPage
    ) async throws -> [PublicLink] {
        var links: [PublicLink] = []
        while true {
            let next = try await page(links.last?.id)
            for link in next.links {
                guard link.id < links.last?.id ?? .max, links.count < most else {
                    throw Failure(.protocolViolation, "the server lists links without end")
                }
                links.append(link)
            }
            if !next.hasMore || next.links.isEmpty { return links }
        }
    }

    var isVisible: Bool { true }

    /// Number, path, kind, maker and end in columns that fit the terminal; elsewhere separated by tabs.
    func text(_ style: TextStyle) -> String {
        var table = TextTable(
            .init("LINK", .right), .init("PATH", isShortened: true), .init("KIND", rank: 3), .init("BY", rank: 2),
            .init("UNTIL", rank: 1))
        for link in links {
            table.rows.append([
                String(link.id), link.path(in: folder), link.kind == .share ? "shared" : "direct",
                style.member(link.member), style.date(link.expires),
            ])
        }
        return style.list(table)
    }

    func encode(to encoder: any Encoder) throws { try links.map(LinkObject.init).encode(to: encoder) }
}

/// Links that work no longer; as JSON an array of ``LinkObject``s.
struct LinksTakenBack: CommandResult {
    var links: [PublicLink]
    /// The shared folder, which is left out of the paths in it.
    var folder: RemotePath

    func text(_ style: TextStyle) -> String {
        style.lines(links.map { "revoked link \($0.id) to '\($0.path(in: folder))'" })
    }

    func encode(to encoder: any Encoder) throws { try links.map(LinkObject.init).encode(to: encoder) }
}

/// The JSON object of a link.
struct LinkObject: Encodable {
    var id: Int64
    var kind: String
    var path: RemotePath
    var url: String
    var member: String
    /// As RFC 3339 in UTC.
    var created: String
    /// As RFC 3339 in UTC.
    var expires: String

    /// Takes what the server tells.
    init(_ link: PublicLink) {
        (id, kind, path, url, member) = (link.id, link.kind.rawValue, link.path, link.url, link.member)
        (created, expires) = (link.created.rfc3339, link.expires.rfc3339)
    }
}

extension PublicLink {
    /// The path as it is named in the shared folder; the whole one for what is elsewhere.
    fileprivate func path(in folder: RemotePath) -> String {
        let (whole, start) = (path.string, folder.string + "/")
        return whole.hasPrefix(start) ? String(whole.dropFirst(start.count)) : whole
    }
}
