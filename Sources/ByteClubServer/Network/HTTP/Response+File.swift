import ByteClubCore
import HTTPTypes
import NIOCore

extension Response {
    /// The bytes of a file's version, or the requested part of them.
    ///
    /// A member's file is never a page of this server: HTML is sent as plain text, and the headers forbid browsers to
    /// run scripts, to load anything for it, and to guess another type.
    ///
    /// The tag is the version's unless another is given, for bytes that are not the version's.
    ///
    /// - Throws: ``StorageError`` `damaged` when the content's length differs from the entry's, ``StoredFileError``
    ///   when its file cannot be opened.
    static func file(
        _ entry: FolderEntry, _ content: StoredContent, for request: some RequestContext, headers: HTTPFields = [:],
        tag: EntityTag? = nil
    ) throws -> Response {
        let type = MediaType(name: entry.path.name)
        let tag = tag ?? EntityTag(text: "\(JournalRevision(number: entry.revision))")
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

/// An `ETag` (RFC 9110 section 8.8.3): for a file's version its rev, since a version never changes.
struct EntityTag: Hashable, Sendable {
    /// The header's value.
    let text: String

    /// A tag of these characters, which are neither quotation marks nor control characters.
    init(text: String) {
        self.text = "\"\(text)\""
    }

    /// Checks whether an `If-None-Match` header contains it.
    func isNamed(in header: String?) -> Bool {
        guard let header else { return false }
        return header.split(separator: ",").contains { field in
            let tag = field.drop { $0 == " " }.prefix { $0 != " " }
            return tag == "*" || tag == text || tag == "W/" + text
        }
    }
}

/// The part of a content of known length that a `Range` header requests (RFC 9110 section 14).
enum ByteRange: Hashable, Sendable {
    /// Everything: no header, one that is malformed, or several ranges at once.
    case whole
    /// These bytes, at least one.
    case part(Range<Int64>)
    /// Nothing that the content has.
    case unsatisfiable

    /// Reads the header's value.
    init(_ header: String?, length: Int64) {
        guard let text = header?.utf8, text.starts(with: "bytes=".utf8) else {
            self = .whole
            return
        }
        let bounds = text.dropFirst(6).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]) else {
            self = .whole
            return
        }
        switch (first, last) {
        case (nil, nil): self = .whole
        case (nil, let count?): self = Self.checked(max(0, length - count), length, length)
        case (let start?, nil): self = Self.checked(start, length, length)
        case (let start?, let end?) where end >= start:
            self = Self.checked(start, end < length ? end + 1 : length, length)
        default: self = .whole
        }
    }

    private static func checked(_ start: Int64, _ end: Int64, _ length: Int64) -> ByteRange {
        start < end && start < length ? .part(start..<end) : .unsatisfiable
    }

    /// Nil inside nil for text that is no number; a blank bound is a known absence.
    private static func number(_ text: Substring.UTF8View.SubSequence) -> Int64?? {
        if text.isEmpty { return .some(nil) }
        guard text.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return .some(Int64(Substring(text)) ?? .max)
    }
}
