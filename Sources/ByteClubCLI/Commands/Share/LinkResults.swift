import ByteClubCore

/// A link just made; as JSON the server's answer.
struct MadeLink: CommandResult {
    var link: SharedLink

    func text(_ style: TextStyle) -> String { Failure.line(link.url) }

    func encode(to encoder: any Encoder) throws { try link.encode(to: encoder) }
}

/// Links, the newest first; as JSON an array of the server's objects.
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
                    throw Failure(.protocolViolation, "the server lists links in circles or without end")
                }
                links.append(link)
            }
            if !next.hasMore || next.links.isEmpty { return links }
        }
    }

    /// Number, path, kind, maker and end in columns.
    func text(_ style: TextStyle) -> String {
        var table = Table(.right, .left, .left, .left, .left)
        for link in links {
            table.rows.append([
                String(link.id), link.path(in: folder), link.kind == .share ? "shared" : "direct", link.member,
                "until \(style.calendar(link.expires.seconds))",
            ])
        }
        return table.text
    }

    func encode(to encoder: any Encoder) throws { try links.encode(to: encoder) }
}

/// Links that work no longer; as JSON an array of the server's objects.
struct LinksTakenBack: CommandResult {
    var links: [PublicLink]
    /// The shared folder, which is left out of the paths in it.
    var folder: RemotePath

    func text(_ style: TextStyle) -> String {
        links.map { "took back link \($0.id) to '\(Failure.line($0.path(in: folder)))'" }.joined(separator: "\n")
    }

    func encode(to encoder: any Encoder) throws { try links.encode(to: encoder) }
}

extension PublicLink {
    /// The path as it is named in the shared folder; the whole one for what is elsewhere.
    fileprivate func path(in folder: RemotePath) -> String {
        let (whole, start) = (path.string, folder.string + "/")
        return whole.hasPrefix(start) ? String(whole.dropFirst(start.count)) : whole
    }
}
