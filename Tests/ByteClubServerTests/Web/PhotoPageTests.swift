import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The page of a photo")
struct PhotoPageTests {
    private static let page = "/gallery/byteclub/photos/p.jpg"

    private static func run(_ body: @escaping @Sendable (TestServer, inout Browser) async throws -> Void) async throws {
        try await TestServer.run { server in
            try await put("p", "dated", server)
            var browser = try await GalleryTests.browser(server)
            try await browser.open(page)
            try await body(server, &browser)
        }
    }

    private static func put(_ name: String, _ fixture: String, _ server: TestServer) async throws {
        let target = "/1/files_put/auto/byteclub/photos/\(name).jpg"
        let answer = try await server.send("PUT \(target)", body: Fixture.bytes("panoramas/\(fixture).jpg"))
        #expect(answer.status == 200)
    }

    private static func caption(_ server: TestServer, of name: String = "p") async throws -> String? {
        let answer = try await server.get("/1/files/auto/byteclub/photos/\(name).jpg.md")
        return answer.status == 200 ? answer.text : nil
    }

    @Test("tells when, where and by whom, with a map that is opened on a click only")
    func facts() async throws {
        try await Self.run { _, browser in
            #expect(browser.status == 200 && browser.page.contains("Added <time"))
            #expect(browser.page.contains("<bdi>Ann Bell</bdi><small>Added"))
            let map = #"href="https://www.openstreetmap.org/?mlat=50.6089&amp;mlon=6.4381#map=15/50.6089/6.4381""#
            #expect(browser.page.contains(map + #" target="_blank" rel="noopener noreferrer""#))
            #expect(browser.page.contains(#"<a href="/gallery?show=photos&amp;near=50.6089%2C%206.4381">"#))
            // Nothing of another site is loaded.
            #expect(browser.page.matches(of: /(src|srcset|action)="https?:/).isEmpty)
            #expect(!browser.page.contains("style=\"") && !browser.page.contains("<script>"))
            #expect(!browser.page.contains("onclick"))
        }
    }

    @Test("deletes a photo with its caption, and restores both")
    func deletion() async throws {
        try await Self.run { server, browser in
            try await server.store("/byteclub/photos/p.jpg.md", "The ridge")
            try await browser.open(Self.page)
            try await browser.submit("/photo/delete/byteclub/photos/p.jpg")
            #expect(browser.status == 410 && browser.page.contains("is deleted") && browser.place == Self.page)
            #expect(browser.page.contains("Ann Bell"))
            #expect(try await Self.caption(server) == nil)
            #expect(!browser.page.contains("name=\"rev\""))
            try await browser.submit("/photo/restore/byteclub/photos/p.jpg")
            #expect(browser.status == 200 && browser.page.contains("The ridge"))
            #expect(try await Self.caption(server) == "The ridge")
            // What somebody else has changed since is not deleted.
            let old = browser
            try await Self.put("p", "portrait", server)
            browser = old
            try await browser.submit("/photo/delete/byteclub/photos/p.jpg")
            #expect(browser.status == 409)
            try await browser.open("/gallery/byteclub/photos/never.jpg")
            #expect(browser.status == 404)
        }
    }

    @Test("restores an older version, which stays in the history")
    func history() async throws {
        try await Self.run { server, browser in
            try await Self.put("p", "portrait", server)
            try await browser.open(Self.page)
            #expect(browser.page.matches(of: /action="\/photo\/restore/).count == 1)
            try await browser.submit("/photo/restore/byteclub/photos/p.jpg")
            #expect(browser.status == 200 && browser.page.matches(of: /action="\/photo\/restore/).count == 1)
            let bytes = try await server.get("/1/files/auto/byteclub/photos/p.jpg").body
            #expect(bytes == Fixture.bytes("panoramas/dated.jpg"))
            try await browser.submit("/photo/restore/byteclub/photos/p.jpg", ["rev": "999900000001"])
            #expect(browser.status >= 400)
        }
    }

    @Test("moves a photo to an album with its caption, and replaces nothing")
    func moves() async throws {
        try await Self.run { server, browser in
            let spots = "at 90,0: [q](q.jpg#view=1,2,60)\nat 1,1: [x](../../../x.jpg)\n"
            try await server.store("/byteclub/photos/p.jpg.md", "The ridge\n\n" + spots)
            try await Self.put("q", "portrait", server)
            try await browser.submit("/photo/move/byteclub/photos/p.jpg", ["folder": "", "name": "q"])
            #expect(browser.status == 403 && browser.page.contains("already exists"))
            try await browser.open(Self.page)
            try await browser.submit("/photo/move/byteclub/photos/p.jpg", ["folder": "Trip 2026/", "name": "ridge"])
            #expect(browser.status == 200 && browser.place == "/gallery/byteclub/photos/Trip%202026/ridge.jpg")
            #expect(browser.page.contains("<bdi>Trip 2026</bdi>") && browser.page.contains("The ridge"))
            let note = try await server.get("/1/files/auto/byteclub/photos/Trip%202026/ridge.jpg.md").text
            #expect(note.contains("at 90,0: [q](../q.jpg#view=1,2,60)\nat 1,1: [x](../../../x.jpg)\n"))
            // Who added it is not who moved it there.
            #expect(browser.page.contains("Added <time"))
            for fields in [["folder": "../..", "name": "x"], ["folder": "", "name": "a/b"]] {
                try await browser.submit("/photo/move/byteclub/photos/Trip%202026/ridge.jpg", fields)
                #expect(browser.status == 400, "\(fields)")
                try await browser.open("/gallery/byteclub/photos/Trip%202026/ridge.jpg")
            }
        }
    }

    @Test("keeps the spots beside it leading to a photo that is renamed or moved")
    func movedTarget() async throws {
        try await Self.run { server, browser in
            try await Self.put("q", "portrait", server)
            try await server.store(
                "/byteclub/photos/q.jpg.md", "Up.\n\nat 1,2: [p](p.jpg#view=3,4)\nat 5,6: [x](x.jpg)\n")
            try await browser.submit("/photo/move/byteclub/photos/p.jpg", ["folder": "", "name": "ridge"])
            #expect(
                try await Self.caption(server, of: "q")
                    == "Up.\n\nat 1,2: [p](ridge.jpg#view=3,4)\nat 5,6: [x](x.jpg)\n")
            try await browser.submit("/photo/move/byteclub/photos/ridge.jpg", ["folder": "Trip", "name": "ridge"])
            #expect(try await Self.caption(server, of: "q")?.contains("at 1,2: [p](Trip/ridge.jpg#view=3,4)\n") == true)
        }
    }

    @Test("makes a link that works without an account")
    func share() async throws {
        try await Self.run { server, browser in
            try await browser.submit("/photo/share/byteclub/photos/p.jpg", ["days": "1"])
            let url = try #require(browser.page.firstMatch(of: /value="(https?:[^"]*\/s\/[^"]*)"/)?.1)
            let target = "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
            #expect(try await server.send("GET \(target)", []).status == 200)
            try await browser.submit("/photo/share/byteclub/photos/p.jpg", ["days": "1000"])
            #expect(browser.status == 400)
        }
    }

    @Test("sets the view in the caption's note as the command does, and keeps the rest")
    func views() async throws {
        try await Self.run { server, browser in
            try await server.store("/byteclub/photos/p.jpg.md", "The ridge")
            try await browser.submit("/photo/view/byteclub/photos/p.jpg", ["view": "sphere"])
            #expect(browser.status == 200 && browser.page.contains("data-kind=\"sphere\""))
            #expect(try await Self.caption(server) == "---\nview: sphere\n---\nThe ridge")
            try await browser.submit("/photo/view/byteclub/photos/p.jpg", ["view": "round"])
            #expect(browser.status == 400)
            try await server.store("/byteclub/photos/p.jpg.md", "---\nview: strip\n---\n")
            try await browser.open(Self.page)
            try await browser.submit("/photo/view/byteclub/photos/p.jpg", ["view": "auto"])
            #expect(try await Self.caption(server) == nil)
        }
    }

    @Test("has spots that lead to photos of the club, and nowhere else")
    func spots() async throws {
        try await Self.run { server, browser in
            try await Self.put("h'ut%201", "portrait", server)
            let note =
                "---\nview: sphere\n---\nThe ridge.\nat 90,-5: [<b>hut</b>](h'ut%201.jpg)\n"
                + "at 0,0: [x](javascript:alert(1))\nat 1,1: [y](../../../z.jpg)\nat 2,2: [z](https://a.example/z.jpg)\n"
            try await server.store("/byteclub/photos/p.jpg.md", note)
            try await browser.open(Self.page)
            let link = #"<a href="/gallery/byteclub/photos/h%27ut%201.jpg" data-yaw="90.0" data-pitch="-5.0">"#
            #expect(browser.page.contains(link + "&lt;b&gt;hut&lt;/b&gt;</a>"))
            #expect(browser.page.matches(of: /data-yaw="[^"]*" data-pitch="[^"]*">/).count == 1)
            #expect(!browser.page.contains("href=\"javascript:") && !browser.page.contains("href=\"https://a."))
            #expect(browser.page.contains("<figcaption>The ridge.</figcaption>"))
            let spot = ["yaw": "-12.34", "pitch": "3", "target": "h'ut 1.jpg", "text": "back"]
            let token = try #require(browser.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            try await browser.send("/photo/spot/byteclub/photos/p.jpg", spot.merging(["csrf": String(token)]) { $1 })
            #expect(try await Self.caption(server)?.hasSuffix("at -12.3,3: [back](h'ut%201.jpg)\n") == true)
            for target in ["../../../x.jpg", "missing.jpg", "https://a.example/x.jpg", "", "p.exe"] {
                let fields = ["yaw": "0", "pitch": "0", "target": target, "csrf": String(token)]
                try await browser.send("/photo/spot/byteclub/photos/p.jpg", fields)
                #expect(browser.status == 400 || browser.status == 404, "\(target)")
            }
            try await browser.open(Self.page)
            try await browser.submit(Self.page, ["text": "Storm."])
            #expect(
                try await Self.caption(server)?.contains("Storm.\n\nat 90,-5: [<b>hut</b>](h'ut%201.jpg)\n") == true)
            let line = "at -12.3,3: [back](h'ut%201.jpg)"
            try await browser.send(
                "/photo/spot/byteclub/photos/p.jpg", ["remove": line, "csrf": String(token)])
            #expect(try await Self.caption(server)?.contains("back") == false)
        }
    }

    @Test("lets viewers look and nobody change without the form's token; scripts are told so in JSON")
    func permission() async throws {
        try await Self.run { server, browser in
            var viewer = try await GalleryTests.browser(server, "Vera", .viewer)
            try await viewer.open(Self.page)
            #expect(viewer.status == 200 && !viewer.page.contains("action=\"/photo/"))
            let last = try await server.store.read { try $0.state.lastRevision() }
            let token = try #require(viewer.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            let fields = ["view": "sphere", "folder": "x", "name": "y", "yaw": "0", "pitch": "0", "target": "p.jpg"]
            for action in ["delete", "move", "restore", "share", "spot", "view"] {
                let target = "/photo/\(action)/byteclub/photos/p.jpg"
                try await viewer.send(target, fields.merging(["csrf": String(token)]) { $1 })
                #expect(viewer.status == 403, "\(action)")
                try await browser.send(target, fields)
                #expect(browser.status == 403, "\(action) without a token")
                #expect(try await server.send("POST \(target)", []).status != 200)
            }
            try await browser.open(Self.page)
            let own = try #require(browser.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            for (action, status) in [("view", 400), ("burn", 404), ("share", 200)] {
                let answer = try await server.send(
                    "POST /photo/\(action)/byteclub/photos/p.jpg",
                    [
                        "Cookie: \(browser.cookie ?? "")", "Accept: application/json",
                        "Content-Type: application/x-www-form-urlencoded",
                    ], body: Array("csrf=\(own)".utf8))
                #expect(answer.status == status && answer["content-type"]?.contains("json") == true, "\(action)")
            }
            #expect(try await server.store.read { try $0.state.lastRevision() } == last)
            let links = try await server.store.links(
                seenBy: try #require(try await server.store.members().first), nil, before: .max, limit: 10)
            #expect(links.count == 1)
        }
    }
}
