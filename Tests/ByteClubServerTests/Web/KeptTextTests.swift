import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("A text whose writer was signed out meanwhile")
struct KeptTextTests {
    private static func endSession(of browser: Browser, _ server: TestServer) async throws {
        let secret = try #require(browser.cookie?.split(separator: "=").last)
        try await server.store.removeWebSession(String(secret))
    }

    @Test("is there again after a sign-in, also after a wrong password, and is saved then")
    func kept() async throws {
        try await TestServer.run { server in
            try await server.store("/a%20trip.md", "one\n")
            var browser = try await GalleryTests.browser(server)
            try await browser.open("/gallery/a%20trip.md")
            try await Self.endSession(of: browser, server)
            try await browser.submit("/gallery/a%20trip.md", ["text": "<one>\r\ntwo\r\n"])
            #expect(browser.status == 403 && browser.page.contains("You are signed out"))
            #expect(browser.page.contains("&lt;one&gt;\r\ntwo"))
            for (password, status) in [("wrong", 403), ("correct horse", 400)] {
                try await browser.submit(
                    "/login", ["name": "Ann Bell", "password": password, "text": "<one>\r\ntwo\r\n"])
                #expect(browser.status == status && browser.page.contains("&lt;one&gt;"), "\(browser.page)")
            }
            #expect(browser.page.contains("signed in again"))
            #expect(try await server.get("/1/files/auto/a%20trip.md").text == "one\n")
            try await browser.submit("/gallery/a%20trip.md", ["text": "<one>\r\ntwo\r\n"])
            #expect(browser.status == 200)
            #expect(try await server.get("/1/files/auto/a%20trip.md").text == "<one>\ntwo\n")
        }
    }

    @Test("is shown to be copied where the browser has forgotten the session, and no other site gets a form with it")
    func shown() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one\n")
            let body = Array("text=my+%3Cwords%3E&csrf=0&parent_rev=".utf8)
            for (site, hasForm) in [(String?.none, false), ("cross-site", false), ("same-origin", true)] {
                var fields = ["Content-Type: application/x-www-form-urlencoded"]
                if let site { fields.append("Sec-Fetch-Site: \(site)") }
                let answer = try await server.send("POST /gallery/a.md", fields, body: body)
                #expect(answer.status == 403 && answer.text.contains("my &lt;words&gt;</textarea>"))
                #expect(answer.text.contains("action=\"/login\"") == hasForm, "\(answer.text)")
            }
            #expect(try await server.get("/1/files/auto/a.md").text == "one\n")
        }
    }
}
