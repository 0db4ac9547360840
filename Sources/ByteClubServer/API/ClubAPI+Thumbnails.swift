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
        guard MediaType(name: entry.path.name).hasThumbnail, entry.bytes <= ThumbnailStore.sourceLimit,
            let hash = entry.contentHash
        else { throw APIError(404, "a thumbnail of '\(path)' was not found") }
        let store = store
        let bytes = try await thumbnails.thumbnail(of: hash, size: size, format: format) {
            try await store.content(of: entry)
        }
        let headers: HTTPFields = [
            .contentType: format.mime,
            .metadata: String(decoding: Metadata(entry).json(isASCII: true), as: UTF8.self),
        ]
        return Answer(.ok, headers: headers, body: .bytes(ByteBuffer(bytes: bytes)))
    }
}
