import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Sharing on the pages of notes, albums and photos, and of chosen photos") struct ShareMenuTests {
    private static func run(_ body: @escaping @Sendable (TestServer, inout Browser) async throws -> Void) async throws {
        try await TestServer.run { server in
            for (number, name) in ["a", "Trip/b%20(1)", "Trip/c"].enumerated() {
                let bytes = Fixture.bytes("panoramas/dated.jpg") + [UInt8(number)]
                let answer = try await server.send("PUT /1/files_put/auto/byteclub/photos/\(name).jpg", body: bytes)
                #expect(answer.status == 200)
            }
            try await server.store("/byteclub/trip.md", "# The trip")
            var browser = try await GalleryTests.browser(server)
            try await body(server, &browser)
        }
    }

    /// The target of the link that the page shows.
    private static func made(_ browser: Browser) throws -> String {
        let url = try #require(
            browser.page.firstMatch(of: /readonly value="(https?:[^"]*\/s\/[^"]*)"/)?.1, "\(browser.page)")
        return "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
    }

    private static func token(_ browser: Browser) throws -> String {
        String(try #require(browser.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1))
    }

    @Test(
        "a note, an album and a photo are shared with an end and a password, which the same form takes away",
        arguments: [
            ("/gallery/byteclub/trip.md", "/share/byteclub/trip.md", "note"),
            ("/albums/byteclub/photos/Trip", "/share/byteclub/photos/Trip", "album"),
            ("/gallery/byteclub/photos/a.jpg", "/photo/share/byteclub/photos/a.jpg", "photo"),
        ])
    func menu(page: String, action: String, what: String) async throws {
        try await Self.run { server, browser in
            try await browser.open(page)
            #expect(browser.status == 200 && browser.page.contains("can see this \(what)"), "\(browser.page)")
            try await browser.submit(action, ["days": "30", "password": "short"])
            #expect(browser.status == 400)
            try await browser.open(page)
            try await browser.submit(action, ["days": "30", "password": "seven by the hut"])
            #expect(browser.status == 200 && browser.page.contains("for those who know the password"))
            #expect(browser.page.contains("<details class=\"menu sheet\" open>"))
            let target = try Self.made(browser)
            #expect(try await server.send("GET \(target)", []).status == 403)
            let link = try #require(
                try await server.store.link(.share, secret: String(target.split(separator: "/")[1])))
            #expect(link.expires.seconds - link.created.seconds == 30 * 86_400)
            // No password in the form leaves the one that there is.
            try await browser.submit(action, ["days": "30"])
            #expect(try await server.send("GET \(target)", []).status == 403)
            try await browser.submit(action, ["days": "1", "unlock": "1"])
            #expect(try Self.made(browser) == target && !browser.page.contains("who know the password"))
            #expect(try await server.send("GET \(target)", []).status == 200)
        }
    }

    @Test("viewers and other sites share nothing, the whole club is not shared, and scripts are told so in JSON")
    func permission() async throws {
        try await Self.run { server, browser in
            var viewer = try await GalleryTests.browser(server, "Vera", .viewer)
            for page in ["/gallery/byteclub/trip.md", "/albums/byteclub/photos/Trip", "/gallery"] {
                try await viewer.open(page)
                #expect(viewer.status == 200 && !viewer.page.contains("action=\"/share"))
            }
            let (theirs, own) = (try Self.token(viewer), try Self.token(browser))
            let story = ["title": "T", "photos": "/byteclub/photos/a.jpg"]
            for target in ["/share/byteclub/trip.md", "/notes/story"] {
                try await viewer.send(target, story.merging(["csrf": theirs]) { $1 })
                #expect(viewer.status == 403, "\(target)")
                try await browser.send(target, story)
                #expect(browser.status == 403, "\(target) without a token")
                #expect(try await server.send("POST \(target)", []).status != 200)
            }
            try await browser.send("/share/", ["csrf": own])
            #expect(browser.status == 400)
            try await browser.send("/share/byteclub/none.md", ["csrf": own])
            #expect(browser.status == 404)
            for (target, status) in [
                ("/share/byteclub/none.md", 404), ("/share/byteclub/trip.md", 200), ("/notes/story", 400),
            ] {
                let answer = try await server.send(
                    "POST \(target)",
                    [
                        "Cookie: \(browser.cookie ?? "")", "Accept: application/json",
                        "Content-Type: application/x-www-form-urlencoded",
                    ], body: Array("csrf=\(own)".utf8))
                #expect(answer.status == status && answer["content-type"]?.contains("json") == true, "\(target)")
            }
        }
    }

    @Test("chosen photos become a note in the given order, whose link opens them and nothing else")
    func story() async throws {
        try await Self.run { server, browser in
            try await server.store("/byteclub/photos/a.jpg.md", "The *ridge* [x]\nat dawn\nat 1,2: [s](Trip/c.jpg)")
            let fields = [
                "title": "  A day & <b>\nmore ", "csrf": try Self.token(browser),
                "photos": "/byteclub/photos/Trip/b (1).jpg\n/byteclub/photos/a.jpg",
            ]
            try await browser.send("/notes/story", fields)
            #expect(browser.status == 200 && browser.place.hasSuffix("?share=1"), "\(browser.page)")
            #expect(browser.page.contains("<details class=\"menu sheet\" open>"))
            let name = PercentEncoding.encode("A day & <b> more.md")
            let text = try await server.get("/1/files/auto/byteclub/\(name)").text
            #expect(
                text == """
                    # A day & \\<b> more

                    ![](photos/Trip/b%20%281%29.jpg)

                    ![The \\*ridge\\* \\[x\\] at dawn](photos/a.jpg)

                    """)
            try await browser.submit("/share/byteclub/" + name, ["days": "7"])
            let page = try await server.send("GET \(try Self.made(browser))", []).text
            #expect(page.contains("<bdi>A day &amp; &lt;b&gt; more</bdi>") && page.contains("The ridge x at dawn"))
            for (number, isShown) in [(UInt8(0), true), (1, true), (2, false)] {
                let hash = ContentHasher.hash(Fixture.bytes("panoramas/dated.jpg") + [number])
                #expect(page.contains("/-/\(hash)/") == isShown, "\(number)")
            }
            // A second one of the same title is another note.
            try await browser.send("/notes/story", fields)
            #expect(browser.place.contains("%281%29.md"), "\(browser.place)")
        }
    }

    @Test(
        "a story needs a title, and photos that are there",
        arguments: [
            ("", "/byteclub/photos/a.jpg", 400), (" ", "/byteclub/photos/a.jpg", 400), ("T", "", 400),
            ("T", "/byteclub/trip.md", 400), ("T", "/byteclub/photos/none.jpg", 404), ("T", "../../a.jpg", 400),
            ("T", Array(repeating: "/byteclub/photos/a.jpg", count: 201).joined(separator: "\n"), 400),
        ])
    func noStory(title: String, photos: String, status: Int) async throws {
        try await Self.run { server, browser in
            let last = try await server.store.read { try $0.state.lastRevision() }
            let fields = ["title": title, "photos": photos, "csrf": try Self.token(browser)]
            try await browser.send("/notes/story", fields)
            #expect(browser.status == status, "\(browser.page)")
            #expect(try await server.store.read { try $0.state.lastRevision() } == last)
        }
    }

    @Test(
        "a story's photo is named from the folder of its note",
        arguments: [
            ("/n/photos/a.jpg", "/n/s.md", "photos/a.jpg"), ("/n/a.jpg", "/n/m/s.md", "../a.jpg"),
            ("/a.jpg", "/s.md", "a.jpg"), ("/o/日 1.jpg", "/n/m/s.md", "../../o/日%201.jpg"),
            ("/n/a%20[b]#.jpg", "/n/s.md", "a%2520%5Bb%5D%23.jpg"),
        ])
    func targets(photo: String, note: String, target: String) throws {
        let (photo, note) = (try RemotePath(photo), try RemotePath(note))
        #expect(Story.target(photo, from: note) == target)
        #expect(SharedStory.path(of: target, beside: note) == photo)
    }

    @Test(
        "a day is told in people's words",
        arguments: [
            (-1, "today"), (0, "today"), (1, "yesterday"), (2, "2 days ago"), (13, "13 days ago"), (14, "2 weeks ago"),
            (69, "9 weeks ago"), (70, "2 months ago"), (729, "23 months ago"),
            (730, "2 years ago"),
        ])
    func ago(days: Int, words: String) {
        #expect(Ago.words(days: Int64(days)) == words)
    }
}
