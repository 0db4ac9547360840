import HTTPTypes

/// What a download's temporary file is a part of, as the response told that it began with.
struct Representation: Hashable, Sendable {
    /// The whole's length, where it was declared.
    var total: Int64?
    /// What `If-Range` names it by; nil if it cannot be continued.
    var validator: Validator?
    /// The response's fields.
    var fields: HTTPFields

    init(total: Int64?, validator: Validator?, fields: HTTPFields) {
        self.total = total
        self.validator = validator
        self.fields = fields
    }

    /// Reads a response whose body begins with the first byte.
    init(_ response: HTTPResponse) {
        fields = response.headerFields
        let isOpaque = Self.isEncoded(fields) || Self.refusesRanges(fields)
        switch response.status.code {
        case 206:
            guard case .part(_, let total)? = fields[.contentRange].flatMap({ ContentRange($0) }) else { return }
            self.total = total
        default:
            if !fields.contains(.transferEncoding) {
                total = fields[.contentLength].flatMap { ContentRange.number($0) }
            }
            guard response.status.code == 200 else { return }
        }
        validator = isOpaque ? nil : Validator(fields)
    }

    /// The response as it would have been had the whole come in one piece (RFC 9110 section 15.3.7.3).
    ///
    /// The fields of the response that the last part came with replace older ones.
    func whole(_ last: HTTPResponse) -> HTTPResponse {
        var fields = fields
        if last.status.code == 206 {
            for field in last.headerFields { fields[values: field.name] = last.headerFields[values: field.name] }
        }
        fields[.contentRange] = nil
        if let total { fields[.contentLength] = String(total) }
        return HTTPResponse(status: .ok, headerFields: fields)
    }

    /// Whether the bytes are not the representation's own.
    static func isEncoded(_ fields: HTTPFields) -> Bool {
        fields[.contentEncoding].map { !$0.isEmpty && $0.lowercased() != "identity" } ?? false
    }

    private static func refusesRanges(_ fields: HTTPFields) -> Bool {
        fields[.acceptRanges]?.lowercased() == "none"
    }
}
