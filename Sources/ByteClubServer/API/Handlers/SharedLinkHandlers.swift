import ByteClubCore
import HTTPTypes
import NIOCore

/// Shows what links lead to, without an account.
struct SharedLinkHandlers: Sendable {
    private static let mostEntries = 1000

    let store: any FolderStore & LinkStore
    let reader: FolderReader
    let downloads: DownloadHandlers
    let settings: ClubAPI.Settings

    /// Answers `GET /view/<secret>/<name>`: the bytes, without an account.
    func file(_ request: RoutedRequest) async throws -> Response {
        guard let secret = request.tail.first, let entry = try await store.entry(.media, secret: secret, below: "")
        else { throw APIError(404, "the link was not found; it may have expired") }
        return try .file(entry, await store.content(of: entry), for: request)
    }

    /// Answers `GET /s/<secret>/<name>[/<path below>]`: a page about what is shared, or with `dl=1` its bytes.
    func page(_ request: RoutedRequest) async throws -> Response {
        let isDownload = try request.parameters.bool("dl", default: false)
        let isPicture = try request.parameters.bool("picture", default: false)
        guard let entry = try await shared(request) else { return SharePage.missing.response(.notFound) }
        if entry.isFolder {
            return isDownload || isPicture
                ? SharePage.missing.response(.notFound) : try await page(ofFolder: entry, request).response(.ok)
        }
        if isDownload {
            let name = "attachment; filename*=UTF-8''\(PercentEncoding.encode(entry.path.name))"
            return try .file(
                entry, await store.content(of: entry), for: request,
                headers: [.contentDisposition: name, .referrerPolicy: "no-referrer"])
        }
        if isPicture { return try await downloads.thumbnail(of: entry, size: .l, format: .jpeg, for: request) }
        return try await page(ofFile: entry).response(.ok)
    }

    private func shared(_ request: RoutedRequest) async throws -> FolderEntry? {
        guard let secret = request.tail.first else { return nil }
        return try await store.entry(.share, secret: secret, below: request.tail.dropFirst(2).joined(separator: "/"))
    }

    private func page(ofFile entry: FolderEntry) async throws -> SharePage {
        let type = MediaType(name: entry.path.name)
        var page = SharePage(
            title: entry.path.name,
            summary: "\(HumanSize.text(entry.bytes)), \(WebSite.minute(entry.modified))", download: "?dl=1")
        if type.hasThumbnail, entry.bytes <= ThumbnailStore.sourceLimit { page.picture = "?picture=1" }
        if type.isText, case .bytes(let bytes) = try await store.content(of: entry) {
            page.text = String(validating: bytes, as: UTF8.self)
        }
        return page
    }

    private func page(ofFolder entry: FolderEntry, _ request: RoutedRequest) async throws -> SharePage {
        let children = try await reader.read(for: request) { folder in
            try folder.state.children(entry.path.key, includeDeleted: false, limit: Self.mostEntries + 1)
        }
        let place =
            ["s"] + request.tail.prefix(1) + (request.tail.count > 1 ? request.tail.dropFirst() : [entry.path.name])
        let rows = children.prefix(Self.mostEntries).map { child in
            SharePage.Row(
                name: child.path.name, url: request.url(place + [child.path.name], settings),
                size: child.isFolder ? "folder" : HumanSize.text(child.bytes))
        }
        let count = "\(rows.count) \(rows.count == 1 ? "entry" : "entries")"
        let isCut = children.count > Self.mostEntries
        return SharePage(title: entry.path.name, summary: isCut ? "the first \(count)" : count, rows: rows)
    }
}
