import ByteClubCore

/// A new link; as JSON an object with url and expires.
struct MadeLink: CommandResult {
    var url: String
    /// As RFC 3339 in UTC.
    var expires: String
    var isVisible: Bool { true }

    func text(_ style: TextStyle) -> String { style.link(url) }
}

/// Links, the newest first; as JSON an array of ``LinkObject``s.
struct LinkList: CommandResult {
    var links: [PublicLink]
    /// The shared folder, which paths are relative to.
    var folder: RemotePath

    /// The most links to read from a server.
    private static let most = 100_000

    /// Reads all links, page by page; each page has links with lower numbers than `before`.
    ///
    /// - Throws: A ``Failure`` 76 for a server whose list is unsorted or endless, and errors of `page`.
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

    /// Number, path, kind, author and expiry in columns that fit the terminal; elsewhere separated by tabs.
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

/// Revoked links; as JSON an array of ``LinkObject``s.
struct LinksTakenBack: CommandResult {
    var links: [PublicLink]
    /// The shared folder, which paths are relative to.
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

    /// Converts a link from the server.
    init(_ link: PublicLink) {
        (id, kind, path, url, member) = (link.id, link.kind.rawValue, link.path, link.url, link.member)
        (created, expires) = (link.created.rfc3339, link.expires.rfc3339)
    }
}

extension PublicLink {
    /// The path relative to the shared folder; the whole path for entries elsewhere.
    fileprivate func path(in folder: RemotePath) -> String {
        let (whole, start) = (path.string, folder.string + "/")
        return whole.hasPrefix(start) ? String(whole.dropFirst(start.count)) : whole
    }
}

/// The links that an argument refers to: a number, a URL, or a path.
enum LinkChoice: Hashable, Sendable {
    /// The link with a number, else the links to a path of that name.
    case number(Int64, RemotePath?)
    /// The link with a secret, whatever its host and the rest of its URL.
    case secret(Substring)
    /// All links that lead to a path.
    case path(RemotePath?)

    /// Parses an argument; `path` is its value as a path.
    init(_ text: String, path: RemotePath?) {
        if text.contains("://") {
            self = .secret(Self.secret(in: text) ?? "")
        } else if let number = Int64(text), number > 0 {
            self = .number(number, path)
        } else {
            self = .path(path)
        }
    }

    /// The links of a list that it refers to.
    func chosen(from links: [PublicLink]) -> [PublicLink] {
        switch self {
        case .number(let number, let path):
            let named = links.filter { $0.id == number }
            return named.isEmpty ? links.filter { $0.path.key == path?.key } : named
        case .secret(let secret): return secret.isEmpty ? [] : links.filter { Self.secret(in: $0.url) == secret }
        case .path(let path): return links.filter { $0.path.key == path?.key }
        }
    }

    /// The secret in a link's URL: `https://<host>/s/<secret>/<name>`, or `/1/view/<secret>/<name>`.
    private static func secret(in url: String) -> Substring? {
        let pieces = url.split(separator: "/").dropFirst(2).drop { $0 != "s" && $0 != "view" }
        return pieces.dropFirst().first?.prefix { $0 != "?" && $0 != "#" }
    }
}
