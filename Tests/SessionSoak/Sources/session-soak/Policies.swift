import HTTPTypes

@testable import ByteClubHTTP

/// Adds a secret, and sometimes its time.
struct Signer: RequestAdapter {
    let origin: String

    func adapt(_ request: HTTPRequest, attempt: Int) async throws -> HTTPRequest {
        var request = request
        request.headerFields[.signature] = "secret-for-\(origin)-signature-\(attempt)"
        if attempt > 1 { try await Task.sleep(for: .milliseconds(3)) }
        return request
    }
}

/// Tokens that last until the server says no.
struct Tokens: Authenticator {
    struct Refused: Error {}
    let origin: String

    func apply(_ credential: Int, to request: inout HTTPRequest) async throws {
        request.headerFields[.authorization] = "Bearer secret-for-\(origin)-token-\(credential)"
    }

    func refresh(_ credential: Int) async throws -> Int {
        try await Task.sleep(for: .milliseconds(20))
        if credential % 5 == 4 { throw Refused() }
        return credential + 1
    }
}

extension HTTPField.Name {
    static let signature = known("X-Signature")
    static let clubKey = known("X-Club-Key")
    static let idempotencyKey = known("Idempotency-Key")

    private static func known(_ text: String) -> Self {
        guard let name = Self(text) else { preconditionFailure("\(text) is no name of a field") }
        return name
    }
}

extension SessionConfiguration {
    /// Settings of one session, by chance.
    static func random(
        for origin: String, in folder: String, trust: String?, ledger: Ledger, _ random: inout Seeded
    ) -> SessionConfiguration {
        let onDisk = random.one(in: 3)
        var settings: SessionConfiguration = onDisk ? .default : .ephemeral
        settings.timeoutForRequest = .milliseconds(Int.random(in: 1_000...3_000, using: &random))
        settings.timeoutForResource = .seconds(20)
        settings.connectTimeout = .seconds(2)
        settings.maximumTasksPerHost = random.pick([1, 2, 6, 6])
        settings.additionalHeaders = [
            .clubKey: "secret-for-\(origin)-session", .authorization: "Bearer secret-for-\(origin)-session",
            .userAgent: "soak",
        ]
        settings.retryPolicy = random.one(in: 4) ? .never : .standard
        settings.retryPolicy.firstDelay = .milliseconds(10)
        settings.retryPolicy.longestDelay = .milliseconds(1_500)
        if random.one(in: 3) { settings.rateLimit = Int.random(in: 500_000...8_000_000, using: &random) }
        if !random.one(in: 3) { settings.eventMonitors = [OrderWatch(ledger)] }
        if random.one(in: 2) {
            settings.cookieStore = onDisk ? CookieStore(file: folder + "/cookies") : CookieStore()
        }
        if random.one(in: 2) {
            settings.cache =
                onDisk
                ? ResponseCache(folder: folder + "/cache", memoryBytes: 200_000, diskBytes: 2_000_000)
                : ResponseCache(memoryBytes: 2_000_000)
        }
        if random.one(in: 3) { settings.policy.adapters = [Signer(origin: origin)] }
        if random.one(in: 3) {
            settings.policy.authenticate(
                with: Authentication(Tokens(origin: origin), credential: 0, window: RefreshWindow(maximumRefreshes: 50))
            )
        }
        if random.one(in: 4) { settings.policy.redirectHandler = { $0.number > 4 ? .stop : .follow } }
        if random.one(in: 4) {
            settings.policy.retryHandler = { failed in
                let mayRepeat = failed.request.method != .post || failed.request.headerFields[.idempotencyKey] != nil
                return mayRepeat && failed.attempt < 3 ? .retry(after: .milliseconds(5)) : .asPlanned
            }
        }
        if random.one(in: 6) { settings.policy.validation = .successful }
        if random.one(in: 2) { settings.certificateAuthorityFile = trust }
        return settings
    }
}
