import ByteClubCore
import HTTPTypes

/// Hands out the pictures of photos that members' pages show, by content, so that browsers need to ask once.
struct PhotoHandlers: Sendable {
    /// How many files with one content are looked at.
    static let mostFiles = 1000

    let store: any FolderStore & MediaInfoStore
    let renditions: RenditionStore
    let site: WebSite

    /// Answers `GET /photos/<content hash>/<size>.jpg` and `…/original.jpg`, for members who are signed in, as long as a
    /// file has that content.
    func picture(_ request: RoutedRequest) async throws -> Response {
        guard let member = try await site.visit(request).member else {
            try site.settings.limits.countAnonymous(from: request.client.address)
            throw APIError(403, "pictures are for members: sign in first")
        }
        guard request.tail.count == 2, let hash = request.tail.first.flatMap({ ContentHash($0) }),
            let wish = request.tail.last.flatMap({ PictureName($0) }),
            let photo = try await store.photos(with: hash, limit: 1).first
        else { throw APIError(404, "the picture was not found") }
        switch wish {
        case .original:
            return try .file(
                photo, await store.content(of: photo), for: request,
                headers: PictureHeaders.make(cache: Self.forEver), tag: EntityTag(text: "\(hash)"))
        case .size(let size):
            return try await picture(of: photo, hash, size, for: request, as: .member(member.uid), cache: Self.forEver)
        }
    }

    /// A picture of a photo in a size.
    ///
    /// - Throws: ``APIError`` 404 or 415 when there is none, 429 or 503 when too many wait for theirs.
    func picture(
        of photo: FolderEntry, _ hash: ContentHash, _ size: Int, for request: some RequestContext, as party: Party,
        cache: String
    ) async throws -> Response {
        var headers = PictureHeaders.make(cache: cache)
        let tag = EntityTag(text: "\(hash)-\(size)")
        headers[.eTag] = tag.text
        if tag.isNamed(in: request.headers[.ifNoneMatch]) {
            return Response(.notModified, headers: headers, body: .none)
        }
        guard photo.bytes <= RenditionStore.sourceLimit else {
            throw APIError(404, "there are no pictures of photos over \(RenditionStore.sourceLimit >> 20) MiB")
        }
        let (store, renditions) = (store, renditions)
        let picture = try await request.whileClientWaits {
            try await renditions.picture(of: hash, size: size, for: party) { try await store.content(of: photo) }
        }
        headers[.contentType] = "image/jpeg"
        return Response(.ok, headers: headers, body: .blob(try picture.open(), 0..<picture.length))
    }

    /// What a content hash names never changes.
    private static let forEver = "private, max-age=31536000, immutable"
}

/// What of a photo a URL's last component names.
enum PictureName: Hashable, Sendable {
    /// The photo's own bytes.
    case original
    /// The picture that fits in a box of so many pixels.
    case size(Int)

    /// Reads `<size>.jpg` and `original.jpg`; nil for anything else.
    init?(_ text: String) {
        if text == "original.jpg" {
            self = .original
        } else if let size = RenditionStore.sizes.first(where: { text == "\($0).jpg" }) {
            self = .size(size)
        } else {
            return nil
        }
    }
}

/// The headers of pictures on pages.
private enum PictureHeaders {
    static func make(cache: String) -> HTTPFields {
        [
            .cacheControl: cache, .crossOriginResourcePolicy: "same-origin",
            .contentSecurityPolicy: "sandbox; default-src 'none'", .referrerPolicy: "no-referrer",
        ]
    }
}

extension HTTPField.Name {
    /// Which pages may show a picture.
    static let crossOriginResourcePolicy = known("Cross-Origin-Resource-Policy")
}
