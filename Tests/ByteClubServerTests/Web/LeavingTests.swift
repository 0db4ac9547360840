import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Leaving on the pages")
struct LeavingTests {
    private static func signedIn(_ server: TestServer, _ name: String) async throws -> Browser {
        try await server.store.setPassword(try await PasswordHash.make("long enough"), ofMember: name)
        var browser = Browser(server)
        try await browser.signIn(name, "long enough")
        try await browser.open("/account")
        return browser
    }

    @Test("a member leaves by a second click: tokens and sessions are dead, files stay")
    func leave() async throws {
        try await TestServer.run { server in
            let ben = try await server.store.addMember(name: "Ben", role: nil, oauth1: false)
            let bearer = "Authorization: Bearer \(ben.token)"
            _ = try await server.send("PUT /1/files_put/auto/a.md", [bearer], body: [65])
            var browser = try await Self.signedIn(server, "Ben")
            let button = try #require(browser.page.firstRange(of: "Leave this club</button>"))
            #expect(browser.page[..<button.lowerBound].contains("<details><summary>Leave</summary>"))
            let session = browser.cookie
            try await browser.send("/leave", [:])
            #expect(browser.status == 403, "a form of another site")
            #expect(try await server.send("GET /1/account/info", [bearer]).status == 200)
            try await browser.open("/account")
            try await browser.submit("/leave")
            #expect(browser.status == 200 && browser.page.contains("You have left the club"))
            #expect(!browser.page.contains("Sign out"))
            #expect(try await server.send("GET /1/account/info", [bearer]).status == 401)
            browser.cookie = session
            try await browser.open("/account")
            #expect(browser.place.hasPrefix("/login"))
            #expect(try await server.get("/1/files/auto/a.md").text == "A")
        }
    }

    @Test("the last owner stays, alone or among others")
    func lastOwner() async throws {
        try await TestServer.run { server in
            var owner = try await Self.signedIn(server, "Ann Bell")
            for name in ["", "Ben"] {
                if !name.isEmpty { _ = try await server.store.addMember(name: name, role: .editor, oauth1: false) }
                try await owner.open("/account")
                #expect(owner.page.contains("You are the last owner") && !owner.page.contains("/leave"))
                let token = try #require(owner.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)).1
                try await owner.send("/leave", ["csrf": String(token)])
                #expect(owner.status == 409 && owner.page.contains("is the last owner"), "\(owner.page)")
            }
            try await server.store.setRole(.owner, ofMember: "Ben")
            try await owner.open("/account")
            try await owner.submit("/leave")
            #expect(owner.status == 200 && owner.page.contains("You have left"))
        }
    }

    @Test("of two owners who leave or remove each other at the same moment one stays", arguments: ["leave", "remove"])
    func together(_ way: String) async throws {
        try await TestServer.run { server in
            let password = try await PasswordHash.make("long enough")
            try await server.store.setPassword(password, ofMember: "Ann Bell")
            var names = ["Ann Bell"]
            for round in 0..<12 {
                // Who stayed in the round before is one of the two, first or second.
                names.insert("Ben \(round)", at: round % 2)
                _ = try await server.store.addMember(name: names[round % 2], role: .owner, oauth1: false)
                try await server.store.setPassword(password, ofMember: names[round % 2])
                var browsers: [Browser] = []
                for (name, other) in [(names[0], names[1]), (names[1], names[0])] {
                    let uid = try #require(try await server.store.credentials(ofMember: name)?.member.uid)
                    let session = try #require(
                        try await server.store.addWebSession(member: uid, password: password, lifetime: 1000))
                    var browser = Browser(server)
                    browser.cookie = "byteclub=\(session)"
                    try await browser.open(way == "leave" ? "/account" : "/members")
                    #expect(browser.page.contains(way == "leave" ? "action=\"/leave\"" : other))
                    browsers.append(browser)
                }
                let statuses = try await withThrowingTaskGroup(of: Int.self) { [browsers, names] group in
                    for (browser, other) in zip(browsers, names.reversed()) {
                        group.addTask {
                            var browser = browser
                            if way == "leave" {
                                try await browser.submit("/leave")
                            } else {
                                try await browser.submit("/members", ["action": "remove", "name": other])
                            }
                            return browser.status
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let left = try await server.store.members().filter { !$0.isDisabled }
                #expect(left.count == 1 && left.first?.role == .owner, "round \(round): \(statuses)")
                names = left.map(\.name)
                if names.isEmpty { return }
            }
        }
    }
}
