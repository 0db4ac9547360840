import ByteClubCore
import HTTPTypes

/// Lets web pages of any origin use the API (CORS).
///
/// A page can do no more than the token it has allows: cookies are never accepted there.
enum CrossOrigin {
    private static let methods = "GET, HEAD, POST, PUT, OPTIONS"
    private static let requestHeaders = "Authorization, Content-Type, If-None-Match, If-Range, Range"
    private static let responseHeaders =
        "Accept-Ranges, Content-Range, ETag, Retry-After, X-Dropbox-Metadata, X-Dropbox-Request-Id"

    /// The answer to a browser that asks whether a page may make a call; nil for any other request.
    static func preflight(_ request: Request) -> Response? {
        guard request.method == .options, request.isForPrograms, request.headers[.origin] != nil,
            request.headers[.accessControlRequestMethod] != nil
        else { return nil }
        let headers: HTTPFields = [
            .accessControlAllowMethods: methods, .accessControlAllowHeaders: requestHeaders,
            .accessControlMaxAge: "86400",
        ]
        return Response(.noContent, headers: headers, body: .none)
    }

    /// Lets the page that made a call read the answer.
    static func allow(_ request: Request, in headers: inout HTTPFields) {
        guard request.isForPrograms, request.headers[.origin] != nil else { return }
        headers[.accessControlAllowOrigin] = "*"
        headers[.accessControlExposeHeaders] = responseHeaders
    }
}
