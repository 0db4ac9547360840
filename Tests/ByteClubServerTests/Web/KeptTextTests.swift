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

    @Test(
        "is shown where it cannot be saved any more, and its writer is signed in",
        arguments: [("gone", 404), ("long", 409), ("viewer", 403)])
    func unsavable(change: String, status: Int) async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one\n")
            var browser = try await GalleryTests.browser(server, "Eve", .editor)
            try await browser.open("/gallery/a.md")
            try await Self.endSession(of: browser, server)
            try await browser.submit("/gallery/a.md", ["text": "<mine>"])
            switch change {
            case "gone": #expect(try await server.post("/1/fileops/delete", "path=/a.md").status == 200)
            case "long": try await server.store("/a.md", String(repeating: "long\n", count: 20_000))
            default: try await server.store.setRole(.viewer, ofMember: "Eve")
            }
            try await browser.submit("/login", ["name": "Eve", "password": "correct horse", "text": "<mine>"])
            #expect(browser.status == status && browser.page.contains("&lt;mine&gt;"), "\(browser.page)")
            try await browser.open("/gallery")
            #expect(browser.status == 200 && browser.page.contains("Eve"))
        }
    }

    @Test("is shown only to who wrote it on a page of this server")
    func shown() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one\n")
            let body = Array("text=my+%3Cwords%3E&csrf=0&parent_rev=".utf8)
            for (site, isShown) in [(String?.none, false), ("cross-site", false), ("same-origin", true)] {
                var fields = ["Content-Type: application/x-www-form-urlencoded"]
                if let site { fields.append("Sec-Fetch-Site: \(site)") }
                let answer = try await server.send("POST /gallery/a.md", fields, body: body)
                #expect(answer.status == 403 && answer.text.contains("words") == isShown, "\(answer.text)")
                #expect(answer.text.contains("action=\"/login\"") == isShown, "\(answer.text)")
            }
            #expect(try await server.get("/1/files/auto/a.md").text == "one\n")
        }
    }
}
