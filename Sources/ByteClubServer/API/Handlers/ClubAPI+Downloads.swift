import ByteClubCore
import HTTPTypes
import NIOCore

/// Hands out the bytes of files, and smaller pictures of photos.
extension ClubAPI {
    /// Answers `GET /files/<root>/<path>`.
    func downloadFile(_ request: MemberRequest) async throws -> Response {
        let revision = try request.parameters.revision("rev")
        let path = try request.path()
        let (entry, content) = try await store.file(path, revision: revision)
        return try .file(entry, content, for: request, headers: [.metadata: await header(entry)])
    }

    /// Answers `GET /thumbnails/<root>/<path>`.
    func thumbnail(_ request: MemberRequest) async throws -> Response {
        let parameters = request.parameters
        let size = try parameters.value("size", or: "expected xs, s, m, l or xl") { ThumbnailSize(word: $0) } ?? .s
        let format = try parameters.value("format", or: "expected jpeg or png") { ThumbnailImageFormat(word: $0) }
        let path = try request.path()
        let entry = try await store.read { try $0.file(path, revision: nil) }
        var response = try await thumbnail(of: entry, size: size, format: format ?? .jpeg, for: request)
        response.headers[.metadata] = try await header(entry)
        return response
    }

    /// A thumbnail of a photo, made as long as the client waits for it.
    ///
    /// - Throws: ``APIError`` 404 for a file that has none, 415 for a photo that cannot be decoded, 429 or 503 when too
    ///   many requests wait; `CancellationError` when the client hangs up.
    func thumbnail(
        of entry: FolderEntry, size: ThumbnailSize, format: ThumbnailImageFormat, for request: some RequestContext
    ) async throws -> Response {
        guard MediaType(name: entry.path.name).hasThumbnail, entry.bytes <= PictureStore.thumbnailSourceLimit,
            let hash = entry.contentHash
        else { throw APIError(404, "a thumbnail of '\(entry.path)' was not found") }
        let (store, pictures, requester) = (store, pictures, request.requester)
        let bytes = try await request.whileClientWaits {
            try await pictures.thumbnail(of: hash, size: size, format: format, for: requester) {
                try await store.content(of: entry)
            }
        }
        return Response(.ok, headers: [.contentType: format.mime], body: .bytes(ByteBuffer(bytes: bytes)))
    }

    private func header(_ entry: FolderEntry) async throws -> String {
        let name = try await store.name(ofMember: entry.author)
        let metadata = Metadata(entry, by: name.map { Modifier(uid: entry.author, displayName: $0) })
        return String(decoding: metadata.json(isASCII: true), as: UTF8.self)
    }
}
