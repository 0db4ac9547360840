import Crypto
import FoundationEssentials
import HTTPTypes
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
    func response(_ status: HTTPResponse.Status) -> Response {
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.policy,
            .referrerPolicy: "no-referrer", .robots: "noindex",
        ]
        return Response(status, headers: headers, body: .bytes(ByteBuffer(string: Template.share.render(self) + "\n")))
    }

    private static let policy: String = {
        let digest = Data(SHA256.hash(data: Array(Template.shareStyle.utf8))).base64EncodedString()
        return "default-src 'none'; img-src 'self'; style-src 'sha256-\(digest)'; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'"
    }()
}

extension HTTPField.Name {
    /// What crawlers may do with a page.
    static let robots = known("X-Robots-Tag")
}
