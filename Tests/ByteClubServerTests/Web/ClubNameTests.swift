import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The club's name") struct ClubNameTests {
    private static let name = #"Panorama <b> & "Co""#
    private static let escaped = "Panorama &lt;b&gt; &amp; &quot;Co&quot;"

    private static func browser(_ server: TestServer, _ name: String = "Ann Bell") async throws -> Browser {
        try await server.store.setPassword(try await PasswordHash.make("correct horse"), ofMember: name)
        var browser = Browser(server)
        try await browser.signIn(name, "correct horse")
        try await browser.open("/members")
        return browser
    }

    private static func title(_ page: String) -> Substring? { page.firstMatch(of: /<title>([^<]*)<\/title>/)?.1 }

    private static func brand(_ page: String) -> Substring? {
        page.firstMatch(of: /<a class="home" href="\/"[^>]*><img[^>]*><span>(.*?)<\/span><\/a>/)?.1
    }

    @Test("an owner gives the club a name, which all pages show, escaped, until the field is emptied")
    func owner() async throws {
        try await TestServer.run { server in
            var owner = try await Self.browser(server)
            #expect(Self.title(owner.page) == "Members" && Self.brand(owner.page) == "ByteClub")
            try await owner.submit("/members", ["action": "name", "club": "  \(Self.name) "])
            #expect(owner.status == 200 && owner.place == "/members")
            #expect(server.store.clubName == Self.name)
            #expect(owner.page.contains("name=\"club\" value=\"\(Self.escaped)\""))
            for (place, title) in [
                ("/members", "Members"), ("/", "Photos"), ("/account", "Your account"),
                ("/password", "Change password"), ("/device", "Sign in a program"),
            ] {
                try await owner.open(place)
                #expect(Self.title(owner.page) == "\(title) · \(Self.escaped)", "\(owner.page)")
                #expect(Self.brand(owner.page) == "<bdi>\(Self.escaped)</bdi>" && !owner.page.contains("<b>"))
            }
            let unknown = try await server.send("GET /photograph", ["Accept: text/html"])
            #expect(Self.title(unknown.text) == "Not found · \(Self.escaped)")
            try await owner.open("/members")
            try await owner.submit("/members", ["action": "name", "club": " "])
            #expect(owner.status == 200 && server.store.clubName == nil)
            #expect(Self.title(owner.page) == "Members" && Self.brand(owner.page) == "ByteClub")
        }
    }

    @Test("no other member, no other site and no setting but the server's own names a club")
    func refused() async throws {
        try await TestServer.run { server in
            try await server.store.setClubName("Before")
            _ = try await server.add("Ben", .editor)
            var member = try await Self.browser(server, "Ben")
            #expect(member.status == 403)
            try await member.open("/account")
            let token = try #require(member.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
            try await member.send("/members", ["action": "name", "club": "Ben's", "csrf": String(token)])
            #expect(member.status == 403 && server.store.clubName == "Before")
            var owner = try await Self.browser(server)
            try await owner.send("/members", ["action": "name", "club": "Theirs"])
            #expect(owner.status == 403 && server.store.clubName == "Before")
        }
    }

    @Test("what cannot be a name changes nothing, and is there to be typed again")
    func badName() async throws {
        try await TestServer.run { server in
            try await server.store.setClubName("Before")
            var owner = try await Self.browser(server)
            for text in [String(repeating: "x", count: 61), "a\u{202E}b", "two\nlines"] {
                try await owner.submit("/members", ["action": "name", "club": text])
                #expect(owner.status == 400 && owner.page.contains("1 to 60 characters"), "\(owner.page)")
                #expect(owner.page.contains("value=\"\(text)\"") && server.store.clubName == "Before")
                #expect(Self.brand(owner.page) == "<bdi>Before</bdi>")
            }
        }
    }

    @Test("the server's setting wins over what owners have set, and their page says who changes it")
    func setting() async throws {
        try await TestServer.run(adjusting: { $0.settings.clubName = "Host's" }) { server in
            try await server.store.setClubName("Before")
            var owner = try await Self.browser(server)
            #expect(Self.title(owner.page) == "Members · Host&#39;s" && !owner.page.contains("name=\"club\""))
            #expect(owner.page.contains("setting <code>name</code>") && !owner.page.contains("Before"))
            try await owner.submit("/members", ["action": "name", "club": "After"])
            #expect(owner.status == 403 && owner.page.contains("setting &#39;name&#39;"))
            #expect(server.store.clubName == "Before")
            #expect(try await server.get("/1/account/info").decoded(Account.self).extensions?.club == "Host's")
        }
    }

    @Test("those without an account see the name where they join, sign in, allow a program, or open a shared link")
    func guests() async throws {
        try await TestServer.run { server in
            try await server.store.setClubName(Self.name)
            let secret = try await server.store.addInvitation(role: .viewer, lifetime: 1000, by: 1)
            var guest = Browser(server)
            try await guest.open("/invite/\(secret)")
            #expect(Self.title(guest.page) == "Join \(Self.escaped)" && !guest.page.contains("name=\"club\""))
            #expect(guest.page.contains("<h1>Join <bdi>\(Self.escaped)</bdi></h1>"), "\(guest.page)")
            try await guest.open("/login")
            #expect(Self.title(guest.page) == "Sign in to \(Self.escaped)")
            try await server.store("/a.md", "one")
            let url = try await server.post("/1/shares/auto/a.md").text("url")
            let target = "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
            for (target, title) in [(target, "a.md"), ("/s/x", "Link not found")] {
                let page = try await server.send("GET \(target)", []).text
                #expect(Self.title(page) == "\(title) · \(Self.escaped)" && page.contains("<bdi>\(Self.escaped)</bdi>"))
            }
            var owner = try await Self.browser(server)
            let challenge = PKCE.challenge(String(repeating: "v", count: 64))
            try await owner.open(
                "/1/oauth2/authorize?response_type=code&client_id=byteclub&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2F"
                    + "&state=s&code_challenge=\(challenge)&code_challenge_method=S256&device=desk")
            #expect(owner.page.contains("the notes and photos of <bdi>\(Self.escaped)</bdi> in your name"))
        }
    }

    @Test("the first owner may name the club while joining; those who follow may not")
    func firstOwner() async throws {
        try await TestServer.run { server in
            try await server.store.removeMember(name: "Ann Bell", evenTheLast: true)
            let secret = try #require(try await server.store.addOwnerInvitation(lifetime: 1000))
            var host = Browser(server)
            try await host.open("/invite/\(secret)")
            #expect(Self.title(host.page) == "Join the club")
            let fields = ["name": "Hana", "password": "long enough"]
            try await host.submit("/invite/\(secret)", fields.merging(["club": "a\u{202E}b"]) { $1 })
            #expect(host.status == 400 && host.page.contains("1 to 60 characters") && server.store.clubName == nil)
            try await host.submit("/invite/\(secret)", fields.merging(["club": Self.name]) { $1 })
            #expect(host.place == "/" && server.store.clubName == Self.name, "\(host.page)")
            #expect(host.page.contains(">Welcome to <bdi>\(Self.escaped)</bdi>"))
            try await host.open("/account")
            #expect(host.page.contains("You are an owner of <bdi>\(Self.escaped)</bdi>"))
            let next = "/invite/\(try await server.store.addInvitation(role: .owner, lifetime: 1000, by: 2))"
            var guest = Browser(server)
            try await guest.open(next)
            try await guest.submit(next, ["name": "Ben", "password": "long enough", "club": "Ben's"])
            #expect(guest.place == "/" && server.store.clubName == Self.name)
        }
    }

    @Test("programs are told the name beside the server's powers, and of none nothing")
    func account() async throws {
        try await TestServer.run { server in
            #expect(try await !server.get("/1/account/info").text.contains("\"club\""))
            try await server.store.setClubName(Self.name)
            #expect(try await server.get("/1/account/info").decoded(Account.self).extensions?.club == Self.name)
            try await server.store.setClubName(nil)
            #expect(try await !server.get("/1/account/info").text.contains("\"club\""))
        }
    }

    @Test("the name outlives the server, and is known to commands beside it")
    func restart() async throws {
        let fixture = try StoreFixture()
        try await fixture.store.setClubName(Self.name)
        for isServed in [true, false] {
            if !isServed { try fixture.store.close() }
            let other = try StoreFixture.open(fixture.directory.path, mode: .administration, clock: fixture.seconds)
            #expect(other.clubName == Self.name)
            try other.close()
        }
    }
}
