import TestSupport
import Testing

@testable import ByteClubServer

/// What members ask for in a browser counts for them, as what their programs ask for does.
@Suite struct BrowserLimitTests {
    @Test(
        "a member's tab that asks without end is told to wait, for pages and for pictures, and others are served",
        arguments: ["/account", "/photos/none/1024.jpg"])
    func refused(target: String) async throws {
        let limits = RequestLimits(memberRate: 1, attemptRate: 0, anonymousRate: 0)
        try await TestServer.run(adjusting: { $0.settings.limits = limits }) { server in
            let other = try await server.add("Ben", .viewer)
            let browser = try await GalleryTests.browser(server)
            let cookie = try "Cookie: " + #require(browser.cookie)
            // A slow machine may earn the member a request at any time, but not at each.
            var (served, refusal) = (0, RawMessage?.none)
            while refusal == nil, served < 1000 {
                let answer = try await server.send("GET \(target)", [cookie])
                if answer.status == 429 { refusal = answer } else { served += 1 }
            }
            #expect(refusal?["Retry-After"].flatMap { Int($0) } ?? 0 >= 1, "\(served) served")
            #expect(limits.refusals.members >= 1)
            #expect(try await server.send("GET /1/account/info", [other]).status == 200)
        }
    }

    @Test("a member's pages and forms need nothing of what strangers at the same address share")
    func requesters() async throws {
        try await TestServer.run { server in
            try await server.store("/long.md", String(repeating: "1 < 2 & 3\n", count: 6000))
            try await server.store("/short.md")
            var browser = try await GalleryTests.browser(server)
            let address = try #require(IPAddress("127.0.0.1"))
            let (answers, forms) = (server.club.shares.answers, server.club.shares.forms)
            let taken = try [answers, forms].map { pool in
                try pool.take(pool.bounds.network, for: .stranger(address.network))
            }
            try await browser.open("/gallery/long.md")
            #expect(browser.status == 200 && browser.page.utf8.count > SharedLimits.smallAnswer)
            try await browser.open("/gallery/short.md")
            let text = String(repeating: "x", count: SharedLimits.smallForm) + "\n"
            try await browser.submit("/gallery/short.md", ["text": text])
            #expect(browser.status == 200)
            #expect(try await server.get("/1/files/auto/short.md").text == text)
            withExtendedLifetime(taken) {}
        }
    }
}
