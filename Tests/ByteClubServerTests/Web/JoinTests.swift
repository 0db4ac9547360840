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
            #expect(guest.page.contains("at least 8 characters"))
            try await guest.submit(link, ["name": "ann bell", "password": "long enough"])
            #expect(guest.status == 400 && guest.page.contains("there is a member &#39;ann bell&#39; already"))
            #expect(guest.page.contains("value=\"ann bell\""))
            try await guest.submit(link, ["name": "../x", "password": "long enough"])
            #expect(guest.status == 400)
            try await guest.submit(link, ["name": "Ben", "password": "long enough"])
            #expect(guest.place == "/account" && guest.page.contains("You are a viewer"))
            #expect(guest.page.contains("byteclub login http") && !guest.page.contains("Invite the others"))
            let another = "/invite/\(try await server.store.addInvitation(role: .owner, lifetime: 1000, by: 1))"
            var owner = Browser(server)
            try await owner.open(another)
            try await owner.submit(another, ["name": "Dee", "password": "long enough"])
            #expect(owner.page.contains("Invite the others"))
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
            #expect(owner.status == 400 && owner.page.contains("there is no member"))
        }
    }

    @Test("a page that is not there is a page to a browser and JSON to a program, and no icon is no fault")
    func unknownPage() async throws {
        try await TestServer.run { server in
            let html = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
            for path in ["/accounts", "/photo", "/invite", "/s2/x"] {
                let page = try await server.send("GET \(path)", [html])
                #expect(page.status == 404 && page["content-type"]?.hasPrefix("text/html") == true, "\(path)")
                #expect(page.text.contains("There is no page") && page["content-security-policy"] != nil)
                let answer = try await server.send("GET \(path)", ["Accept: */*"])
                #expect(try answer.status == 404 && answer.refusal() == "there is no such operation")
            }
            #expect(try await server.send("GET /1/nothing", [html])["content-type"] == "application/json")
            #expect(try await server.send("GET /favicon.ico", []).status == 204)
        }
    }
}
