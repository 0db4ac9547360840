import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Links on the account page") struct LinkPageTests {
    private static let password = "correct horse battery"

    private static func browser(_ server: TestServer, _ name: String) async throws -> Browser {
        try await server.store.setPassword(try await PasswordHash.make(password), ofMember: name)
        var browser = Browser(server)
        try await browser.signIn(name, password)
        try await browser.open("/account")
        return browser
    }

    @Test("a link that got out is seen on the account page and taken back there, without scripts")
    func takesBack() async throws {
        try await TestServer.run { server in
            try await server.store("/f/Trip%20%3Cb%3E.md", "one")
            let url = try await server.post("/1/shares/auto/f/Trip%20%3Cb%3E.md").text("url")
            let media = try await server.post("/1/media/auto/f/Trip%20%3Cb%3E.md").text("url")
            var browser = try await Self.browser(server, "Ann Bell")
            #expect(browser.page.contains("<a href=\"\(url)\"><bdi>Trip &lt;b&gt;.md</bdi></a>"))
            #expect(browser.page.contains("<bdi>/f/Trip &lt;b&gt;.md</bdi>") && browser.page.contains("Take back"))
            #expect(browser.page.contains(media) && browser.page.contains("by <bdi>Ann Bell</bdi>"))
            #expect(browser.page.contains("Shared links") && browser.page.contains("Direct links"))
            // The shared ones are shown first.
            try await browser.submit("/links/revoke")
            #expect(browser.status == 200 && browser.place == "/account")
            #expect(!browser.page.contains(url) && browser.page.contains(media))
            #expect(try await server.send("GET \(Self.target(url))", []).status == 404)
            try await browser.submit("/links/revoke")
            #expect(!browser.page.contains("links/revoke") && !browser.page.contains("Direct links"))
            #expect(try await server.send("GET \(Self.target(media))", []).status == 404)
        }
    }

    @Test("another site takes no link back in a member's name, and no member another's; an owner may")
    func permission() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "one")
            let ben = try await server.add("Ben", .editor)
            let url = try await server.send("POST /1/shares/auto/a.md", [ben]).text("url")
            _ = try await server.add("Cleo", .editor)
            var cleo = try await Self.browser(server, "Cleo")
            #expect(!cleo.page.contains(url))
            _ = try await server.send("POST /1/shares/auto/a.md", [try await server.add("Dan", .editor)])
            var owner = try await Self.browser(server, "Ann Bell")
            #expect(owner.page.contains(url))
            #expect(owner.page.contains("by <bdi>Ben</bdi>") && owner.page.contains("by <bdi>Dan</bdi>"))
            try await owner.send("/links/revoke", ["link": "1"])
            #expect(owner.status == 403, "without the form's token")
            let token = try #require(cleo.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            for id in ["1", "4711"] {
                try await cleo.send("/links/revoke", ["link": id, "csrf": String(token)])
                #expect(cleo.status == 404 && cleo.page.contains("no longer exists"))
            }
            #expect(try await server.send("GET \(Self.target(url))", []).status == 200)
            try await owner.open("/account")
            try await owner.submit("/links/revoke", ["link": "1"])
            #expect(try await server.send("GET \(Self.target(url))", []).status == 404)
            var stranger = Browser(server)
            try await stranger.open("/login")
            try await stranger.submit("/login", ["name": "Cleo", "password": "wrong horse"])
            try await stranger.send("/links/revoke", ["link": "2"])
            #expect(stranger.status == 403)
        }
    }

    /// A URL's part after the host.
    private static func target(_ url: String) -> String {
        "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
    }
}
