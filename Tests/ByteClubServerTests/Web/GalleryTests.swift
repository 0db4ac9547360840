import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The gallery")
struct GalleryTests {
    private static let password = "correct horse"

    static func browser(_ server: TestServer, _ name: String = "Ann Bell", _ role: Role? = nil) async throws -> Browser
    {
        if let role { _ = try await server.store.addMember(name: name, role: role, oauth1: false) }
        try await server.store.setPassword(try await PasswordHash.make(password), ofMember: name)
        var browser = Browser(server)
        try await browser.signIn(name, password)
        return browser
    }

    /// A form with files, as a browser sends it.
    private static func upload(
        _ server: TestServer, _ browser: Browser, _ files: [(name: String, bytes: [UInt8])], token: String? = nil,
        isScript: Bool = true
    ) async throws -> RawMessage {
        let known = browser.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1
        var body = Array(
            "--xYz\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n\(token ?? String(known ?? ""))".utf8)
        for file in files {
            let head =
                "\r\n--xYz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(file.name)\"\r\n"
                + "Content-Type: image/jpeg\r\n\r\n"
            body += Array(head.utf8) + file.bytes
        }
        body += Array("\r\n--xYz--\r\n".utf8)
        let fields = [
            "Cookie: \(browser.cookie ?? "")", "Content-Type: multipart/form-data; boundary=xYz",
            "Accept: \(isScript ? "text/plain" : "text/html")",
        ]
        return try await server.send("POST /gallery/upload", fields, body: body)
    }

    @Test("notes and photos stand together by day, without scripts, and no name or text becomes markup")
    func days() async throws {
        try await TestServer.run { server in
            let evil = "\"><script>alert(1)</script><img src=x onerror=alert(1)>"
            for name in ["trip.md", "\(evil.replacingOccurrences(of: "/", with: "")).md"] {
                try await server.store(
                    "/byteclub/" + PercentEncoding.encode(name), "# \(evil)\n\(evil)\n[x](javascript:alert(1))")
            }
            for (name, fixture) in [("dated", "dated"), ("s", "city"), ("p'\"", "portrait")] {
                let target = "/1/files_put/auto/byteclub/photos/\(PercentEncoding.encode(name)).jpg"
                #expect(
                    try await server.send("PUT \(target)", body: Fixture.bytes("panoramas/\(fixture).jpg")).status
                        == 200)
            }
            try await server.store("/byteclub/photos/s.jpg.md", "---\nview: sphere\n---\n\(evil)")
            var browser = try await Self.browser(server)
            _ = try await server.get("/1/metadata/auto/byteclub/photos?include_media_info=true")
            try await browser.open("/gallery")
            #expect(browser.status == 200)
            let days = browser.page.matches(of: /<h2>([^<]*)<\/h2>/).map { String($0.1) }
            #expect(days.count == 2, "today's, and that of the photo with a date: \(days)")
            #expect(browser.page.matches(of: /<img src="\/photos/).count == 3 && !browser.page.contains("s.jpg.md"))
            #expect(browser.page.matches(of: /<img src="\/photos[^>]*width="\d+" height="\d+"/).count == 3)
            #expect(browser.page.contains("360°"))
            let links = browser.page.matches(of: /<a href="(\/gallery\/[^"]*)"/).map { String($0.1) }
            #expect(links.count == 5)
            for page in ["/gallery"] + links {
                try await browser.open(page)
                #expect(browser.status == 200, "\(page)")
                #expect(!browser.page.contains("<script>") && !browser.page.contains("onerror=alert(1)>"), "\(page)")
                #expect(!browser.page.contains("href=\"javascript:"), "\(page)")
            }
            try await browser.open("/gallery/byteclub/photos/s.jpg")
            #expect(browser.page.contains("data-kind=\"sphere\"") && browser.page.contains("original.jpg"))
        }
    }

    @Test("every page allows scripts, styles and pictures of this server alone")
    func policy() {
        for policy in [WebSite.formPolicy, WebSite.picturePolicy] {
            #expect(policy.hasPrefix("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe") && !policy.contains("*") && !policy.contains("http"))
        }
    }

    @Test("older items are a link away, and each is shown once")
    func pages() async throws {
        try await TestServer.run { server in
            for number in 0..<65 { try await server.store("/n\(number).md", "note \(number)") }
            var browser = try await Self.browser(server)
            try await browser.open("/gallery")
            var links = browser.page.matches(of: /<a href="(\/gallery\/n[^"]*)"/).map { String($0.1) }
            #expect(links.count == 60)
            let older = try #require(browser.page.firstMatch(of: /rel="next" href="([^"]*)"/)?.1)
            try await browser.open(String(older))
            links += browser.page.matches(of: /<a href="(\/gallery\/n[^"]*)"/).map { String($0.1) }
            #expect(links.count == 65 && Set(links).count == 65 && !browser.page.contains("rel=\"next\""))
            let newer = try #require(browser.page.firstMatch(of: /rel="prev" href="([^"]*)"/)?.1)
            try await browser.open(String(newer))
            let again = browser.page.matches(of: /<a href="(\/gallery\/n[^"]*)"/).map { String($0.1) }
            #expect(again == Array(links.prefix(60)) && !browser.page.contains("rel=\"prev\""))
            try await browser.open("/gallery?before=x")
            #expect(browser.status == 404)
        }
    }

    @Test("a form uploads photos and notes under free names, and what is no such file is told in words")
    func uploads() async throws {
        try await TestServer.run { server in
            var browser = try await Self.browser(server)
            try await browser.open("/gallery")
            let photo = Fixture.bytes("panoramas/portrait.jpg")
            let first = try await Self.upload(server, browser, [("ridge.jpg", photo), ("sub/trip.md", [65])])
            #expect(first.status == 200 && first.text == "/byteclub/photos/ridge.jpg\n/byteclub/trip.md")
            let second = try await Self.upload(server, browser, [("ridge.jpg", [1])])
            #expect(second.text == "/byteclub/photos/ridge (1).jpg")
            #expect(try await Self.upload(server, browser, [("r.jpg", [1])], isScript: false)["location"] == "/gallery")
            #expect(try await server.get("/1/files/auto/byteclub/photos/ridge.jpg").body == photo)
            for (files, token, status) in [
                ([(name: "a.exe", bytes: [UInt8(1)])], String?.none, 415), ([], nil, 400),
                ([("b.jpg", [1])], String(repeating: "0", count: 64), 403), ([("../..", [1])], nil, 415),
            ] {
                let answer = try await Self.upload(server, browser, files, token: token)
                #expect(answer.status == status && !answer.text.isEmpty && !answer.text.contains("<"))
            }
            #expect(try await server.get("/1/files/auto/byteclub/photos/b.jpg").status == 404)
        }
    }

    @Test("two people's edits are merged, or both texts are shown and nothing is lost")
    func edits() async throws {
        try await TestServer.run { server in
            try await server.store("/trip.md", "one\ntwo\nthree\nfour\n")
            var ann = try await Self.browser(server)
            var ben = try await Self.browser(server, "Ben", .editor)
            try await ann.open("/gallery/trip.md")
            try await ben.open("/gallery/trip.md")
            try await ann.submit("/gallery/trip.md", ["text": "ONE\r\ntwo\r\nthree\r\nfour\r\n"])
            #expect(ann.status == 200 && ann.page.contains("ONE"))
            try await ben.submit("/gallery/trip.md", ["text": "one\r\ntwo\r\nthree\r\nFOUR\r\n"])
            #expect(ben.status == 200)
            #expect(try await server.get("/1/files/auto/trip.md").text == "ONE\ntwo\nthree\nFOUR\n")
            try await ann.open("/gallery/trip.md")
            try await ben.open("/gallery/trip.md")
            try await ann.submit("/gallery/trip.md", ["text": "Ann's\n"])
            try await ben.submit("/gallery/trip.md", ["text": "<Ben's>\n"])
            #expect(ben.status == 409 && ben.page.contains("Ann&#39;s") && ben.page.contains("&lt;Ben&#39;s&gt;"))
            #expect(try await server.get("/1/files/auto/trip.md").text == "Ann's\n")
            try await ben.submit("/gallery/trip.md", ["text": "Both\n"])
            #expect(ben.status == 200)
            #expect(try await server.get("/1/files/auto/trip.md").text == "Both\n")
            try await ben.submit("/gallery/trip.md", ["text": ""])
            #expect(ben.status == 400 && ben.page.contains("empty note"))
        }
    }

    @Test("a caption is saved beside its photo and keeps the view that was chosen there")
    func captions() async throws {
        try await TestServer.run { server in
            _ = try await server.send("PUT /1/files_put/auto/p.jpg", body: Fixture.bytes("panoramas/portrait.jpg"))
            var browser = try await Self.browser(server)
            try await browser.open("/gallery/p.jpg")
            try await browser.submit("/gallery/p.jpg", ["text": "The <ridge>"])
            #expect(browser.status == 200 && browser.page.contains("<figcaption>The &lt;ridge&gt;</figcaption>"))
            #expect(try await server.get("/1/files/auto/p.jpg.md").text == "The <ridge>")
            try await server.store("/p.jpg.md", "---\nview: strip\n---\nOld")
            try await browser.open("/gallery/p.jpg")
            #expect(browser.page.contains("data-kind=\"strip\""))
            try await browser.submit("/gallery/p.jpg", ["text": "New"])
            #expect(try await server.get("/1/files/auto/p.jpg.md").text == "---\nview: strip\n---\nNew")
        }
    }

    @Test("viewers see no forms and are refused, and who is not signed in sees nothing")
    func roles() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "secret words")
            var viewer = try await Self.browser(server, "Vera", .viewer)
            for page in ["/gallery", "/gallery/a.md"] {
                try await viewer.open(page)
                #expect(viewer.page.contains("secret words") && !viewer.page.contains("textarea"))
                #expect(!viewer.page.contains("/gallery/upload"))
            }
            let token = try #require(viewer.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            #expect(try await Self.upload(server, viewer, [("a.jpg", [1])]).status == 403)
            try await viewer.send("/gallery/a.md", ["text": "x", "parent_rev": "100000001", "csrf": String(token)])
            #expect(viewer.status == 403)
            #expect(try await server.get("/1/files/auto/a.md").text == "secret words")
            for page in [
                "/gallery", "/gallery/a.md", "/gallery/events", "/gallery/index", "/gallery/items", "/albums",
                "/account",
            ] {
                let answer = try await server.send("GET \(page)", [])
                #expect(answer.status == 303 && answer["location"]?.hasPrefix("/login") == true)
            }
        }
    }

    @Test("an open page is told of a change once there is one")
    func events() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            let browser = try await Self.browser(server)
            let cookie = "Cookie: \(browser.cookie ?? "")"
            let last = try await server.store.read { try $0.state.lastRevision() }
            async let told = server.send("GET /gallery/events?after=\(last)", [cookie])
            try await server.store("/b.md", "two")
            let answer = try await told
            #expect(answer["content-type"] == "text/event-stream")
            #expect(
                answer.text.contains("event: change\ndata: \(last + 1)\n\n") && answer.text.contains("id: \(last + 1)"))
            // A browser that comes back names what it was told last, whatever stands in the address.
            let again = try await server.send(
                "GET /gallery/events?after=\(last + 1)", [cookie, "Last-Event-ID: \(last)"])
            #expect(again.text.contains("event: change"))
        }
    }
}
