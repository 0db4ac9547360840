import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The pages of notes")
struct NotesPageTests {
    private static func text(_ server: TestServer, _ path: String) async throws -> String? {
        let answer = try await server.get("/1/files/auto\(path)")
        return answer.status == 200 ? answer.text : nil
    }

    @Test("all notes are listed by folder with title, first line, name and member, and captions are not")
    func list() async throws {
        try await TestServer.run { server in
            try await server.store("/byteclub/hut.md", "# The **hut**\n\nCold, <but> dry.")
            try await server.store("/byteclub/trips/day.md", "")
            _ = try await server.send("PUT /1/files_put/auto/p.jpg", body: Fixture.bytes("panoramas/portrait.jpg"))
            try await server.store("/p.jpg.md", "caption words")
            var browser = try await GalleryTests.browser(server, "Vera", .viewer)
            try await browser.open("/notes")
            #expect(browser.status == 200 && !browser.page.contains("caption words"))
            #expect(
                browser.page.contains("<strong><bdi>The hut</bdi></strong><span class=\"line\">Cold, &lt;but&gt; dry."))
            #expect(
                browser.page.contains("<bdi>byteclub / trips</bdi>") && browser.page.contains("<bdi>Ann Bell</bdi>"))
            #expect(!browser.page.contains("/notes/new"), "a viewer writes nothing")
            try await browser.open("/gallery/byteclub/hut.md")
            #expect(browser.page.contains("<h1>The <strong>hut</strong></h1>") && browser.page.contains("Cold"))
            #expect(
                browser.page.matches(of: /<h1/).count == 1 && browser.page.contains("aria-current=\"page\"><strong>"))
            #expect(!browser.page.contains("action=\"/notes/"))
        }
    }

    @Test("a note is written, previewed, found by its name and never put over another, without a script")
    func new() async throws {
        try await TestServer.run { server in
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/notes")
            #expect(browser.page.contains("No notes yet"))
            try await browser.open("/notes/new")
            let token = try #require(browser.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            try await browser.send(
                "/notes/preview", ["csrf": String(token), "name": "A/trip", "text": "# T\n**x** <i>", "path": "/"])
            #expect(browser.status == 200 && browser.page.contains("<strong>x</strong> &lt;i&gt;"))
            #expect(
                browser.page.contains("value=\"A/trip\"") && browser.page.contains("# T\n**x** &lt;i&gt;</textarea>"))
            try await browser.submit("/notes/new", ["name": "A/trip", "text": "# T\r\none"])
            #expect(browser.status == 200 && browser.page.contains("<h1>T</h1>"))
            #expect(try await Self.text(server, "/byteclub/A-trip.md") == "# T\none")
            for (name, text, path) in [
                ("A-trip.md", "two", "/byteclub/A-trip%20(1).md"),
                ("", "# By its *title*\n", "/byteclub/By%20its%20title.md"),
                ("Only a name", " ", "/byteclub/Only%20a%20name.md"), ("list.txt", "x", "/byteclub/list.txt"),
            ] {
                try await browser.open("/notes/new")
                try await browser.submit("/notes/new", ["name": name, "text": text])
                #expect(browser.status == 200, "\(browser.page)")
                #expect(try await Self.text(server, path) != nil, "\(path)")
            }
            try await browser.open("/notes/new")
            for (name, text) in [("", ""), ("x", String(repeating: "x", count: 20_001)), ("a\u{1}", "kept <words>")] {
                try await browser.submit("/notes/new", ["name": name, "text": text])
                #expect(browser.status == 400 && browser.page.contains("role=\"alert\""))
            }
            #expect(browser.page.contains("kept &lt;words&gt;"))
        }
    }

    @Test("a note is renamed, moved, deleted and brought back by forms, and its history says who did what")
    func life() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one\ntwo <b>\n")
            try await server.store("/taken.md", "x")
            var ben = try await GalleryTests.browser(server, "Ben", .editor)
            try await ben.open("/gallery/a.md")
            try await ben.submit("/gallery/a.md", ["text": "one\nTWO\n"])
            try await ben.open("/notes/history/a.md")
            #expect(ben.page.contains("<div class=\"removed\"><span>\u{2212}</span><code>two &lt;b&gt;</code></div>"))
            #expect(ben.page.contains("<div class=\"added\"><span>+</span><code>TWO</code></div>"))
            #expect(
                ben.page.contains("Changed by <bdi>Ben</bdi>") && ben.page.contains("Written by <bdi>Ann Bell</bdi>"))
            let first = try #require(ben.page.matches(of: /href="(\/notes\/history\/a.md\?rev=[0-9a-f]+)"/).last?.1)
            try await ben.open(String(first))
            try await ben.submit("/notes/restore")
            #expect(try await Self.text(server, "/a.md") == "one\ntwo <b>\n")
            try await ben.submit("/notes/move", ["to": "taken.md"])
            #expect(ben.status == 403 && ben.page.contains("already exists"))
            for (to, path) in [("new name", "/new%20name.md"), ("/trips/b.md", "/trips/b.md"), ("/c.jpg", "/c.jpg.md")]
            {
                try await ben.open("/notes")
                let page = try #require(
                    ben.page.matches(of: /href="(\/gallery[^"]*)"/).map(\.1).first {
                        $0 != "/gallery" && !$0.contains("taken")
                    })
                try await ben.open(String(page))
                try await ben.submit("/notes/move", ["to": to])
                #expect(ben.status == 200)
                #expect(try await Self.text(server, path) == "one\ntwo <b>\n", "\(path)")
            }
            try await ben.submit("/notes/delete")
            #expect(ben.status == 200 && ben.page.contains("<bdi>c.jpg.md</bdi> was deleted"))
            #expect(try await Self.text(server, "/c.jpg.md") == nil)
            try await ben.submit("/notes/restore")
            #expect(try await Self.text(server, "/c.jpg.md") == "one\ntwo <b>\n")
            try await ben.open("/notes?deleted=/c.jpg.md&rev=100000001")
            #expect(!ben.page.contains("was deleted"), "it is there")
        }
    }

    @Test("a note that has changed meanwhile is not deleted")
    func stale() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/gallery/a.md")
            try await server.store("/a.md", "two")
            try await browser.submit("/notes/delete")
            #expect(browser.status == 409)
            #expect(try await Self.text(server, "/a.md") == "two")
        }
    }

    @Test("tasks are ticked on the version that was shown, and merged with what others have written")
    func tasks() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "# Pack\n- [ ] rope\n- [ ] tea\n\nend\n")
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/gallery/a.md")
            #expect(browser.page.contains("form=\"tasks\" name=\"line\" value=\"1\""))
            let old = browser
            try await browser.submit("/notes/task", ["line": "1"])
            #expect(browser.status == 200)
            #expect(try await Self.text(server, "/a.md") == "# Pack\n- [x] rope\n- [ ] tea\n\nend\n")
            try await server.store("/a.md", "# Pack!\n- [x] rope\n- [ ] tea\n\nthe end\n")
            try await browser.submit("/notes/task", ["line": "2"])
            #expect(try await Self.text(server, "/a.md") == "# Pack!\n- [x] rope\n- [x] tea\n\nthe end\n")
            try await server.store("/a.md", "# Pack!\n- [x] rope and nuts\n")
            browser = old
            try await browser.submit("/notes/task", ["line": "1"])
            #expect(browser.status == 409 && browser.page.contains("has changed"))
            for line in ["0", "99", "-1", "x", ""] {
                browser = old
                try await browser.submit("/notes/task", ["line": line])
                #expect(browser.status == 409 || browser.status == 400, "\(line)")
            }
            #expect(try await Self.text(server, "/a.md") == "# Pack!\n- [x] rope and nuts\n")
        }
    }

    @Test("a note shows photos and notes of the club, and no file that is deleted or elsewhere")
    func pictures() async throws {
        try await TestServer.run { server in
            _ = try await server.send(
                "PUT /1/files_put/auto/trip/photos/r.jpg", body: Fixture.bytes("panoramas/portrait.jpg"))
            try await server.store("/trip/hut.md", "the hut")
            try await server.store(
                "/trip/day.md",
                "![The ridge](photos/r.jpg)\n\n[hut](hut.md) [gone](gone.md) [out](../../x.md) ![z](z.jpg)")
            var browser = try await GalleryTests.browser(server, "Vera", .viewer)
            try await browser.open("/gallery/trip/day.md")
            #expect(browser.page.contains("<a class=\"photo\" href=\"/gallery/trip/photos/r.jpg\"><img src=\"/photos/"))
            #expect(browser.page.contains("<figcaption>The ridge</figcaption>"))
            #expect(browser.page.contains("<a href=\"/gallery/trip/hut.md\">hut</a> gone out z</p>"))
            let picture = try #require(browser.page.firstMatch(of: /<img src="(\/photos\/[^"]*)"/)?.1)
            #expect(try await server.send("GET \(picture)", ["Cookie: \(browser.cookie ?? "")"]).status == 200)
        }
    }

    private static let posts = ["new", "preview", "task", "move", "delete", "restore"]

    @Test("viewers and other sites change nothing, and who is not signed in sees nothing")
    func authorization() async throws {
        try await TestServer.run { server in
            let meta = try await server.store("/a.md", "- [ ] secret words")
            var viewer = try await GalleryTests.browser(server, "Vera", .viewer)
            var editor = try await GalleryTests.browser(server, "Ed", .editor)
            let fields = [
                "path": "/a.md", "rev": meta.rev?.description ?? "", "line": "0", "to": "b.md", "text": "x",
                "name": "n",
                "parent_rev": meta.rev?.description ?? "",
            ]
            try await viewer.open("/gallery/a.md")
            let token = try #require(viewer.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            let before = try await server.store.read { try $0.state.lastRevision() }
            for name in Self.posts {
                try await viewer.send("/notes/\(name)", fields.merging(["csrf": String(token)]) { $1 })
                #expect(viewer.status == 403, "\(name)")
                try await editor.send("/notes/\(name)", fields.merging(["csrf": String(token)]) { $1 })
                #expect(editor.status == 403, "\(name) with another session's token")
                let stranger = try await server.send(
                    "POST /notes/\(name)", ["Content-Type: application/x-www-form-urlencoded"],
                    body: Array("csrf=x".utf8))
                #expect([303, 403].contains(stranger.status) && !stranger.text.contains("secret"), "\(name)")
            }
            try await viewer.open("/notes/new")
            #expect(viewer.status == 403)
            #expect(try await server.store.read { try $0.state.lastRevision() } == before)
            for page in ["/notes", "/notes/new", "/notes/history/a.md"] {
                let answer = try await server.send("GET \(page)", [])
                #expect(answer.status == 303 && answer["location"]?.hasPrefix("/login") == true)
            }
            try await viewer.open("/notes/history/a.md")
            #expect(
                viewer.status == 200 && viewer.page.contains("secret words") && !viewer.page.contains("/notes/restore"))
        }
    }

    @Test("forms are about notes alone, and what is malformed is refused")
    func malformed() async throws {
        try await TestServer.run { server in
            _ = try await server.send("PUT /1/files_put/auto/p.jpg", body: Fixture.bytes("panoramas/portrait.jpg"))
            let meta = try await server.store("/a.md", "x")
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/gallery/a.md")
            let token = try #require(browser.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            for (name, path, rev, status) in [
                ("delete", "/p.jpg", meta.rev?.description ?? "", 404),
                ("delete", "/", meta.rev?.description ?? "", 404),
                ("delete", "/a.md", "x", 400),
                ("restore", "/a.md", "900000001", 404), ("restore", "/none.md", meta.rev?.description ?? "", 404),
                ("move", "/none.md", meta.rev?.description ?? "", 404),
            ] {
                try await browser.send(
                    "/notes/\(name)", ["csrf": String(token), "path": path, "rev": rev, "to": "n.md"])
                #expect(browser.status == status, "\(name) \(path) \(rev)")
            }
            for page in [
                "/notes/history/p.jpg", "/notes/history/none.md", "/notes/history", "/notes/history/a.md?rev=900000001",
            ] {
                try await browser.open(page)
                #expect(browser.status == 404, "\(page)")
            }
        }
    }

    @Test("a script gets a preview and a ticked task as JSON")
    func json() async throws {
        try await TestServer.run { server in
            let meta = try await server.store("/a.md", "- [ ] x")
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/gallery/a.md")
            let token = try #require(browser.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            let fields = [
                "Cookie: \(browser.cookie ?? "")", "Accept: application/json",
                "Content-Type: application/x-www-form-urlencoded",
            ]
            let html = try await server.send(
                "POST /notes/preview", fields, body: Array("csrf=\(token)&path=/a.md&text=%23+T%0A%3Ci%3E".utf8))
            #expect(try html.text("html") == "<h1>T</h1>\n<p>&lt;i&gt;</p>\n")
            let ticked = try await server.send(
                "POST /notes/task", fields,
                body: Array("csrf=\(token)&path=/a.md&line=0&rev=\(meta.rev?.description ?? "")".utf8))
            #expect(try ticked.text("rev") != meta.rev?.description)
            #expect(try await Self.text(server, "/a.md") == "- [x] x")
        }
    }
}
