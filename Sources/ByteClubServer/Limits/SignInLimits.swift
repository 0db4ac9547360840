import ByteClubCore

/// How often passwords and invitations may be guessed, and whom others' guesses hold up.
///
/// Guesses from one place are refused. Guesses at one name from many places are only slowed down, since refusing them
/// would shut out the member; and a browser that has signed in as that name before counts by itself (``KnownBrowser``).
struct SignInLimits: Sendable {
    /// How an attempt is dealt with.
    enum Verdict: Hashable, Sendable {
        /// From a browser that has signed in before: it waits for no stranger.
        case known
        /// From anywhere.
        case unknown
        /// From anywhere, for a name that many try to guess: it waits before the password is checked.
        case doubted
        /// One too many from the same place; the time until the next.
        case refused(Duration)
    }

    /// Attempts from one network.
    private static let network = TokenBucket.Rate(perSecond: 0.1, burst: 30)
    /// Attempts from one IPv6 site, which may have 65,536 networks.
    private static let site = TokenBucket.Rate(perSecond: 0.4, burst: 120)
    /// Attempts for one name from one network or one known browser.
    private static let name = TokenBucket.Rate(perSecond: 1.0 / 60, burst: 10)
    /// Attempts for one name from anywhere, before they are slowed down.
    private static let anywhere = TokenBucket.Rate(perSecond: 0.1, burst: 100)

    /// How long a doubted attempt keeps its place in ``SharedLimits/doubtedSignIns`` before the password is checked.
    let pause: Duration
    private let now: @Sendable () -> ContinuousClock.Instant

    private let networks = RateLimiter<IPAddress?>(Self.network)
    private let sites = RateLimiter<IPAddress>(Self.site)
    private let names = RateLimiter<NamePlace>(Self.name)
    private let browsers = RateLimiter<KnownBrowser>(Self.name)
    private let members = RateLimiter<Int64>(Self.name)
    private let everywhere = RateLimiter<String>(Self.anywhere)

    private struct NamePlace: Hashable, Sendable {
        let name: String
        let network: IPAddress?
    }

    /// Creates limits; `now` is when an attempt happens of which no time is given.
    init(
        pause: Duration = .seconds(2), now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        (self.pause, self.now) = (pause, now)
    }

    /// Counts an attempt to sign in.
    ///
    /// - Parameters:
    ///   - name: The folded name, whether it exists or not, so that the limits do not reveal names.
    ///   - address: The address of the client.
    ///   - browser: The browser, when it has signed in with that name before.
    ///   - instant: The time.
    /// - Returns: The way to handle the attempt.
    func attempt(
        _ name: String, from address: IPAddress?, _ browser: KnownBrowser?, at instant: ContinuousClock.Instant? = nil
    ) -> Verdict {
        let instant = instant ?? now()
        if let browser { return browsers.take(browser, at: instant).map(Verdict.refused) ?? .known }
        let place = NamePlace(name: name, network: address?.network)
        if let wait = guess(from: address, at: instant) ?? names.take(place, at: instant) { return .refused(wait) }
        return everywhere.take(name, at: instant) == nil ? .unknown : .doubted
    }

    /// Counts an attempt to guess any secret; returns how long to wait when it is one too many.
    func guess(from address: IPAddress?, at instant: ContinuousClock.Instant? = nil) -> Duration? {
        let instant = instant ?? now()
        if let wait = networks.take(address?.network, at: instant) { return wait }
        guard let address, !address.isIPv4 else { return nil }
        return sites.take(address.site, at: instant)
    }

    /// Counts a member's attempt at the old password; returns how long to wait when it is one too many.
    func change(by member: Int64) -> Duration? { members.take(member, at: now()) }

    /// Forgets the attempts from a place for a name, after the right password.
    func forget(_ name: String, from address: IPAddress?, _ browser: KnownBrowser?) {
        names.forget(NamePlace(name: name, network: address?.network))
        if let browser { browsers.forget(browser) }
    }
}
