import ByteClubCore
import Crypto
import FoundationEssentials
import HTTPTypes
import NIOCore

/// The page of a shared link.
///
/// It needs no account and no script, and has no referrer; scripts of the server let people look around in a photo and
/// turn pages with keys. Of members it tells who gives the link, and of paths those below the shared entry.
struct SharePage: Sendable {
    /// A folder or a file that is no photo.
    struct Row: Sendable {
        /// The entry's name.
        let name: String
        /// Where the entry's own page is.
        let url: String
        /// What it is: a size, or nothing for a folder.
        var size: String?
        /// The start of the addresses of the pictures that stand for a folder; nil for none.
        var cover: String?
        /// Whether it is a note.
        var isNote = false
    }

    /// A photo among others.
    struct Tile: Sendable {
        let photo: PhotoTile
        /// The name of the ratio of its width and height, for the style of rows.
        let ratio: String
    }

    /// A link to another page of the shared folder.
    struct Turn: Sendable {
        let name: String
        let url: String
    }

    /// The photos before and after one.
    struct Turns: Sendable {
        var previous: Turn?
        var next: Turn?
    }

    /// A place in the photo that leads to another page behind the link.
    struct Spot: Sendable {
        let yaw: String
        let pitch: String
        let text: String
        let url: String
    }

    /// The places in a photo.
    struct Spots: Sendable {
        let list: [Spot]

        /// Some places; nil for none.
        init?(_ list: [Spot]) {
            if list.isEmpty { return nil }
            self.list = list
        }
    }

    /// What messengers show of the page.
    struct Preview: Sendable {
        /// The page's own address, with the host.
        let url: String
        let title: String
        let description: String
        /// The address of a picture, with the host; nil for none.
        var image: String?
        /// The picture's size in pixels; nil when it is unknown.
        var width: Int?
        var height: Int?
    }

    /// The club's name; nil for none.
    var club: String?
    /// The name of the shared entry.
    var title: String
    /// One line about it.
    var summary: String
    /// The name of the member who shares it; nil where the page does not tell.
    var giver: String?
    /// The time of its last change; nil when the page does not show it.
    var changed: Moment?
    /// A remark; nil for none.
    var remark: String?
    /// Where the bytes are; nil when there are none.
    var download: String?
    /// What the download is.
    var downloadName = "Download"
    /// Whether the download is a zip file.
    var isArchive = false
    /// The photo that is shared; nil for another file.
    var figure: PhotoTile?
    /// The places in the photo that lead to what is shared as well; nil for none.
    var spots: Spots?
    /// The text of a note as HTML; nil for another file.
    var html: String?
    /// The first photo of a note; nil for none.
    var cover: PhotoTile?
    /// The text of a file that is no note; nil for another file.
    var text: String?
    /// The folders of a folder.
    var folders: [Row] = []
    /// The photos of a folder.
    var photos: [Tile] = []
    /// The other entries of a folder.
    var rows: [Row] = []
    /// The page of the folder above.
    var back: Turn?
    /// The pages of the photos beside this one; nil where there is neither.
    var turns: Turns?
    /// The pages of a long folder.
    var earlier: String?
    var more: String?
    /// Whether it asks for a password.
    var isLocked = false
    /// Why a password was refused; nil before an attempt.
    var problem: String?
    /// What a visitor can do when there is nothing to see; nil when there is.
    var advice: String?
    /// What messengers show; nil when they are to show nothing.
    var preview: Preview?

    /// The page for a link that does not work, without the reason.
    static let missing = SharePage(
        title: "Link not found", summary: "This link has expired, was revoked, or never existed.",
        advice: "Ask the person who sent it to you for a new one.")

    /// The page for what is not in a shared folder, or not any more.
    static func gone(from link: Link, rootURL: String) -> SharePage {
        SharePage(
            title: "Not here", summary: "This was moved or removed, or was never part of what is shared.",
            giver: link.member, back: Turn(name: "To all that is shared", url: rootURL),
            advice: "If you miss it, ask \(link.member).")
    }

    /// The page that asks for a link's password, and reveals nothing of the entry.
    static func locked(problem: String?) -> SharePage {
        SharePage(
            title: "A shared page", summary: "This page is protected by a password.", isLocked: true, problem: problem,
            advice: "Whoever sent you the link knows the password.")
    }

    /// The page of a download that is refused for now or for good.
    static func refused(_ error: APIError) -> SharePage {
        SharePage(
            title: error.status == 413 ? "Too much for one download" : "Many are downloading", summary: error.message,
            advice: error.status == 413 ? "Open the folders in it and download each." : "Try again in a minute.")
    }

    /// The page as a response of a club of that name.
    func response(_ status: HTTPResponse.Status, of club: String?) -> Response {
        var page = self
        page.club = club
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: WebSite.picturePolicy,
            .referrerPolicy: "no-referrer", .robots: "noindex", .cacheControl: "private, no-cache",
        ]
        return Response(status, headers: headers, body: .bytes(ByteBuffer(string: Template.share.render(page) + "\n")))
    }
}

extension SharePage.Tile {
    /// A photo, whose ratio is told in eighths of its height, and from 2.5 in halves.
    init(_ photo: PhotoTile) {
        self.photo = photo
        guard let shape = photo.shape, shape.width > 0, shape.height > 0 else {
            ratio = "r12"
            return
        }
        let eighths = 8 * Double(shape.width) / Double(shape.height)
        let steps = eighths < 20 ? max(4, eighths.rounded()) : min(64, (eighths / 4).rounded() * 4)
        ratio = "r\(Int(steps))"
    }
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
