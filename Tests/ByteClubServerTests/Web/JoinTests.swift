import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Joining on the pages")
struct JoinTests {
    private static func owner(_ server: TestServer) async throws -> Browser {
        try await server.store.setPassword(try await PasswordHash.make("correct horse"), ofMember: "Ann Bell")
        var browser = Browser(server)
        try await browser.signIn("Ann Bell", "correct horse")
        try await browser.open("/members")
        return browser
    }

    @Test("who chose a name that is taken chooses again on the same page, and is told what to do next")
    func takenName() async throws {
        try await TestServer.run { server in
            let secret = try await server.store.addInvitation(role: .viewer, lifetime: 1000, by: 1)
            let link = "/invite/\(secret)"
            var guest = Browser(server)
            try await guest.open(link)
            #expect(guest.page.contains("belongs to <bdi>Ann Bell</bdi>") && guest.page.contains("a viewer"))
            #expect(guest.page.contains("At least 8 characters"))
            try await guest.submit(link, ["name": "ann bell", "password": "long enough"])
            #expect(guest.status == 400 && guest.page.contains("the name &#39;ann bell&#39; is taken"))
            #expect(guest.page.contains("value=\"ann bell\""))
            try await guest.submit(link, ["name": "../x", "password": "long enough"])
            #expect(guest.status == 400)
            try await guest.submit(link, ["name": "Ben", "password": "long enough"])
            #expect(guest.place == "/" && guest.page.contains("action=\"/welcome\""))
            #expect(guest.page.contains("href=\"/account#machine\"") && !guest.page.contains("Invite others"))
            #expect(!guest.page.contains("Write a note"))
            try await guest.open("/account")
            #expect(guest.page.contains("You are a viewer") && guest.page.contains("byteclub login http"))
            let another = "/invite/\(try await server.store.addInvitation(role: .owner, lifetime: 1000, by: 1))"
            var owner = Browser(server)
            try await owner.open(another)
            try await owner.submit(another, ["name": "Dee", "password": "long enough"])
            #expect(owner.page.contains("Invite others") && owner.page.contains("Write a note"))
        }
    }

    @Test("the gallery greets who is new in a browser until that is dismissed there, and nobody on other pages")
    func welcome() async throws {
        try await TestServer.run { server in
            let link = "/invite/\(try await server.store.addInvitation(role: .editor, lifetime: 1000, by: 1))"
            var guest = Browser(server)
            try await guest.open(link)
            try await guest.submit(link, ["name": "Ben", "password": "long enough"])
            #expect(guest.page.contains("action=\"/welcome\""))
            try await guest.open("/gallery?show=photos")
            #expect(guest.page.contains("action=\"/welcome\""))
            try await guest.open("/albums")
            #expect(!guest.page.contains("/welcome"))
            try await guest.send("/welcome", [:])
            #expect(guest.status == 403)
            try await guest.open("/")
            try await guest.submit("/welcome")
            #expect(guest.place == "/gallery" && !guest.page.contains("/welcome") && guest.greeting == nil)
            try await guest.submit("/logout")
            try await guest.signIn("Ben", "long enough")
            #expect(guest.place == "/" && !guest.page.contains("/welcome"), "this browser knows Ben")
            var other = Browser(server)
            try await other.signIn("Ben", "long enough")
            #expect(other.place == "/" && other.page.contains("action=\"/welcome\""))
        }
    }

    @Test("who joins while a program waits is asked at once whether it may in, and goes on to where it waits")
    func programWaits() async throws {
        try await TestServer.run { server in
            let secret = try await server.store.addInvitation(role: .editor, lifetime: 1000, by: 1)
            let challenge = PKCE.challenge(String(repeating: "v", count: 64))
            let asked =
                "/1/oauth2/authorize?response_type=code&client_id=byteclub&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2F"
                + "&state=s&code_challenge=\(challenge)&code_challenge_method=S256&device=desk"
            let link = "/invite/\(secret)?next=" + PercentEncoding.encode(asked)
            var guest = Browser(server)
            try await guest.open(link)
            try await guest.submit("/invite/\(secret)", ["name": "Ann Bell", "password": "long enough"])
            #expect(guest.status == 400, "the name is taken, and the form remembers where to go on")
            try await guest.submit("/invite/\(secret)", ["name": "Ben", "password": "long enough"])
            #expect(guest.page.contains("Allow <bdi>ByteClub</bdi>?") && guest.page.contains("desk"), "\(guest.page)")
            try await guest.submit(guest.place, ["decision": "allow"])
            #expect(guest.elsewhere?.hasPrefix("http://127.0.0.1:1/?code=") == true && guest.value("state") == "s")
            // The program is run again with the same link.
            try await guest.open(link)
            #expect(guest.place == asked && guest.page.contains("desk"))
            var later = Browser(server)
            try await later.open(link)
            #expect(later.status == 403 && later.page.contains("If you joined with it, sign in"))
            try await later.submit("/login", ["name": "Ben", "password": "long enough"])
            #expect(later.place == asked && later.page.contains("desk"))
            try await later.open("/invite/\(secret)")
            #expect(later.status == 404)
        }
    }

    @Test("an invitation's link leads to no other site, and to the page for a code with the code filled in")
    func localOnly() async throws {
        try await TestServer.run { server in
            for (next, place) in [
                ("//evil.example", "/"), ("https%3A%2F%2Fevil.example", "/"), ("%2F%5Cevil.example", "/"),
                ("%2Fdevice%3Fcode%3DBCDF-GHJK", "/device?code=BCDF-GHJK"),
            ] {
                let secret = try await server.store.addInvitation(role: .viewer, lifetime: 1000, by: 1)
                var guest = Browser(server)
                try await guest.open("/invite/\(secret)?next=\(next)")
                let name = "Guest \(secret)"
                try await guest.submit("/invite/\(secret)", ["name": name, "password": "long enough"])
                #expect(guest.place == place && guest.elsewhere == nil && guest.page.contains("Guest"))
                #expect(place == "/" || guest.page.contains("value=\"BCDF-GHJK\""))
                try await guest.open("/invite/\(secret)?next=\(next)")
                #expect(guest.place == place && guest.elsewhere == nil)
            }
        }
    }

    @Test("the account's page has the line for another machine, whatever is signed in already")
    func anotherMachine() async throws {
        try await TestServer.run(adjusting: { $0.settings.pin = "AAAA" }) { server in
            var owner = try await Self.owner(server)
            try await owner.open("/account")
            #expect(owner.page.contains("<h2>Add a machine</h2>") && owner.page.contains("Token from the server"))
            #expect(owner.page.contains("Last seen <time class=\"ago\""))
            #expect(owner.page.firstMatch(of: /byteclub login http\S+#sha256=AAAA</) != nil, "\(owner.page)")
            #expect(owner.page.contains("href=\"/device\"") && !owner.page.contains("None yet"))
            for device in try await server.store.devices(of: 1) {
                _ = try await server.store.removeDevice(device.id, of: 1)
            }
            try await owner.open("/account")
            #expect(owner.page.contains("<h2>Add a machine</h2>") && owner.page.contains("None yet"))
        }
    }

    @Test("an address without an owner says where the owner's link is, instead of a form to sign in with")
    func noOwner() async throws {
        try await TestServer.run { server in
            var browser = Browser(server)
            try await browser.open("/")
            #expect(browser.page.contains("action=\"/login\"") && browser.page.contains("byteclub password"))
            #expect(!browser.page.contains("--data"), "who reads it may have no server")
            try await server.store.removeMember(name: "Ann Bell", evenTheLast: true)
            try await browser.open("/")
            #expect(browser.status == 200 && browser.page.contains("no owner yet"))
            #expect(browser.page.contains("byteclub members invite --data DIR"))
            #expect(!browser.page.contains("action=\"/login\""))
        }
    }

    @Test(
        "in a club without an owner an invitation that is used up says where the owner's link is, and a good one works",
        arguments: ["", "?next=%2Fdevice"])
    func noOwnerInvitation(_ query: String) async throws {
        try await TestServer.run { server in
            let good = try await server.store.addInvitation(role: .editor, lifetime: 1000, by: Invitation.byHost)
            try await server.store.removeMember(name: "Ann Bell", evenTheLast: true)
            for secret in ["0123456789abcdef0123456789abcdef", good] {
                var browser = Browser(server)
                try await browser.open("/invite/\(secret)\(query)")
                #expect(browser.page.contains("no owner yet") && !browser.page.contains("action=\"/login\""))
                guard secret == good else {
                    #expect(browser.status == 404 && browser.page.contains("byteclub members invite --data DIR"))
                    continue
                }
                #expect(browser.status == 200)
                try await browser.submit("/invite/\(secret)", ["name": "Ben", "password": "long enough"])
                #expect(browser.status == 200 && browser.page.contains("<bdi>Ben</bdi>"))
            }
        }
    }

    @Test("an open invitation is shown with its role and end, and taken back")
    func takeBack() async throws {
        try await TestServer.run { server in
            var owner = try await Self.owner(server)
            #expect(!owner.page.contains("Open invitations"))
            try await owner.submit("/members", ["action": "invite", "role": "viewer"])
            let link = try #require(owner.page.firstMatch(of: /\/invite\/[0-9a-f]{32}/)).output
            let id = try #require(try await server.store.invitations().first?.id)
            #expect(owner.page.contains("Open invitations") && owner.page.contains("value=\"\(id)\""))
            try await owner.submit("/members", ["action": "uninvite", "invitation": id])
            #expect(owner.status == 200 && !owner.page.contains("Open invitations"))
            try await owner.submit("/members", ["action": "uninvite", "invitation": id])
            #expect(owner.status == 404)
            var guest = Browser(server)
            try await guest.open(String(link))
            #expect(guest.status == 404)
        }
    }

    @Test("a member is removed by a second click only, and an unknown one is told")
    func removal() async throws {
        try await TestServer.run { server in
            _ = try await server.store.addMember(name: "Ben", role: nil, oauth1: false)
            var owner = try await Self.owner(server)
            let button = try #require(owner.page.firstRange(of: "value=\"remove\""))
            #expect(owner.page[..<button.lowerBound].contains("<details><summary>Remove</summary>"))
            try await owner.submit("/members", ["action": "remove", "name": "Ben"])
            #expect(owner.place == "/members" && !owner.page.contains("Ben"))
            try await owner.submit("/members", ["action": "remove", "name": "Ben"])
            #expect(owner.status == 400 && owner.page.contains("no member named"))
        }
    }

    @Test("a page that is not there is a page to a browser and JSON to a program, and no icon is no fault")
    func unknownPage() async throws {
        try await TestServer.run { server in
            let html = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
            for path in ["/accounts", "/photograph", "/invite", "/s2/x"] {
                let page = try await server.send("GET \(path)", [html])
                #expect(page.status == 404 && page["content-type"]?.hasPrefix("text/html") == true, "\(path)")
                #expect(page.text.contains("Page not found") && page["content-security-policy"] != nil)
                let answer = try await server.send("GET \(path)", ["Accept: */*"])
                #expect(try answer.status == 404 && answer.refusal() == "no such operation")
            }
            #expect(try await server.send("GET /1/nothing", [html])["content-type"] == "application/json")
            let icon = try await server.send("GET /favicon.ico", [])
            #expect(icon.status == 303 && icon["Location"] == "/assets/logo.svg")
        }
    }
}
