import HTTPTypes

extension RequestHead {
    /// What to do with a response that may redirect.
    enum Redirect {
        /// The response is the result.
        case none
        /// Send this request next.
        case follow(RequestHead)
        /// The redirect cannot be followed.
        case refuse(TransferError)
    }

    static let maximumRedirects = 20

    /// Reads a response as a redirect (RFC 9110 section 15.4).
    ///
    /// 303 becomes GET, as do 301 and 302 for POST; otherwise method and body are kept. A redirect to another origin
    /// keeps only harmless fields, and a redirect back does not restore them.
    func redirect(
        for response: HTTPResponse, hops: Int, following rule: TaskOptions.Redirects = .all,
        publicFields: Set<HTTPField.Name> = []
    ) -> Redirect {
        let status = response.status.code
        guard rule == .all || rule == .ownOrigin && (method == .get || method == .head) else { return .none }
        guard [301, 302, 303, 307, 308].contains(status),
            let location = response.headerFields.first(where: { $0.name == .location })
        else { return .none }
        let bytes = unsafe location.withUnsafeBytesOfValue { unsafe Array($0) }
        guard let target = url.resolving(bytes) else {
            return .refuse(error(.protocolViolation, "the server redirects to an address that cannot be used"))
        }
        if rule == .ownOrigin, target.origin != url.origin { return .none }
        if hops >= Self.maximumRedirects {
            return .refuse(error(.tooManyRedirects, "more than \(Self.maximumRedirects) redirects"))
        }
        if url.origin.scheme == .https, target.origin.scheme == .http {
            return .refuse(error(.insecureRedirect, "the server redirects from https to http"))
        }
        var next = self
        next.url = target
        if (status == 303 && method != .head) || (status <= 302 && method == .post) {
            next.method = .get
            next.hasBody = false
            next.fields.removeAll { $0.name.canonicalName.hasPrefix("content-") }
        }
        if target.origin != url.origin {
            next.fields.removeAll { !Self.isPublic($0.name, publicFields) }
        }
        return .follow(next)
    }

    /// The head to send if user code changed the redirected request; see ``RedirectDecision/send(_:)``.
    ///
    /// - Throws: ``TransferError/Code/badRequest`` or `insecureRedirect`.
    func redirected(to request: HTTPRequest, insteadOf proposed: RequestHead, publicFields: Set<HTTPField.Name>)
        throws(TransferError) -> RequestHead
    {
        var next = try RequestHead(request, body: .none, options: TaskOptions(), additional: [:])
        if url.origin.scheme == .https, next.url.origin.scheme == .http {
            throw error(.insecureRedirect, "a redirect from https was changed to one to http")
        }
        let isBodiless = next.method == .get || next.method == .head
        next.hasBody = !isBodiless && (proposed.hasBody || hasBody && next.method == method)
        if next.url.origin != url.origin {
            next.fields.removeAll {
                !Self.isPublic($0.name, publicFields) && proposed.fields[fields: $0.name].contains($0)
            }
        }
        return next
    }

    /// Whether a field may be shown and sent to other origins: it is known to be harmless or declared public.
    static func isPublic(_ name: HTTPField.Name, _ publicFields: Set<HTTPField.Name>) -> Bool {
        harmless.contains(name.canonicalName) || publicFields.contains(name)
    }

    /// Whether a field with this lower-case name never holds a secret.
    static func isHarmless(_ name: String) -> Bool { harmless.contains(name) }

    private static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding",
        "content-language", "content-md5", "content-type", "date", "idempotency-key", "if-match", "if-modified-since",
        "if-none-match", "if-range", "if-unmodified-since", "pragma", "range", "user-agent",
    ]

    private func error(_ code: TransferError.Code, _ message: String) -> TransferError {
        TransferError(code, message, phase: .receive, url: url.redacted)
    }
}
