import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Members and tokens")
struct MemberTests {
    @Test("A member's token tells the member, and nothing else does")
    func tokens() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let ann = try await store.addMember(name: "Ann", role: nil, oauth1: false)
        let ben = try await store.addMember(name: "Ben Ny", role: nil, oauth1: false)
        #expect(ann.token.utf8.count == 64)
        #expect(ann.token != ben.token)
        #expect(try await store.member(forToken: ann.token)?.uid == ann.uid)
        #expect(try await store.member(forToken: ben.token)?.name == "Ben Ny")
        #expect(try await store.member(forToken: "") == nil)
        #expect(try await store.member(forToken: ann.token + " ") == nil)
        let stored = try await store.query { try $0.rows("SELECT hash FROM device") { $0.bytes(0) ?? [] } }
        #expect(!stored.contains(Hexadecimal.decode(ann.token) ?? []))
    }

    @Test("A name is taken whatever its case, and free again after its member was removed")
    func names() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let ann = try await store.addMember(name: "Ann", role: nil, oauth1: false)
        await #expect(throws: StorageError.self) { try await store.addMember(name: "aNN", role: nil, oauth1: false) }
        for name in ["", " x", "a\nb", String(repeating: "x", count: 256)] {
            await #expect(throws: StorageError.self) { try await store.addMember(name: name, role: nil, oauth1: false) }
        }
        try await store.removeMember(name: "ANN", evenTheLast: true)
        #expect(try await store.member(forToken: ann.token) == nil)
        await #expect(throws: StorageError.self) { try await store.removeMember(name: "Ann", evenTheLast: true) }
        let again = try await store.addMember(name: "Ann", role: nil, oauth1: false)
        #expect(again.uid > ann.uid)
        #expect(try await store.members().map(\.isDisabled) == [true, false])
    }

    @Test(
        "Nobody joins under a name that looks like another member's",
        arguments: [
            "Ann Bell\u{200B}", "Ann\u{200D} Bell", "\u{202E}lleB nnA", "Ann\u{2066} Bell", "Ann Bell\u{FE0F}",
            "Ann\u{A0}Bell", "Ann  Bell", "ANN BELL", "Ａｎｎ Bell", "Ann Be\u{2113}l", "Ann\u{34F} Bell",
            "Ann Bell\u{2800}",
            "Ann Bell\u{E0001}", "Ann Bell\u{3164}", "Ann Bell\u{85}", "Ann\u{2028}Bell", "Ann Bell\u{E000}",
            "Ann Bell\u{378}",
        ])
    func lookalikes(name: String) async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        _ = try await store.addMember(name: "Ann Bell", role: nil, oauth1: false)
        await #expect(throws: StorageError.self) { try await store.addMember(name: name, role: nil, oauth1: false) }
        let invitation = try await store.addInvitation(role: .editor, lifetime: 60, by: 0)
        let password = try #require(PasswordHash(text: "scrypt$1$1$1$salt$key"))
        await #expect(throws: StorageError.self) {
            try await store.redeemInvitation(invitation, name: name, password: password)
        }
        #expect(try await store.members().map(\.name) == ["Ann Bell"])
    }

    @Test("Names of many scripts are free to have, and one of nothing to see is not")
    func manyScripts() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let names = [
            "Ann", "Anna", "Ánn", "Ann Bell", "AnnBell", "Zoë ☀", "Σωκράτης", "山田 太郎", "שרה", "علی", "İpek", "🎒",
            "O'Hara",
        ]
        for name in names { _ = try await store.addMember(name: name, role: nil, oauth1: false) }
        #expect(try await store.members().map(\.name) == names)
        for name in ["\u{3164}", "\u{2800}\u{2800}", "\u{A0}", "\u{3000}x", "x\u{2003}"] {
            await #expect(throws: StorageError.self) { try await store.addMember(name: name, role: nil, oauth1: false) }
        }
    }

    /// Makes a club with a member whose name was free to have before, and lets go of its store.
    private static func addAnn(called name: String, _ directory: String, _ clock: Clock) async throws -> NewMember {
        let store = try StoreFixture.open(directory, clock: clock)
        let ann = try await store.addMember(name: "Old", role: nil, oauth1: false)
        _ = try await store.addMember(name: "Ann", role: .owner, oauth1: false)
        _ = try await store.writer.perform { transaction in
            try transaction.execute(
                "UPDATE member SET name = ?, folded = ? WHERE uid = ?", [name, PathKey.fold(name), ann.uid])
        }
        try store.close()
        return ann
    }

    @Test("Members whose names would be refused today stay, sign in and are managed")
    func olderNames() async throws {
        let directory = try TemporaryDirectory()
        let clock = Clock()
        let old = "Ann\u{200B}"
        let ann = try await Self.addAnn(called: old, directory.path, clock)
        let again = try StoreFixture.open(directory.path, clock: clock)
        #expect(try await again.member(forToken: ann.token)?.name == old)
        #expect(try await again.credentials(ofMember: old)?.member.uid == ann.uid)
        try await again.setRole(.viewer, ofMember: old)
        _ = try await again.addMember(name: "Ben", role: nil, oauth1: false)
        try await again.removeMember(name: old)
        #expect(try await again.members().map(\.isDisabled) == [true, false, false])
        try again.close()
    }

    @Test("A token that another process adds works at once, and one that it removes is dead within a second")
    func otherProcess() async throws {
        let fixture = try StoreFixture()
        let other = try StoreFixture.open(fixture.directory.path, mode: .administration, clock: fixture.seconds)
        let ann = try await other.addMember(name: "Ann", role: nil, oauth1: false)
        #expect(try await fixture.store.member(forToken: ann.token)?.name == "Ann")
        try await other.removeMember(name: "Ann", evenTheLast: true)
        #expect(MemberCache.lifetime < .seconds(1))
        try await eventually("the token is dead") { try await fixture.store.member(forToken: ann.token) == nil }
    }

    @Test(
        "two owners who remove or demote each other at once, in two processes, do not leave the club without an owner")
    func lastOwner() async throws {
        let fixture = try StoreFixture()
        let other = try StoreFixture.open(fixture.directory.path, mode: .administration, clock: fixture.seconds)
        _ = try await fixture.store.addMember(name: "Carl", role: .editor, oauth1: false)
        for round in 0..<8 {
            for name in ["Ann", "Ben"] {
                _ = try? await fixture.store.addMember(name: name, role: .owner, oauth1: false)
                try await fixture.store.setRole(.owner, ofMember: name)
            }
            let stores = [("Ann", fixture.store), ("Ben", other)]
            let refusals = await withTaskGroup(of: StorageError.Code?.self) { group in
                for (name, store) in stores {
                    group.addTask {
                        do {
                            if round.isMultiple(of: 2) {
                                try await store.removeMember(name: name)
                            } else {
                                try await store.setRole(.editor, ofMember: name)
                            }
                            return nil
                        } catch {
                            return (error as? StorageError)?.code
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(refusals.count { $0 == .lastOwner } == 1)
            let owners = try await fixture.store.members().filter { !$0.isDisabled && $0.role == .owner }
            #expect(owners.count == 1)
        }
    }

    @Test("the last owner stays while there are other members, and may be the last to go")
    func lastMember() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        _ = try await store.addMember(name: "Ann", role: nil, oauth1: false)
        _ = try await store.addMember(name: "Ben", role: nil, oauth1: false)
        await #expect(throws: StorageError.self) { try await store.setRole(.viewer, ofMember: "Ann") }
        await #expect(throws: StorageError.self) { try await store.removeMember(name: "Ann") }
        #expect(try await store.members().map(\.role) == [.owner, .editor])
        try await store.removeMember(name: "Ben")
        await #expect(throws: StorageError.self) { try await store.removeMember(name: "Ann") }
        try await store.removeMember(name: "Ann", evenTheLast: true)
        #expect(try await store.members().allSatisfy(\.isDisabled))
    }

    @Test("OAuth 1 secrets are found by both keys, and die with the member")
    func oauth1() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let plain = try await store.addMember(name: "Ann", role: nil, oauth1: false)
        #expect(plain.oauth1 == nil)
        let added = try await store.addMember(name: "Ben", role: nil, oauth1: true)
        let secrets = try #require(added.oauth1)
        let found = try await store.oauth1Credentials(consumerKey: secrets.consumerKey, token: secrets.token)
        #expect(found == secrets)
        #expect(found?.member.uid == added.uid)
        #expect(try await store.oauth1Credentials(consumerKey: "x", token: secrets.token) == nil)
        #expect(try await store.oauth1Credentials(consumerKey: secrets.consumerKey, token: "") == nil)
        try await store.removeMember(name: "Ben")
        #expect(try await store.oauth1Credentials(consumerKey: secrets.consumerKey, token: secrets.token) == nil)
    }
}
