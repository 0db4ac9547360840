import ByteClubCore
import HTTPTypes
import NIOCore

/// The pages and files behind links, for people without an account; photos have no place unless the link keeps it.
extension ClubAPI {
    /// Browsers ask again after this time, so that a revoked link stops working.
    private static let pictureCache = "private, max-age=3600"

    private var club: String? { site.clubName }

    /// Answers `GET /view/<secret>/<name>`: the bytes, without an account.
    func linkedFile(_ request: RoutedRequest) async throws -> Response {
        guard let secret = request.tail.first, let link = try await store.link(.media, secret: secret),
            let entry = try await store.entry(.media, secret: secret, below: "")
        else { throw APIError(404, "the link was not found; it may have expired") }
        request.request.open.rest(on: .link(.media, secret))
        return try await bytes(of: entry, link, for: request)
    }

    /// Answers `GET /s/<secret>/<name>[/<path below>]`: a page about the shared entry, or with `dl=1` its bytes, of a
    /// folder a zip file; and the pictures of the page, at `/s/<secret>/<size>.jpg`,
    /// `/s/<secret>/-/<content hash>/<size>.jpg` and `…/tiles/<column>-<row>.jpg`.
    ///
    /// A link with a password shows a form until the password was sent once, by `POST`.
    func sharedPage(_ request: RoutedRequest) async throws -> Response {
        let isDownload = try request.parameters.bool("dl", default: false)
        let isPicture = try request.parameters.bool("picture", default: false)
        guard let secret = request.tail.first, let link = try await store.link(.share, secret: secret) else {
            return request.method == .post ? notAllowed() : SharePage.missing.response(.notFound, of: club)
        }
        request.request.open.rest(on: .link(.share, secret))
        if let response = try await askPassword(of: link, request) { return response }
        if let response = try await picture(link, request) { return response }
        if let response = try await storyPhoto(link, request, isDownload: isDownload) { return response }
        let below = request.tail.dropFirst(2).joined(separator: "/")
        guard let entry = try await store.entry(.share, secret: secret, below: below) else {
            let page =
                below.isEmpty
                ? SharePage.missing
                : SharePage.gone(from: link, rootURL: "/s/\(secret)/" + PercentEncoding.encode(link.path.name))
            return page.response(.notFound, of: club)
        }
        if isDownload, !entry.isFolder {
            return try await download(entry, link, request)
        }
        if isDownload {
            do {
                return try await archive(of: entry, link, request)
            } catch let error as APIError {
                var response = SharePage.refused(error).response(HTTPResponse.Status(code: error.status), of: club)
                response.headers[.retryAfter] = error.retryAfter.map(String.init)
                return response
            }
        }
        if isPicture, !entry.isFolder {
            return try await thumbnail(of: entry, size: .l, format: .jpeg, for: request)
        }
        if isPicture { return SharePage.missing.response(.notFound, of: club) }
        return try await builder(link, request).page(of: entry).response(.ok, of: club)
    }

    private func builder(_ link: Link, _ request: RoutedRequest) -> SharePageBuilder {
        SharePageBuilder(
            store: store, reader: reader, media: media, settings: settings, link: link, request: request, club: club)
    }

    private func download(_ file: FolderEntry, _ link: Link, _ request: RoutedRequest) async throws -> Response {
        let name = "attachment; filename*=UTF-8''\(PercentEncoding.encode(file.path.name))"
        return try await bytes(
            of: file, link, for: request, headers: [.contentDisposition: name, .referrerPolicy: "no-referrer"])
    }

    /// Answers `GET /s/<secret>/-/<content hash>`: the page or the bytes of a photo that a shared note shows; nil when
    /// the URL names none.
    private func storyPhoto(_ link: Link, _ request: RoutedRequest, isDownload: Bool) async throws -> Response? {
        let pieces = Array(request.tail.dropFirst())
        guard pieces.count == 2, pieces[0] == "-", let hash = ContentHash(pieces[1]),
            let root = try await store.entry(.share, secret: link.secret, below: ""),
            let story = try await SharedStory(of: root, below: nil, in: store), let photo = story.photo(with: hash)
        else { return nil }
        if isDownload { return try await download(photo, link, request) }
        return try await builder(link, request).page(of: photo, in: story).response(.ok, of: club)
    }

    /// A file's bytes, or the copy of them that a link may give.
    private func bytes(
        of entry: FolderEntry, _ link: Link, for request: RoutedRequest, headers: HTTPFields = [:]
    ) async throws -> Response {
        let content = try await store.content(of: entry)
        if link.keepsLocation { return try .file(entry, content, for: request, headers: headers) }
        let (pictures, requester) = (pictures, request.requester)
        let given = try await request.whileClientWaits { try await pictures.shareable(entry, content, for: requester) }
        guard case .blob(let copy) = given, let hash = entry.contentHash else {
            return try .file(entry, given, for: request, headers: headers)
        }
        var entry = entry
        entry.bytes = copy.length
        return try .file(entry, given, for: request, headers: headers, tag: EntityTag(text: "\(hash)-\(copy.length)"))
    }

    /// A picture that a shared page shows; nil when the URL names none.
    private func picture(_ link: Link, _ request: RoutedRequest) async throws -> Response? {
        let pieces = Array(request.tail.dropFirst())
        let isByContent = pieces.first == "-"
        guard let wish = PictureName(pieces.dropFirst(isByContent ? 2 : 0))?.made,
            let root = try await store.entry(.share, secret: link.secret, below: "")
        else { return nil }
        let photo: FolderEntry?
        if pieces.count == 1, !root.isFolder, root.path.name != pieces[0] {
            photo = root
        } else if isByContent {
            guard let hash = ContentHash(pieces[1]) else { return nil }
            if let story = try await SharedStory(of: root, below: nil, in: store) {
                photo = story.photo(with: hash)
            } else {
                let found = try await store.photos(with: hash, limit: Self.mostFilesOfPhoto)
                photo = found.first { $0.node == root.node || (root.isFolder && $0.path.key.isBelow(root.path.key)) }
            }
        } else {
            return nil
        }
        guard let photo, let hash = photo.contentHash, MediaType(name: photo.path.name).hasThumbnail else {
            throw APIError(404, "the photo was not found")
        }
        return try await picture(
            of: photo, hash, wish, for: request, as: request.requester, cache: Self.pictureCache)
    }

    // MARK: Passwords

    /// The form for the password, or the answer to it; nil when the visitor may continue.
    private func askPassword(of link: Link, _ request: RoutedRequest) async throws -> Response? {
        guard let password = link.password else { return request.method == .post ? notAllowed() : nil }
        let pass = SharePass(link, password, key: site.csrfKey)
        guard request.method == .post else {
            return pass.isShown(by: request, site) ? nil : SharePage.locked(problem: nil).response(.forbidden, of: club)
        }
        let name = "/s/" + link.secret
        let verdict = settings.signIns.attempt(name, from: request.client.address, nil)
        if case .refused(let wait) = verdict {
            let error = WebSite.tooMany(wait)
            var response = SharePage.locked(problem: error.message).response(.tooManyRequests, of: club)
            response.headers[.retryAfter] = error.retryAfter.map(String.init)
            return response
        }
        let typed = request.parameters["password"] ?? ""
        let isRight = try await site.inTurn(request, verdict) {
            try await PasswordHash.verify(typed, against: password)
        }
        guard isRight else { return SharePage.locked(problem: "Wrong password.").response(.forbidden, of: club) }
        settings.signIns.forget(name, from: request.client.address, nil)
        // Redirects to the requested address, unless that contains the password.
        let query = request.query.isEmpty || request.query.contains("password=") ? "" : "?" + request.query
        return site.redirect(
            "/" + request.rawPath.drop { $0 == "/" } + query, cookies: [pass.cookie(for: request, site)])
    }

    private func notAllowed() -> Response {
        .refusal(APIError(405, "POST is not allowed here"), allowing: [.get, .head])
    }
}
