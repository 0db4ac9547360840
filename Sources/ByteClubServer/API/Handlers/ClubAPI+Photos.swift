import ByteClubCore
import HTTPTypes

/// Hands out the pictures of photos that members' pages show, by content, so that browsers need to ask once.
extension ClubAPI {
    /// The most files with one content that are examined.
    static let mostFilesOfPhoto = 1000

    /// Answers `GET /photos/<content hash>/<size>.jpg`, `…/tiles/<column>-<row>.jpg` and `…/original.jpg`, for
    /// signed-in members, as long as a file has that content.
    func photo(_ request: RoutedRequest) async throws -> Response {
        let visit = try await site.visit(request)
        try site.count(visit)
        // Who typed the name alone is a person.
        if request.tail.isEmpty { return site.unknownPage() }
        guard visit.member != nil else { throw APIError(403, "photos are for members: sign in first") }
        guard let hash = request.tail.first.flatMap({ ContentHash($0) }),
            let wish = PictureName(request.tail.dropFirst()),
            let photo = try await store.photos(with: hash, limit: 1).first
        else { throw APIError(404, "the photo was not found") }
        guard let made = wish.made else {
            return try .file(
                photo, await store.content(of: photo), for: request,
                headers: HTTPFields.picture(cache: Self.forEver), tag: EntityTag(text: "\(hash)"))
        }
        return try await picture(of: photo, hash, made, for: request, as: visit.requester, cache: Self.forEver)
    }

    /// A picture that was made of a photo.
    ///
    /// - Throws: ``APIError`` 404 or 415 when there is none, 429 or 503 when too many wait for theirs.
    func picture(
        of photo: FolderEntry, _ hash: ContentHash, _ wish: PictureName.Made, for request: some RequestContext,
        as requester: Requester, cache: String
    ) async throws -> Response {
        var headers = HTTPFields.picture(cache: cache)
        let tag = EntityTag(text: "\(hash)-\(wish.tag)")
        headers[.eTag] = tag.text
        if tag.isNamed(in: request.headers[.ifNoneMatch]) {
            return Response(.notModified, headers: headers, body: .none)
        }
        guard photo.bytes <= PictureStore.sourceLimit else {
            throw APIError(404, "no previews of photos over \(PictureStore.sourceLimit >> 20) MiB")
        }
        let (store, pictures) = (store, pictures)
        let source: @Sendable () async throws -> StoredContent = { try await store.content(of: photo) }
        let (file, range) = try await request.whileClientWaits {
            switch wish {
            case .size(let size):
                let picture = try await pictures.preview(of: hash, size: size, for: requester, source: source)
                return (try picture.open(), 0..<picture.length)
            case .tile(let column, let row):
                return try await pictures.tile(of: hash, column: column, row: row, for: requester, source: source)
            }
        }
        headers[.contentType] = "image/jpeg"
        return Response(.ok, headers: headers, body: .blob(file, range))
    }

    /// The content behind a hash never changes.
    private static let forEver = "private, max-age=31536000, immutable"
}

/// The picture that the last components of a URL name.
enum PictureName: Hashable, Sendable {
    /// A picture that the server makes of a photo.
    enum Made: Hashable, Sendable {
        /// The picture that fits in a box of so many pixels.
        case size(Int)
        /// A part of the photo in its full size, counted from 0 at its top left.
        case tile(column: Int, row: Int)

        /// A text that identifies the picture among those of a photo.
        var tag: String {
            switch self {
            case .size(let size): "\(size)"
            case .tile(let column, let row): "tile-\(column)-\(row)"
            }
        }
    }

    /// The photo's own bytes.
    case original
    case made(Made)

    /// The picture to make; nil for the photo's own bytes.
    var made: Made? { if case .made(let made) = self { made } else { nil } }

    /// Reads `<size>.jpg`, `tiles/<column>-<row>.jpg` and `original.jpg`; nil for anything else.
    init?(_ components: ArraySlice<String>) {
        guard let last = components.last else { return nil }
        if components.count == 2, components.first == "tiles" {
            let numbers = last.prefix(7).split(separator: "-", maxSplits: 1).map { $0.prefix { $0 != "." } }
            guard numbers.count == 2, let column = Int(numbers[0]), let row = Int(numbers[1]),
                column >= 0, row >= 0, last == "\(column)-\(row).jpg"
            else { return nil }
            self = .made(.tile(column: column, row: row))
        } else if components.count != 1 {
            return nil
        } else if last == "original.jpg" {
            self = .original
        } else if let size = PictureStore.sizes.first(where: { last == "\($0).jpg" }) {
            self = .made(.size(size))
        } else {
            return nil
        }
    }
}

extension HTTPFields {
    /// The headers of a picture on pages.
    fileprivate static func picture(cache: String) -> HTTPFields {
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
