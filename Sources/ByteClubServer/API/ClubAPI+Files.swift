import ByteClubCore
import HTTPTypes
import NIOCore

extension ClubAPI {
    /// Answers `GET /files/<root>/<path>`.
    func files(_ call: Call) async throws -> Answer {
        let revision = try call.parameters.revision("rev")
        let path = try call.path()
        let (entry, content) = try await store.file(path, revision: revision)
        let metadata = String(decoding: Metadata(entry).json(isASCII: true), as: UTF8.self)
        return try answer(call, entry, content, [.metadata: metadata])
    }

    /// Answers with the bytes of a file's version, or with the part of them that the call wants.
    func bytes(of entry: FolderEntry, for call: Call, _ additional: HTTPFields = [:]) async throws -> Answer {
        try answer(call, entry, try await store.content(of: entry), additional)
    }

    /// What a member stored is never a page of this server: what would be one is sent as plain text, and browsers are told
    /// to run nothing, to load nothing for it, and to guess no other type.
    private func answer(
        _ call: Call, _ entry: FolderEntry, _ content: StoredContent, _ additional: HTTPFields
    ) throws -> Answer {
        let type = MediaType(name: entry.path.name)
        let tag = EntityTag(Revision(number: entry.revision))
        var headers = additional
        headers[.eTag] = tag.text
        if tag.isNamed(in: call.headers[.ifNoneMatch]) { return Answer(.notModified, headers: headers, body: .none) }
        let mime = type.isActive ? "text/plain" : type.mime
        headers[.contentType] = type.isActive || type.isText ? mime + "; charset=UTF-8" : mime
        headers[.acceptRanges] = "bytes"
        headers[.contentSecurityPolicy] = "sandbox; default-src 'none'"
        let wantsPart = call.headers[.ifRange].map { $0 == tag.text } ?? true
        switch ByteRange(wantsPart ? call.headers[.range] : nil, length: entry.bytes) {
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
