import ByteClubCore
import HTTPTypes
import NIOCore

extension Response {
    /// The bytes of a file's version, or the part of them that the request wants.
    ///
    /// What a member stored is never a page of this server: what would be one is sent as plain text, and browsers are
    /// told to run nothing, to load nothing for it, and to guess no other type.
    ///
    /// The tag is the version's unless another is given, for what is not the version's bytes.
    ///
    /// - Throws: ``StorageError`` `damaged` when the content is not as long as the entry says, ``StoredFileError`` when
    ///   its file cannot be opened.
    static func file(
        _ entry: FolderEntry, _ content: StoredContent, for request: some RequestContext, headers: HTTPFields = [:],
        tag: EntityTag? = nil
    ) throws -> Response {
        let type = MediaType(name: entry.path.name)
        let tag = tag ?? EntityTag(JournalRevision(number: entry.revision))
        var headers = headers
        headers[.eTag] = tag.text
        if tag.isNamed(in: request.headers[.ifNoneMatch]) {
            return Response(.notModified, headers: headers, body: .none)
        }
        let mime = type.isActive ? "text/plain" : type.mime
        headers[.contentType] = type.isActive || type.isText ? mime + "; charset=UTF-8" : mime
        headers[.acceptRanges] = "bytes"
        headers[.contentSecurityPolicy] = "sandbox; default-src 'none'"
        let wantsPart = request.headers[.ifRange].map { $0 == tag.text } ?? true
        switch ByteRange(wantsPart ? request.headers[.range] : nil, length: entry.bytes) {
        case .whole:
            return Response(.ok, headers: headers, body: try Self.body(of: content, 0..<entry.bytes))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.bytes)"
            return Response(.partialContent, headers: headers, body: try Self.body(of: content, range))
        case .unsatisfiable:
            var refusal = Response.refusal(APIError(416, "the file has \(entry.bytes) bytes", parameter: "Range"))
            refusal.headers[.contentRange] = "bytes */\(entry.bytes)"
            return refusal
        }
    }

    private static func body(of content: StoredContent, _ range: Range<Int64>) throws -> Body {
        switch content {
        case .bytes(let bytes):
            let part = bytes.dropFirst(Int(range.lowerBound)).prefix(range.count)
            guard part.count == range.count else { throw StorageError(.damaged, "a small content has a wrong length") }
            return .bytes(ByteBuffer(bytes: part))
        case .blob(let blob):
            guard blob.length >= range.upperBound else { throw StorageError(.damaged, "a content has a wrong length") }
            return .blob(try blob.open(), range)
        }
    }
}
