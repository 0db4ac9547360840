import Crypto
import Testing

@testable import ByteClubServer

@Suite struct SignInLimitsTests {
    private static let start = ContinuousClock.now

    private static func address(_ number: Int) throws -> IPAddress {
        try #require(IPAddress("198.51.\(100 + number / 250).\(1 + number % 250)"))
    }

    @Test(
        "who guesses at a name from many addresses for an hour never gets its member refused", arguments: [7, 12, 60])
    func manyAddresses(count: Int) throws {
        let limits = SignInLimits()
        let attackers = try (0..<count).map(Self.address)
        var refused = 0
        for step in 0..<360 {
            let now = Self.start + .seconds(10 * step)
            for attacker in attackers {
                if case .refused = limits.attempt("ann", from: attacker, nil, at: now) { refused += 1 }
            }
            let home = try #require(IPAddress("203.0.\(step / 250).\(1 + step % 250)"))
            let verdict = limits.attempt("ann", from: home, nil, at: now)
            #expect(verdict == .unknown || verdict == .doubted)
        }
        // An address has ten guesses, and one a minute more.
        #expect(refused >= count * (360 - 10 - 61))
    }

    @Test("a name at which many guess is slowed down, and no other")
    func doubt() throws {
        let limits = SignInLimits()
        for number in 0..<11 {
            for _ in 0..<10 { _ = limits.attempt("ann", from: try Self.address(number), nil, at: Self.start) }
        }
        let home = try #require(IPAddress("203.0.113.5"))
        #expect(limits.attempt("ann", from: home, nil, at: Self.start) == .doubted)
        #expect(limits.attempt("ben", from: home, nil, at: Self.start) == .unknown)
        // Ten seconds later one more attempt is as quick as ever.
        #expect(limits.attempt("ann", from: home, nil, at: Self.start + .seconds(11)) == .unknown)
    }

    @Test("who guesses at a name from many addresses does not even slow its member down in a browser of old")
    func knownBrowser() throws {
        let limits = SignInLimits()
        for number in 0..<60 {
            for _ in 0..<10 { _ = limits.attempt("ann", from: try Self.address(number), nil, at: Self.start) }
        }
        let browser = KnownBrowser(now: 0)
        #expect(limits.attempt("ann", from: try Self.address(0), browser, at: Self.start) == .known)
        // A stolen machine guesses no faster than any other.
        for _ in 1..<10 {
            #expect(limits.attempt("ann", from: try Self.address(0), browser, at: Self.start) == .known)
        }
        guard case .refused = limits.attempt("ann", from: nil, browser, at: Self.start) else {
            Issue.record("the eleventh guess is let through")
            return
        }
    }

    @Test("who has an IPv6 site of 65,536 networks guesses no more than four networks do")
    func network() throws {
        let limits = SignInLimits()
        let verdicts = try (0..<1000).map { subnet in
            let address = try #require(IPAddress("2001:db8:1:\(String(subnet, radix: 16))::1"))
            return limits.attempt("ann", from: address, nil, at: Self.start)
        }
        #expect(verdicts.count { $0 == .unknown || $0 == .doubted } == 120)
        let other = try #require(IPAddress("2001:db8:2::1"))
        #expect(limits.attempt("ben", from: other, nil, at: Self.start) == .unknown)
    }

    @Test("a browser's mark is good for one name, for a year, on the server that made it")
    func mark() {
        let (key, other) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
        let browser = KnownBrowser(now: 1000)
        let cookie = browser.cookie(name: "ann", key: key)
        #expect(KnownBrowser(cookie: cookie, name: "ann", key: key, now: 1000) == browser)
        #expect(KnownBrowser(cookie: cookie, name: "ben", key: key, now: 1000) == nil)
        #expect(KnownBrowser(cookie: cookie, name: "ann", key: other, now: 1000) == nil)
        #expect(KnownBrowser(cookie: cookie, name: "ann", key: key, now: 1000 + KnownBrowser.lifetime) == nil)
        let parts = cookie.split(separator: ".")
        for forged in ["", "..", cookie + "0", "\(parts[0]).9999999999.\(parts[2])", "x.\(parts[1]).\(parts[2])"] {
            #expect(KnownBrowser(cookie: forged, name: "ann", key: key, now: 1000) == nil)
        }
        // A member cannot choose a name that makes a mark for another's.
        let long = KnownBrowser(now: 1000).cookie(name: "99999 ann", key: key).split(separator: ".")
        let resplit = "\(long[0]) \(long[1]).99999.\(long[2])"
        #expect(KnownBrowser(cookie: resplit, name: "ann", key: key, now: 1000) == nil)
    }
}
