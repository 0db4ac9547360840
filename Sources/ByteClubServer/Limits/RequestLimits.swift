import ByteClubCore

/// The rates of requests of members, of failed attempts of an address, and of requests of an address without an
/// account.
struct RequestLimits: Sendable {
    /// The requests a second of one member, and ten seconds' worth of them at once; the default.
    static let memberRate = 5000
    /// The failed attempts a second of one address, and a hundred seconds' worth of them at once; the default.
    static let attemptRate = 10
    /// The requests a second of one address without an account, with twenty seconds' worth at once; the default.
    static let anonymousRate = 50

    let members: RateLimiter<Int64>
    let attempts: RateLimiter<IPAddress>
    let anonymous: RateLimiter<IPAddress>

    /// Creates limits of so many calls a second; 0 is none.
    init(
        memberRate: Int = Self.memberRate, attemptRate: Int = Self.attemptRate, anonymousRate: Int = Self.anonymousRate
    ) {
        members = RateLimiter(Self.rate(memberRate, seconds: 10))
        attempts = RateLimiter(Self.rate(attemptRate, seconds: 100))
        anonymous = RateLimiter(Self.rate(anonymousRate, seconds: 20))
    }

    /// How many calls were refused.
    var refusals: (members: Int64, attempts: Int64, anonymous: Int64) {
        (members.refusals, attempts.refusals, anonymous.refusals)
    }

    /// Counts a request of a member.
    ///
    /// - Throws: ``APIError`` 429 with a number of seconds when it is one too many; 503 for OAuth 1, whose clients do
    ///   not handle 429.
    func count(_ member: Int64, isOAuth1: Bool) throws(APIError) {
        try Self.refuse(members.take(member), isOAuth1 ? 503 : 429, "too many requests; try again later")
    }

    /// Counts an attempt with credentials that are not valid.
    ///
    /// One that is valid is never refused, because many people may share an address.
    ///
    /// - Throws: ``APIError`` 429 with a number of seconds when it is one too many.
    func countFailure(from address: IPAddress?) throws(APIError) {
        try Self.refuse(address.flatMap { attempts.take($0.network) }, 429, "too many failed attempts; try again later")
    }

    /// Counts a request without an account.
    ///
    /// - Throws: ``APIError`` 429 with a number of seconds when it is one too many.
    func countAnonymous(from address: IPAddress?) throws(APIError) {
        try Self.refuse(
            address.flatMap { anonymous.take($0.network) }, 429,
            "too many requests without an account from your address; try again later")
    }

    private static func rate(_ perSecond: Int, seconds: Int) -> TokenBucket.Rate? {
        perSecond > 0 ? TokenBucket.Rate(perSecond: Double(perSecond), burst: Double(perSecond * seconds)) : nil
    }

    private static func refuse(_ wait: Duration?, _ status: Int, _ reason: String) throws(APIError) {
        guard let wait else { return }
        throw APIError(status, reason, retryAfter: max(1, Int((wait / .seconds(1)).rounded(.up))))
    }
}
