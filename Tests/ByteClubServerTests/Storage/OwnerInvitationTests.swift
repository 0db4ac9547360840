import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The link that makes a new club's owner")
struct OwnerInvitationTests {
    private func current(_ fixture: StoreFixture) async throws -> OwnerInvitation? {
        try await OwnerInvitation.current(in: fixture.store, at: fixture.seconds.now.seconds)
    }

    @Test("every start shows the same link, and no more pile up, until it is good for less than a day")
    func kept() async throws {
        let fixture = try StoreFixture()
        let first = try #require(try await current(fixture))
        let other = try #require(try await fixture.store.addOwnerInvitation(lifetime: 100))
        for _ in 0..<6 {
            fixture.seconds.advance(86_000)
            let again = try #require(try await current(fixture))
            #expect(again.secret == first.secret && again.expires == first.expires)
        }
        #expect(try await fixture.store.invitations().count == 1)
        #expect(try await fixture.store.invitation(other) == nil, "it was good for 100 seconds")
        fixture.seconds.advance(20_000)
        let fresh = try #require(try await current(fixture))
        #expect(fresh.secret != first.secret)
        #expect(try await fixture.store.invitation(first.secret) == nil)
        #expect(try await fixture.store.invitation(fresh.secret)?.role == .owner)
        #expect(try await fixture.store.invitations().count == 1)
    }

    @Test("a club that lost its owner gets another link than the one that made that owner")
    func lostOwner() async throws {
        let fixture = try StoreFixture()
        let first = try #require(try await current(fixture))
        let password = try await PasswordHash.make("long enough")
        _ = try await fixture.store.redeemInvitation(first.secret, name: "Ann", password: password)
        #expect(try await current(fixture) == nil)
        fixture.seconds.advance(1)
        try await fixture.store.removeMember(name: "Ann", evenTheLast: true)
        let second = try #require(try await current(fixture))
        #expect(second.secret != first.secret)
        #expect(try await fixture.store.invitation(first.secret) == nil)
    }

    @Test("other invitations to own the club are left alone")
    func others() async throws {
        let fixture = try StoreFixture()
        let made = try await fixture.store.addInvitation(
            role: .owner, lifetime: Invitation.lifetime, by: Invitation.byHost)
        let first = try #require(try await current(fixture))
        #expect(first.secret != made)
        #expect(try await fixture.store.invitations().count == 2)
    }
}
