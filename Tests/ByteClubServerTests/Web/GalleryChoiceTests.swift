import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("What the gallery shows")
struct GalleryChoiceTests {
    private static func names(_ browser: Browser) -> [String] {
        browser.page.matches(of: /<a href="\/gallery\/([^"]*)"/).map { String($0.1) }
    }

    @Test("are all notes and photos or the panoramas, and months are a link away, without scripts")
    func choices() async throws {
        try await TestServer.run { server in
            for (name, fixture) in [("dated", "dated"), ("strip", "phone-strip"), ("plain", "portrait")] {
                let target = "PUT /1/files_put/auto/\(name).jpg"
                #expect(try await server.send(target, body: Fixture.bytes("panoramas/\(fixture).jpg")).status == 200)
            }
            try await server.store("/a.md", "x")
            var browser = try await GalleryTests.browser(server)
            // The first page looks into what is new.
            try await browser.open("/gallery")
            #expect(Self.names(browser).count == 4)
            let month = try #require(browser.page.firstMatch(of: /<b>2013<\/b> <a href="([^"]*)">Aug</)?.1)
            try await browser.open(String(month))
            #expect(browser.status == 200 && Self.names(browser) == ["dated.jpg"])
            let panoramas = try #require(browser.page.firstMatch(of: /<a href="(\/gallery\?[^"]*)">Panoramas</)?.1)
            try await browser.open(String(panoramas))
            #expect(Self.names(browser) == ["strip.jpg"])
            #expect(browser.page.contains("aria-current=\"page\">Panoramas"))
            let there = try #require(browser.page.firstMatch(of: /<b>2013<\/b> <a href="([^"]*)">Aug</)?.1)
            try await browser.open(String(there).replacing("&amp;", with: "&"))
            #expect(browser.status == 200 && Self.names(browser).isEmpty && browser.page.contains("No photos or notes"))
            try await browser.open("/gallery?show=none")
            #expect(browser.status == 404)
        }
    }

    @Test("a caption whose photo was renamed alone is a note under its old name, and belongs to the photo again later")
    func orphan() async throws {
        try await TestServer.run { server in
            _ = try await server.send("PUT /1/files_put/auto/ridge.jpg", body: Fixture.bytes("panoramas/portrait.jpg"))
            try await server.store("/ridge.jpg.md", "An hour before")
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/gallery")
            #expect(Self.names(browser) == ["ridge.jpg"] && browser.page.contains("An hour before"))
            _ = try await server.post("/1/fileops/move", "root=auto&from_path=/ridge.jpg&to_path=/summit.jpg")
            try await browser.open("/gallery")
            #expect(Self.names(browser).sorted() == ["ridge.jpg.md", "summit.jpg"])
            #expect(browser.page.contains("<bdi class=\"title\">An hour before"))
            _ = try await server.post("/1/fileops/move", "root=auto&from_path=/ridge.jpg.md&to_path=/summit.jpg.md")
            try await browser.open("/gallery")
            #expect(Self.names(browser) == ["summit.jpg"] && browser.page.contains("An hour before"))
        }
    }
}
