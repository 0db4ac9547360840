import ByteClubCore
import HTTPTypes
import NIOCore

extension ClubAPI {
    /// Answers `GET /thumbnails/<root>/<path>`.
    func thumbnail(_ call: Call) async throws -> Answer {
        guard let size = ThumbnailSize(word: call.parameters["size"] ?? "s") else {
            throw APIError(400, "expected xs, s, m, l or xl", parameter: "size")
        }
        guard let format = ThumbnailImageFormat(word: call.parameters["format"] ?? "jpeg") else {
            throw APIError(400, "expected jpeg or png", parameter: "format")
        }
        let path = try call.path()
        let entry = try await store.read { try $0.file(path, revision: nil) }
        var answer = try await thumbnail(of: entry, size: size, format: format, for: call)
        answer.headers[.metadata] = String(decoding: Metadata(entry).json(isASCII: true), as: UTF8.self)
        return answer
    }

    /// A smaller picture of a photo, as long as the client waits for it.
    ///
    /// - Throws: ``APIError`` 404 for a file that has none, 415 for a photo that cannot be decoded, 429 or 503 when too
    ///   many wait for theirs; `CancellationError` when the client is gone.
    func thumbnail(
        of entry: FolderEntry, size: ThumbnailSize, format: ThumbnailImageFormat, for call: Call
    ) async throws -> Answer {
        guard MediaType(name: entry.path.name).hasThumbnail, entry.bytes <= ThumbnailStore.sourceLimit,
            let hash = entry.contentHash
        else { throw APIError(404, "a thumbnail of '\(entry.path)' was not found") }
        let (store, thumbnails, party) = (store, thumbnails, call.party)
        let bytes = try await call.whileClientWaits {
            try await thumbnails.thumbnail(of: hash, size: size, format: format, for: party) {
                try await store.content(of: entry)
            }
        }
        return Answer(.ok, headers: [.contentType: format.mime], body: .bytes(ByteBuffer(bytes: bytes)))
    }
}
