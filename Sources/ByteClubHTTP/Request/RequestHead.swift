import HTTPTypes

/// Method, address and fields of one hop, as they will be sent.
struct RequestHead: Sendable {
    var method: HTTPRequest.Method
    var url: RequestURL
    var fields: HTTPFields
    var hasBody: Bool

    /// Checks a request and joins its fields with the session's.
    ///
    /// - Throws: ``TransferError/Code/badRequest``; nothing was sent.
    init(_ request: HTTPRequest, body: Body, options: TaskOptions, additional: HTTPFields) throws(TransferError) {
        url = try RequestURL(request)
        method = request.method
        if case .none = body { hasBody = false } else { hasBody = true }
        if method == .connect { throw TransferError(.badRequest, "a request cannot use CONNECT", url: url.redacted) }
        if method == .head, hasBody { throw TransferError(.badRequest, "HEAD has no body", url: url.redacted) }
        fields = request.headerFields
        for field in additional where !request.headerFields.contains(field.name) { fields.append(field) }
        if let key = options.idempotencyKey, let name = HTTPField.Name("Idempotency-Key"), !fields.contains(name) {
            guard HTTPField.isValidValue(key) else {
                throw TransferError(.badRequest, "the idempotency key cannot be sent in a field", url: url.redacted)
            }
            fields[name] = key
        }
        if !fields.isEmpty { fields.removeAll { Self.ours.contains($0.name.canonicalName) } }
        if case .multipart(let form) = body { try setType(of: form) }
        for field in fields where !Self.isSendable(field) {
            throw TransferError(.badRequest, "the field \(field.name) cannot be sent", url: url.redacted)
        }
    }

    /// The head as a request, for user code.
    var request: HTTPRequest {
        HTTPRequest(
            method: method, scheme: url.origin.scheme.rawValue, authority: url.origin.authority, path: url.target,
            headerFields: fields)
    }

    /// The head of a changed copy of ``request``, with the same body.
    ///
    /// - Throws: ``TransferError/Code/badRequest``.
    func replaced(by request: HTTPRequest) throws(TransferError) -> RequestHead {
        var head = try RequestHead(request, body: .none, options: TaskOptions(), additional: [:])
        head.hasBody = hasBody
        if head.method == .head, hasBody {
            throw TransferError(.badRequest, "HEAD has no body", url: head.url.redacted)
        }
        return head
    }

    private mutating func setType(of form: Multipart) throws(TransferError) {
        if let objection = form.objection { throw TransferError(.badRequest, objection, url: url.redacted) }
        guard let own = fields[.contentType] else { return fields[.contentType] = form.contentType }
        guard own.contains(form.boundary) else {
            throw TransferError(
                .badRequest, "the request's Content-Type does not name the form's boundary; leave it out",
                url: url.redacted)
        }
    }

    /// Whether the method is idempotent (RFC 9110 section 9.2.2).
    var isIdempotent: Bool { Self.isIdempotent(method) }

    static func isIdempotent(_ method: HTTPRequest.Method) -> Bool {
        switch method {
        case .get, .head, .put, .delete, .options, .trace: true
        default: false
        }
    }

    /// Fields that the session sets itself; a request's are ignored.
    static let ours: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "transfer-encoding",
        "upgrade",
    ]

    private static func isSendable(_ field: HTTPField) -> Bool {
        unsafe field.name.rawName.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && field.withUnsafeBytesOfValue { unsafe $0.allSatisfy { $0 == 9 || ($0 >= 0x20 && $0 != 0x7F) } }
    }
}
