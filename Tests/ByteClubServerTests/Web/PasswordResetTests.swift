import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("A link for a forgotten password")
struct PasswordResetTests {
    private static func secret(
        _ server: TestServer, of uid: Int64, by maker: Int64 = Invitation.byHost, lifetime: Int64 = 100
    ) async throws -> String {
        func password(of uid: Int64) async throws -> PasswordHash? {
            let name = try #require(try await server.store.members().first { $0.uid == uid }?.name)
            return try await server.store.credentials(ofMember: name)?.password
        }
        let owner =
            maker == Invitation.byHost ? nil : OwnerState(uid: maker, password: try await password(of: maker))
        return PasswordReset(member: uid, maker: owner, expires: SystemTime.seconds() + lifetime)
            .secret(replacing: try await password(of: uid), key: server.store.signingKey)
    }

    @Test("an owner makes one on the members' page, and it sets a password once")
    func once() async throws {
        try await TestServer.run { server in
            _ = try await server.store.addMember(name: "Ben", role: .editor, oauth1: false)
            try await server.store.setPassword(try await PasswordHash.make("long enough"), ofMember: "Ann Bell")
            var owner = Browser(server)
            try await owner.signIn("Ann Bell", "long enough")
            try await owner.open("/members")
            try await owner.submit("/members", ["action": "reset", "name": "Ben"])
            let link = String(try #require(owner.page.firstMatch(of: /\/reset\/[0-9a-f-]+/)).output)
            #expect(owner.page.contains("Send this link to <bdi>Ben</bdi>"))
            try await owner.submit("/members", ["action": "reset", "name": "Ann Bell"])
            #expect(owner.status == 400)
            try await owner.open("/members")
            try await owner.submit("/members", ["action": "reset", "name": "Nobody"])
            #expect(owner.status == 400 && owner.page.contains("no member named"))
            var ben = Browser(server)
            try await ben.open(link)
            #expect(ben.status == 200 && ben.page.contains("New password for <bdi>Ben</bdi>"))
            try await ben.send(link, ["new": "brand new one"])
            #expect(ben.status == 403, "a form of another site")
            try await ben.open(link)
            try await ben.submit(link, ["new": "short"])
            #expect(ben.status == 400 && ben.page.contains("8 to 1024"))
            try await ben.submit(link, ["new": "brand new one"])
            #expect(ben.place == "/account" && ben.page.contains("<bdi>Ben</bdi>"))
            try await ben.open(link)
            #expect(ben.status == 404)
            var other = Browser(server)
            try await other.signIn("Ben", "brand new one")
            #expect(other.place == "/")
            try await other.open("/account")
            #expect(other.page.contains("Token from the server"), "devices stay")
        }
    }

    @Test(
        "one that an owner has made works only while the owner is one and has the same password",
        arguments: ["password", "role", "remove"])
    func maker(_ change: String) async throws {
        try await TestServer.run { server in
            _ = try await server.store.addMember(name: "Ben", role: .owner, oauth1: false)
            _ = try await server.store.addMember(name: "Cleo", role: .owner, oauth1: false)
            let stolen = try await PasswordHash.make("long enough")
            try await server.store.setPassword(stolen, ofMember: "Ben")
            var thief = Browser(server)
            try await thief.signIn("Ben", "long enough")
            try await thief.open("/members")
            try await thief.submit("/members", ["action": "reset", "name": "Cleo"])
            let link = String(try #require(thief.page.firstMatch(of: /\/reset\/[0-9a-f-]+/)).output)
            var guest = Browser(server)
            try await guest.open(link)
            #expect(guest.status == 200)
            switch change {
            case "password":
                // The same word again is another hash.
                try await server.store.setPassword(try await PasswordHash.make("long enough"), ofMember: "Ben")
            case "role": try await server.store.setRole(.editor, ofMember: "Ben")
            default: try await server.store.removeMember(name: "Ben")
            }
            try await guest.submit(link, ["new": "brand new one"])
            #expect(guest.status == 404)
            try await guest.open(link)
            #expect(guest.status == 404)
            #expect(try await server.store.credentials(ofMember: "Cleo")?.password == nil)
        }
    }

    @Test("one that is old, changed, of a member who is gone or of a maker who owns no more sets nothing")
    func worthless() async throws {
        try await TestServer.run { server in
            let ben = try await server.store.addMember(name: "Ben", role: .owner, oauth1: false)
            let cleo = try await server.store.addMember(name: "Cleo", role: .editor, oauth1: false)
            func works(_ secret: String) async throws -> Bool {
                let found = try await PasswordReset.member(
                    of: secret, in: server.store, at: SystemTime.seconds())
                return found != nil
            }
            #expect(try await !works(Self.secret(server, of: cleo.uid, lifetime: -1)))
            let good = try await Self.secret(server, of: cleo.uid)
            #expect(try await works(good))
            let parts = good.split(separator: "-").map(String.init)
            for changed in [
                [parts[0], parts[1], String((Int64(parts[2]) ?? 0) + 1), parts[3]],
                [String(ben.uid), parts[1], parts[2], parts[3]], [parts[0], String(ben.uid), parts[2], parts[3]],
                [parts[0], parts[1], parts[2], ""], [parts[0], parts[1], parts[2], parts[3], ""], ["", "", "", ""],
                [parts[0], parts[1], parts[2], parts[3].uppercased() + "0"],
            ] { #expect(try await !works(changed.joined(separator: "-")), "\(changed)") }
            let byBen = try await Self.secret(server, of: cleo.uid, by: ben.uid)
            #expect(try await works(byBen))
            try await server.store.setRole(.editor, ofMember: "Ben")
            #expect(try await !works(byBen))
            #expect(try await works(good))
            try await server.store.removeMember(name: "Cleo")
            #expect(try await !works(good))
            var stranger = Browser(server)
            try await stranger.open("/reset/\(good)")
            #expect(stranger.status == 404 && stranger.page.contains("Ask an owner"))
        }
    }
}
