import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Times on the pages")
struct GalleryTimeTests {
    @Test("a photo stands under the day, and shows the hour, of the place where it was taken")
    func places() async throws {
        try await TestServer.run { server in
            let picture = Fixture.bytes("panoramas/portrait.jpg")
            for (name, date, offset) in [
                ("seoul", "2025:06:22 00:30:00", "+09:00"), ("samoa", "2025:06:22 23:59:59", "-11:00"),
                ("camera", "2025:03:30 02:30:00", nil),
            ] {
                let photo = DatedPhoto.bytes(picture, taken: date, offset: offset)
                let target = "PUT /1/files_put/auto/byteclub/photos/\(name).jpg"
                #expect(try await server.send(target, body: photo).status == 200)
            }
            var browser = try await GalleryTests.browser(server)
            _ = try await server.get("/1/metadata/auto/byteclub/photos?include_media_info=true")
            try await browser.open("/gallery")
            let days = browser.page.matches(of: /<h2>([^<]*)<\/h2>/).map { String($0.1) }
            #expect(days == ["22 Jun 2025", "30 Mar 2025"])
            for (name, shown) in [
                ("seoul", "22 Jun 2025 00:30"), ("samoa", "22 Jun 2025 23:59"), ("camera", "30 Mar 2025 02:30"),
            ] {
                try await browser.open("/gallery/byteclub/photos/\(name).jpg")
                let taken = "<span>\(shown)<small>Taken, by the clock of its place</small>"
                #expect(browser.page.contains(taken), "\(browser.page)")
            }
        }
    }

    @Test("a note's page has the time of its file as a moment that browsers show by their own clocks")
    func notes() async throws {
        try await TestServer.run { server in
            let target = "PUT /1/files_put/auto/byteclub/trip.md"
            #expect(try await server.send(target, body: Array("Trip".utf8)).status == 200)
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/gallery/byteclub/trip.md")
            #expect(
                browser.page.matches(of: /<time datetime="[-0-9]+T[:0-9]+Z">\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC</)
                    .count == 1, "\(browser.page)")
            // The editor's script brings that of times.
            #expect(browser.page.contains("<script type=\"module\" src=\"\(WebFile.editorScript.address)\"></script>"))
            #expect(String(decoding: WebFile.editorScript.bytes, as: UTF8.self).contains("import \"./time.js\";"))
        }
    }

    @Test("the pages of accounts and members have moments that browsers show by their own clocks, and say UTC without")
    func accounts() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            _ = try await server.post("/1/shares/auto/a.md")
            _ = try await server.store.addInvitation(role: .editor, lifetime: 1000, by: 1)
            let browser = try await GalleryTests.browser(server)
            let cookie = "Cookie: \(try #require(browser.cookie))"
            let moment = /<time datetime="[-0-9]+T[:0-9]+Z">\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC<\/time>/
            let day = /<time class="day" datetime="[-0-9]+T[:0-9]+Z">\d\d [A-Z][a-z]{2} \d{4}<\/time>/
            let ago = /<time class="ago" datetime="[-0-9]+T[:0-9]+Z" title="\d\d [A-Za-z]{3} \d{4}">[a-z0-9 ]+<\/time>/
            // Two devices' starts and last days, a link's end and first day; an invitation's end, a member's first day and
            // the last day of the member's devices.
            for (page, moments, days, agos) in [("/account", 3, 0, 3), ("/members", 1, 1, 1)] {
                let answer = try await server.send("GET \(page)", [cookie])
                let text = answer.text
                #expect(text.matches(of: moment).count == moments && text.matches(of: day).count == days, "\(text)")
                #expect(text.matches(of: ago).count == agos)
                #expect(text.matches(of: /\d{4} \d\d:\d\d/).count == moments)
                #expect(text.contains("<script type=\"module\" src=\"\(WebFile.timeScript.address)\"></script>"))
                #expect(answer["Content-Security-Policy"] == WebSite.formPolicy)
            }
            for page in ["/password", "/device", "/login"] {
                let answer = try await server.send("GET \(page)", [cookie])
                #expect(answer["Content-Security-Policy"] == WebSite.formPolicy)
                let scripts = answer.text.matches(of: /<script[^>]*>/).map { String($0.output) }
                #expect(scripts == ["<script type=\"module\" src=\"\(WebFile.pageScript.address)\">"])
            }
        }
    }
}
