import Crypto
import FoundationEssentials
import HTTPTypes
import NIOCore

/// The page of a shared link.
///
/// It needs no account and no script, and tells nobody where it was; a script of the server's own lets people look around
/// in a photo.
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

    /// A photo with what the viewer must know of it.
    struct Figure: Sendable {
        /// How it is shown, as ``PhotoShape/Kind`` says; nil when nothing is known of it.
        let kind: String?
        let hfov: String?
        let vfov: String?
        let yaw: String?
        let pitch: String?
        let heading: String?
        let width: String?
        let height: String?
        /// The side of its tiles; nil when it has none.
        let tiles: String?
        /// What the addresses of its pictures begin with.
        let base: String
        /// Its pictures with their widths; nil when its size is not known.
        let widths: String?
        /// What it shows, in words.
        let alternative: String
        /// What members say of it; nil for nothing.
        let caption: String?
        /// The file's name.
        let name: String
        /// Where its own page is.
        let url: String
        /// Whether it is much wider than high, so that it needs a row of its own.
        let isWide: Bool
        /// Whether people are offered to see it as a sphere, though it does not say that it is one.
        let mayBeSphere: Bool
    }

    /// The club's name; nil for none.
    var club: String?
    /// What is shared.
    var title: String
    /// One line about it.
    var summary: String
    /// When it was changed, as ``WebSite/moment(_:)`` tells it; nil when that is not told.
    var changed: [String: String]?
    /// What is to be said besides; nil for nothing.
    var remark: String?
    /// Where the bytes are; nil when there are none.
    var download: String?
    /// The photo that is shared; nil for another file.
    var figure: Figure?
    /// What a note says; nil when it is no text.
    var text: String?
    /// The photos of a folder.
    var photos: [Figure] = []
    /// What else a folder holds.
    var rows: [Row] = []
    /// Whether it asks for a password.
    var isLocked = false
    /// Why a password was not taken; nil when none was told.
    var problem: String?

    /// The page for a link that does not work; why is not told.
    static let missing = SharePage(
        title: "Link not found", summary: "This link has expired, was revoked, or never existed.")

    /// The page that asks for a link's password; nothing is told of what is behind it.
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
    /// What crawlers may do with a page.
    static let robots = known("X-Robots-Tag")
}
