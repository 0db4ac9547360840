import Crypto
import FoundationEssentials
import HTTPTypes
import Mustache
import NIOCore

/// The page of a shared link.
///
/// It needs no account, runs no script, and tells nobody where it was.
struct SharePage: Sendable {
    /// One entry of a folder.
    struct Row: Sendable {
        /// The entry's name.
        let name: String
        /// Where the entry's own page is.
        let url: String
        /// The entry's size, or that it is a folder.
        let size: String
    }

    /// What is shared.
    var title: String
    /// One line about it.
    var summary: String
    /// Where the bytes are; nil when there are none.
    var download: String?
    /// Where a smaller picture is; nil when there is none.
    var picture: String?
    /// What a note says; nil when it is no text.
    var text: String?
    /// What a folder holds.
    var rows: [Row] = []

    /// The page for a link that does not work; why is not told.
    static let missing = SharePage(
        title: "Nothing here", summary: "This link has expired, was taken back, or never was.")

    /// The page as a response.
    func response(_ status: HTTPResponse.Status) throws -> Response {
        let html = try Self.template.get().render(self)
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.policy,
            .referrerPolicy: "no-referrer", .robots: "noindex",
        ]
        return Response(status, headers: headers, body: .bytes(ByteBuffer(string: html)))
    }

    private static let style = """
        body{font:1em/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}\
        img{max-width:100%}pre{white-space:pre-wrap}li span{color:#666}
        """

    private static let policy: String = {
        let digest = Data(SHA256.hash(data: Array(style.utf8))).base64EncodedString()
        return "default-src 'none'; img-src 'self'; style-src 'sha256-\(digest)'; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'"
    }()

    private static let template = Result {
        try HTMLText.template(
            """
            <!doctype html>
            <html lang="en">
            <head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>{{title}}</title><style>\(style)</style></head>
            <body>
            <h1><bdi>{{title}}</bdi></h1>
            <p>{{summary}}</p>
            {{#download}}<p><a href="{{.}}">Download</a></p>{{/download}}
            {{#picture}}<p><img src="{{.}}" alt=""></p>{{/picture}}
            {{#text}}<pre>{{.}}</pre>{{/text}}
            <ul>
            {{#rows}}<li><a href="{{url}}"><bdi>{{name}}</bdi></a> <span>{{size}}</span></li>
            {{/rows}}</ul>
            </body>
            </html>

            """)
    }
}

extension HTTPField.Name {
    /// What crawlers may do with a page.
    static let robots = known("X-Robots-Tag")
}
