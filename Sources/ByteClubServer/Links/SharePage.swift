import ByteClubCore
import Crypto
import FoundationEssentials
import HTTPTypes
import NIOCore

/// The page of a shared link.
///
/// It needs no account and no script, and has no referrer; a script of the server lets people look around in a photo.
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

    /// The club's name; nil for none.
    var club: String?
    /// The name of the shared entry.
    var title: String
    /// One line about it.
    var summary: String
    /// The time of its last change; nil when the page does not show it.
    var changed: Moment?
    /// A remark; nil for none.
    var remark: String?
    /// Where the bytes are; nil when there are none.
    var download: String?
    /// The photo that is shared; nil for another file.
    var figure: PhotoTile?
    /// The text of a note; nil for another file.
    var text: String?
    /// The photos of a folder.
    var photos: [PhotoTile] = []
    /// The other entries of a folder.
    var rows: [Row] = []
    /// Whether it asks for a password.
    var isLocked = false
    /// Why a password was refused; nil before an attempt.
    var problem: String?

    /// The page for a link that does not work, without the reason.
    static let missing = SharePage(
        title: "Link not found", summary: "This link has expired, was revoked, or never existed.")

    /// The page that asks for a link's password, and reveals nothing of the entry.
    static func locked(problem: String?) -> SharePage {
        SharePage(
            title: "A shared page", summary: "This page is protected by a password.", isLocked: true, problem: problem)
    }

    /// The page as a response of a club of that name.
    func response(_ status: HTTPResponse.Status, of club: String?) -> Response {
        var page = self
        page.club = club
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.policy,
            .referrerPolicy: "no-referrer", .robots: "noindex",
        ]
        return Response(status, headers: headers, body: .bytes(ByteBuffer(string: Template.share.render(page) + "\n")))
    }

    private static let policy: String = {
        let digest = Data(SHA256.hash(data: Array(Template.shareStyle.utf8))).base64EncodedString()
        return "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-\(digest)'; img-src 'self' blob:; "
            + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    }()
}

extension HTTPField.Name {
    /// The permissions of crawlers.
    static let robots = known("X-Robots-Tag")
}

/// The cookie of a browser that has sent a link's password: valid for that link and that password only.
struct SharePass: Sendable {
    private let value: String
    private let path: String

    /// The pass of a link, sealed with the server's key.
    init(_ link: Link, _ password: PasswordHash, key: SymmetricKey) {
        let text = "share \(link.secret) \(password.text)"
        value = Hexadecimal.encode(Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)))
        path = "/s/" + link.secret
    }

    /// Whether a request's cookies show it.
    func isShown(by request: RoutedRequest, _ site: WebSite) -> Bool {
        site.value(of: .sharePass, in: request).map { ConstantTime.equal($0, value) } ?? false
    }

    /// The cookie to set, which ends with the browser and is sent for this link alone.
    func cookie(for request: RoutedRequest, _ site: WebSite) -> String {
        site.cookie(value, .sharePass, for: request, path: path)
    }
}
