import ByteClubCore
import HTTPTypes
import NIOCore

extension ClubAPI {
    /// Answers `GET /files/<root>/<path>`.
    func files(_ call: Call) async throws -> Answer {
        let revision = try call.parameters.revision("rev")
        let path = try call.path()
        let (entry, content) = try await store.file(path, revision: revision)
        let type = MediaType(name: entry.path.name)
        var headers: HTTPFields = [
            .contentType: type.isText ? type.mime + "; charset=UTF-8" : type.mime,
            .acceptRanges: "bytes",
            .metadata: String(decoding: Metadata(entry).json(isASCII: true), as: UTF8.self),
        ]
        switch ByteRange(call.headers[.range], length: entry.bytes) {
        case .whole:
            return Answer(.ok, headers: headers, body: try Self.body(of: content, 0..<entry.bytes))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.bytes)"
            return Answer(.partialContent, headers: headers, body: try Self.body(of: content, range))
        case .unsatisfiable:
            var refusal = Answer.refusal(APIError(416, "the file has \(entry.bytes) bytes", parameter: "Range"))
            refusal.headers[.contentRange] = "bytes */\(entry.bytes)"
            return refusal
        }
    }

    private static func body(of content: StoredContent, _ range: Range<Int64>) throws -> Answer.Body {
        switch content {
        case .bytes(let bytes):
            let part = bytes.dropFirst(Int(range.lowerBound)).prefix(range.count)
            guard part.count == range.count else { throw StorageError(.damaged, "a small content has a wrong length") }
            return .bytes(ByteBuffer(bytes: part))
        case .file(let path, let length):
            guard length >= range.upperBound else { throw StorageError(.damaged, "a content has a wrong length") }
            return .file(try StoredFile(path: path), range)
        }
    }
}
