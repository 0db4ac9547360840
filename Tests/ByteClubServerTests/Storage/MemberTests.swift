import ByteClubCore
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
        try await store.removeMember(name: "ANN")
        #expect(try await store.member(forToken: ann.token) == nil)
        await #expect(throws: StorageError.self) { try await store.removeMember(name: "Ann") }
        let again = try await store.addMember(name: "Ann", role: nil, oauth1: false)
        #expect(again.uid > ann.uid)
        #expect(try await store.members().map(\.isDisabled) == [true, false])
    }

    @Test("A token that another process adds works at once, and one that it removes is dead within a second")
    func otherProcess() async throws {
        let fixture = try StoreFixture()
        let other = try StoreFixture.open(fixture.directory.path, mode: .administration, clock: fixture.seconds)
        let ann = try await other.addMember(name: "Ann", role: nil, oauth1: false)
        #expect(try await fixture.store.member(forToken: ann.token)?.name == "Ann")
        try await other.removeMember(name: "Ann")
        #expect(MemberCache.lifetime < .seconds(1))
        try await eventually("the token is dead") { try await fixture.store.member(forToken: ann.token) == nil }
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
