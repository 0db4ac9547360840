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

    /// The answer to a browser that asks whether a page may make a call; nil for any other call.
    static func preflight(_ call: Call) -> Answer? {
        guard call.method == .options, call.isForPrograms, call.headers[.origin] != nil,
            call.headers[.accessControlRequestMethod] != nil
        else { return nil }
        let headers: HTTPFields = [
            .accessControlAllowMethods: methods, .accessControlAllowHeaders: requestHeaders,
            .accessControlMaxAge: "86400",
        ]
        return Answer(.noContent, headers: headers, body: .none)
    }

    /// Lets the page that made a call read the answer.
    static func allow(_ call: Call, in headers: inout HTTPFields) {
        guard call.isForPrograms, call.headers[.origin] != nil else { return }
        headers[.accessControlAllowOrigin] = "*"
        headers[.accessControlExposeHeaders] = responseHeaders
    }
}
