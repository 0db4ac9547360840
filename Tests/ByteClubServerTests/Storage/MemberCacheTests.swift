import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

/// What is remembered of who shows a token or a session.
@Suite struct MemberCacheTests {
    private static let key = MemberCache.Key.session([1])
    private static let ann = Member(
        uid: 1, name: "Ann", created: APIDate(seconds: 0), role: .owner, isDisabled: false)

    @Test("a member is known for half a second, until the session's end, and by what was shown alone")
    func lifetime() {
        let (cache, start) = (MemberCache(), ContinuousClock.now)
        cache.store(Self.ann, Self.key, until: 100, generation: 1, at: start)
        #expect(cache.member(Self.key, at: start + .milliseconds(499), now: 99) == Self.ann)
        #expect(cache.member(Self.key, at: start + .milliseconds(499), now: 100) == nil)
        #expect(cache.member(Self.key, at: start + MemberCache.lifetime, now: 99) == nil)
        #expect(cache.member(.token([1]), at: start, now: 0) == nil)
        cache.store(nil, .session([2]), generation: 2, at: start)
        #expect(cache.member(Self.key, at: start, now: 0) == nil, "the list has another number")
    }

    @Test("what was looked up before all was forgotten is not remembered after it")
    func invalidation() {
        let (cache, start) = (MemberCache(), ContinuousClock.now)
        cache.invalidate(at: start + .milliseconds(2))
        cache.store(Self.ann, Self.key, generation: 1, at: start + .milliseconds(1))
        #expect(cache.member(Self.key, at: start + .milliseconds(3), now: 0) == nil)
        cache.store(Self.ann, Self.key, generation: 1, at: start + .milliseconds(3))
        #expect(cache.member(Self.key, at: start + .milliseconds(4), now: 0) == Self.ann)
    }

    @Test("a browser's session is remembered as a token is, is none, and ends at once where somebody signs out")
    func sessions() async throws {
        let fixture = try StoreFixture()
        let (store, clock) = (fixture.store, fixture.seconds)
        let ann = try await store.addMember(name: "Ann", role: nil, oauth1: false)
        let start = ContinuousClock.now
        var secrets: [String] = []
        for _ in 0..<3 { secrets.append(try await store.addWebSession(member: ann.uid, lifetime: 60)) }
        for secret in secrets {
            #expect(try await store.webSession(secret)?.name == "Ann")
            let key = MemberCache.Key.session(Array(Secret.hash(secret)))
            #expect(store.memberCache.member(key, at: start, now: clock.now.seconds)?.name == "Ann")
            #expect(try await store.member(forToken: secret) == nil)
        }
        #expect(try await store.webSession(ann.token) == nil)
        try await store.removeWebSession(secrets[0])
        #expect(try await store.webSession(secrets[0]) == nil)
        #expect(try await store.webSession(secrets[1])?.name == "Ann")
        clock.advance(60)
        #expect(try await store.webSession(secrets[1]) == nil)
        let last = try await store.addWebSession(member: ann.uid, lifetime: 60)
        #expect(try await store.webSession(last)?.name == "Ann")
        let other = try StoreFixture.open(fixture.directory.path, mode: .administration, clock: clock)
        try await other.removeMember(name: "Ann", evenTheLast: true)
        try await eventually("the session is dead") { try await store.webSession(last) == nil }
    }
}
