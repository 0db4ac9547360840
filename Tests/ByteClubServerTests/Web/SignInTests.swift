import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Signing in on the pages")
struct SignInTests {
    private static let password = "correct horse <&> \"battery\""

    private static func member(_ server: TestServer) async throws {
        try await server.store.setPassword(try await PasswordHash.make(password), ofMember: "Ann Bell")
    }

    @Test("a member signs in, sees the devices, shuts one out, and signs out")
    func session() async throws {
        try await TestServer.run { server in
            try await Self.member(server)
            var browser = Browser(server)
            try await browser.open("/")
            #expect(browser.place.hasPrefix("/login"))
            try await browser.signIn("ann bell", "wrong horse")
            #expect(browser.status == 403 && browser.page.contains("Wrong"))
            try await browser.signIn("ann bell", Self.password)
            #expect(browser.status == 200 && browser.place == "/" && browser.page.contains(">Photos</h1>"))
            try await browser.open("/account")
            #expect(browser.page.contains("Ann Bell") && browser.page.contains("Token from the server"))
            #expect(try await server.get("/1/account/info").status == 200)
            // The newest is shown first: the OAuth 1 keys, then the bearer token.
            try await browser.submit("/revoke", ["device": "1"])
            #expect(!browser.page.contains("Token from the server"))
            #expect(try await server.get("/1/account/info").status == 401)
            let cookie = browser.cookie
            try await browser.submit("/logout")
            #expect(browser.place == "/login")
            browser.cookie = cookie
            try await browser.open("/")
            #expect(browser.place.hasPrefix("/login"))
        }
    }

    @Test("a form without its token, or from another site, changes nothing")
    func forgery() async throws {
        try await TestServer.run { server in
            try await Self.member(server)
            var browser = Browser(server)
            try await browser.signIn("Ann Bell", Self.password)
            try await browser.send("/revoke", ["device": "1"])
            #expect(browser.status == 403)
            try await browser.send("/revoke", ["device": "1", "csrf": String(repeating: "0", count: 64)])
            #expect(browser.status == 403)
            #expect(try await server.get("/1/account/info").status == 200)
            var stranger = Browser(server)
            try await stranger.open("/login")
            stranger.cookie = nil
            try await stranger.signIn("Ann Bell", Self.password)
            #expect(stranger.status == 403)
        }
    }

    @Test("guesses at one name end after ten, whatever the password is then, and other names go on")
    func guesses() async throws {
        // However long ten guesses take.
        let start = ContinuousClock.now
        try await TestServer.run(adjusting: { $0.settings.signIns = SignInLimits(now: { start }) }) { server in
            try await Self.member(server)
            var browser = Browser(server)
            for _ in 0..<10 {
                try await browser.signIn("Ann Bell", "wrong horse")
                #expect(browser.status == 403)
            }
            try await browser.signIn("Ann Bell", Self.password)
            #expect(browser.status == 429)
            var other = Browser(server)
            try await other.signIn("Nobody", Self.password)
            #expect(other.status == 403)
        }
    }

    @Test("a name with a NUL or of a megabyte is no other name: it is refused and not remembered")
    func oddNames() async throws {
        try await TestServer.run { server in
            try await Self.member(server)
            var browser = Browser(server)
            try await browser.signIn("Ann Bell\0x", Self.password)
            #expect(browser.status == 400)
            try await browser.open("/login")
            try await browser.signIn(String(repeating: "a", count: 50_000), Self.password)
            #expect(browser.status == 403 && browser.page.utf8.count < 10_000)
            try await browser.open("/login")
            try await browser.signIn(String(repeating: "a", count: 500_000), Self.password)
            #expect(browser.status == 413 && browser.page.utf8.count < 10_000)
            try await browser.open("/login")
            try await browser.signIn("Ann Bell", Self.password)
            #expect(browser.place == "/")
        }
    }

    @Test("who is removed or made less than an owner does not come back by an invitation of their own")
    func withdrawnInvitations() async throws {
        try await TestServer.run { server in
            for change in ["remove", "role"] {
                let ben = try await server.store.addMember(name: "Ben", role: .owner, oauth1: false)
                let secret = try await server.store.addInvitation(role: .owner, lifetime: 1000, by: ben.uid)
                #expect(try await server.store.invitation(secret) != nil)
                if change == "role" { try await server.store.setRole(.editor, ofMember: "Ben") }
                if change == "remove" { try await server.store.removeMember(name: "Ben") }
                #expect(try await server.store.invitation(secret) == nil)
            }
        }
    }

    @Test("nobody is sent to another site after signing in")
    func openRedirect() async throws {
        #expect(WebSite.local("/invite/x?a=b") == "/invite/x?a=b")
        for place in ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "", "/a\nb"] {
            #expect(WebSite.local(place) == "/")
        }
    }

    @Test("an invitation makes one member with the role it says, once, until it dies")
    func invitations() async throws {
        try await TestServer.run { server in
            try await Self.member(server)
            var owner = Browser(server)
            try await owner.signIn("Ann Bell", Self.password)
            try await owner.open("/members")
            try await owner.submit("/members", ["action": "invite", "role": "viewer"])
            let link = try #require(owner.page.firstMatch(of: /\/invite\/[0-9a-f]{32}/)).output
            var guest = Browser(server)
            try await guest.open(String(link))
            #expect(guest.page.contains("viewer"))
            try await guest.submit(String(link), ["name": "Ben <b>", "password": "short"])
            #expect(guest.status == 400 && guest.page.contains("8 to 1024"))
            try await guest.open(String(link))
            try await guest.submit(String(link), ["name": "Ben <b>", "password": "long enough"])
            #expect(guest.place == "/" && guest.page.contains("Ben &lt;b&gt;") && !guest.page.contains("<b>"))
            try await guest.open("/members")
            #expect(guest.status == 403)
            try await guest.open(String(link))
            #expect(guest.status == 404)
            try await owner.open("/members")
            try await owner.submit("/members", ["action": "role", "name": "Ben <b>", "role": "editor"])
            #expect(try await server.store.members().last?.role == .editor)
            try await owner.send("/members", ["action": "remove", "name": "Ann Bell"])
            #expect(try await server.store.members().first?.isDisabled == false)
            let short = try await server.store.addInvitation(role: .editor, lifetime: -1, by: 1)
            try await guest.open("/invite/\(short)")
            #expect(guest.status == 404)
        }
    }

    @Test("a new password ends the other sessions and needs the old one")
    func newPassword() async throws {
        try await TestServer.run { server in
            try await Self.member(server)
            var browser = Browser(server)
            var other = Browser(server)
            try await browser.signIn("Ann Bell", Self.password)
            try await other.signIn("Ann Bell", Self.password)
            try await browser.open("/password")
            try await browser.submit("/password", ["password": "wrong horse", "new": "another horse"])
            #expect(browser.status == 403)
            try await browser.submit("/password", ["password": Self.password, "new": "another horse"])
            #expect(browser.place == "/account")
            try await other.open("/")
            #expect(other.place.hasPrefix("/login"))
            try await other.signIn("Ann Bell", "another horse")
            #expect(other.place == "/")
        }
    }

    @Test("every page renders, and what it is given is escaped")
    func templates() {
        let parts: [Template] = [.page, .share, .noteList, .noteEditor, .shareMenu]
        for template in Template.allCases where !parts.contains(template) {
            // A quotation mark with an accent is one character, but a browser sees the mark.
            for evil in ["<script>", "\"\u{301} autofocus", "'\u{301}", "<\u{301}", "&\u{301}"] {
                let page = template.render(
                    [
                        "club": evil, "app": evil, "title": evil, "name": evil, "next": evil, "message": evil,
                        "role": evil,
                    ])
                #expect(page.hasPrefix("<!doctype html>") && page.contains("</main>"))
                #expect(!page.utf8.contains(evil.utf8), "\(template)")
            }
        }
    }
}
