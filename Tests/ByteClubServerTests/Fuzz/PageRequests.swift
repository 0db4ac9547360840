import HTTPTypes
import TestSupport

@testable import ByteClubServer

/// Requests of browsers as bytes: what pages send, and what a seed makes of it.
struct PageRequests {
    /// A member's browser.
    struct Session: Sendable {
        let cookie: String
        let token: String
        /// An upload that is begun.
        let upload: String
    }

    private let sessions: [Session]
    private var generator: SeededGenerator

    /// All but those that end a session, after which there would be no member any more.
    private static let pages = Endpoint.all.filter { $0.isPage && !["/logout", "/leave"].contains($0.name) }
    private static let tails = [
        "", "/byteclub", "/byteclub/a.md", "/byteclub/photos/p.jpg", "/delete/byteclub/photos/p.jpg",
        "/restore/byteclub/photos/p.jpg", "/move/byteclub/photos/p.jpg", "/spot/byteclub/photos/p.jpg",
        "/share/byteclub/photos/p.jpg", "/view/byteclub/photos/p.jpg", "/byteclub/photos/p.jpg.md", "/..", "/%2e%2e/x",
        "/%00", "/%ff", "/%", "/a%2Fb.md", "/%F0%9F%8F%94.md", "/x%CC%81.jpg", "/a.md/b.md", "//", "/.", "/a.MD",
        "/A.JPG",
        "/0000000000000000000000000000000000000000000000000000000000000000", "/%E2%80%AE.md", "/index", "/items",
    ]
    private static let names = [
        "text", "parent_rev", "path", "rev", "to", "name", "folder", "line", "id", "offset", "hashes", "modified", "q",
        "show", "near", "from", "who", "before", "after", "since", "limit", "in", "yaw", "pitch", "target", "remove",
        "view", "days", "location", "csrf", "next", "password", "new", "role", "action", "club", "link", "device",
        "code",
        "decision", "client_id", "response_type", "redirect_uri", "state", "oauth_token", "deleted", "page", "dl", "at",
        "moment", "revision", "paths", "photos", "title", "hash", "size", "draft", "base", "mine", "theirs", "note",
    ]
    private static let values = [
        "", "0", "1", "-1", "2", "60", "200", "201", "9223372036854775807", "-9223372036854775808",
        "18446744073709551616",
        "9007199254740992", "-9007199254740993", "1e9", "nan", "inf", "-0", "1.5", "%2B1", "/byteclub/a.md", "/", "..",
        "/byteclub/photos/p.jpg", "a.md", "../../x", "100000001", "200000001", "ffffffff00000001", "x", "%00", "%ff",
        "%C3%A9", "%E2%80%AE", "photos", "panoramas", "46.02,7.75,5", "90,180,20040", "-90,-180", "2026-08", "0000-00",
        "9999-12", "1375780500.17", "-1.-1", "9223372036854775807.9223372036854775807", ".", "1.", ".1", "sphere",
        "auto",
        "keep", "allow", "invite", "remove", "owner", "byteclub", "true", "%0d%0aSet-Cookie:%20x", "%22%3E%3Cscript%3E",
        "javascript:alert(1)", "%5B%5D(", "%7B%7B%7D%7D", "---%0aview%3A%20sphere%0a---%0a",
        "at+1%2C2%3A+%5Bx%5D(p.jpg)",
    ]

    /// Makes requests from a seed.
    init(_ sessions: [Session], seed: UInt64) {
        self.sessions = sessions
        generator = SeededGenerator(seed: seed)
    }

    /// The bytes of a request.
    mutating func next() -> [UInt8] {
        guard let page = Self.pages.randomElement(using: &generator),
            let session = sessions.randomElement(using: &generator)
        else { return [] }
        let method = chance(9) ? page.methods.first?.rawValue ?? "GET" : pick(["GET", "POST", "PUT", "HEAD", "DELETE"])
        var target = page.name
        if page.tail.accepts(1) ? chance(8) : chance(1) { target += pick(Self.tails) }
        var lines: [String] = []
        if chance(9) { lines.append("Cookie: byteclub=\(session.cookie)") }
        // Somebody else's upload, too.
        let upload = sessions.randomElement(using: &generator)?.upload ?? ""
        var query = values()
        if page.name.hasPrefix("/gallery/upload"), chance(8) { query.insert("id=\(upload)", at: 0) }
        var body: [UInt8] = []
        switch page.cost.body {
        case .streamed:
            lines.append("X-Form-Token: \(token(session))")
            query.append("offset=\(pick(["0", "0", "3", "-1", "9223372036854775807", "4194304", "x"]))")
            body = noise(Int.random(in: 0...5000, using: &generator))
        case .multipart:
            lines.append("Content-Type: multipart/form-data; boundary=\(pick(["b", "b", "b", "", "\"b", "bb"]))")
            body = multipart(token(session))
        case .form, .whole:
            if method == "POST" {
                lines.append("Content-Type: application/x-www-form-urlencoded")
                let fields = ["csrf=\(token(session))"] + values() + (chance(5) ? ["id=\(upload)"] : [])
                body = Array(fields.joined(separator: "&").utf8)
                if chance(1) { body += Array("&text=".utf8) + noise(2000) }
            }
        }
        if chance(3) { lines.append("Accept: \(pick(["application/json", "text/plain", "text/html", "*/*"]))") }
        if chance(1) { lines.append("Sec-Fetch-Site: \(pick(["cross-site", "same-origin", "none", "x"]))") }
        if chance(1) { lines.append("Last-Event-ID: \(pick(Self.values))") }
        if chance(1) { lines.append("Range: bytes=\(pick(["0-1", "-0", "5-1", "99999999999999999999-"]))") }
        if chance(1) { lines.append("Content-Range: bytes \(pick(["0-1/2", "5-1/*", "9223372036854775807-/1", "x"]))") }
        // A length that lies.
        let length = chance(1) ? body.count + Int.random(in: -5...50, using: &generator) : body.count
        if method != "GET" || chance(1) { lines.append("Content-Length: \(max(0, length))") }
        if page.name == "/gallery/events" { query = ["after=0"] }
        if !query.isEmpty { target += "?" + query.joined(separator: "&") }
        let head = (["\(method) \(target) HTTP/1.1", "Host: x", "Connection: close"] + lines).joined(separator: "\r\n")
        return Array((head + "\r\n\r\n").utf8) + body
    }

    private mutating func token(_ session: Session) -> String {
        chance(9) ? session.token : pick(["", "x", sessions.first?.token ?? ""])
    }

    private mutating func values() -> [String] {
        (0..<Int.random(in: 0...5, using: &generator)).map { _ in pick(Self.names) + "=" + pick(Self.values) }
    }

    private mutating func multipart(_ token: String) -> [UInt8] {
        var body = Array("--b\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n\(token)\r\n".utf8)
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let name = pick(["a.md", "b.jpg", "..", "a/b.md", "C:\\x.md", "%00.md", "\u{202E}.md", "", "x.exe", ".md"])
            let head = "--b\r\nContent-Disposition: form-data; name=\"\(pick(["file", "csrf", "x", ""]))\"; "
            body +=
                Array((head + "filename=\"\(name)\"\r\n\r\n").utf8) + noise(Int.random(in: 0...300, using: &generator))
            body += [13, 10]
        }
        if chance(8) { body += Array("--b--\r\n".utf8) }
        if chance(2) { body = Array(body.prefix(Int.random(in: 0...body.count, using: &generator))) }
        return body
    }

    private mutating func noise(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &generator) ?? "" }

    /// True in so many of ten cases.
    private mutating func chance(_ tenths: Int) -> Bool { Int.random(in: 0..<10, using: &generator) < tenths }
}
