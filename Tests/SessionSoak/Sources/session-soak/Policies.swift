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
    static let held = known("X-Held")
    static let service = known("X-Service")
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
        for origin: String, in folder: String, world: World, porter: Porter, _ random: inout Seeded
    ) -> SessionConfiguration {
        let onDisk = random.one(in: 3)
        var settings: SessionConfiguration = onDisk ? .default : .ephemeral
        settings.timeoutForRequest = .milliseconds(Int.random(in: 1_000...3_000, using: &random))
        settings.timeoutForResource = .seconds(20)
        settings.connectTimeout = .seconds(2)
        settings.maximumTasksPerHost = random.pick([1, 2, 6, 6])
        settings.additionalHeaders = [.clubKey: "secret-for-\(origin)-session", .userAgent: "soak"]
        // Who brings a credential is not asked for another.
        let isAsked = !random.one(in: 3)
        if !isAsked { settings.additionalHeaders[.authorization] = "Bearer secret-for-\(origin)-session" }
        if random.one(in: 2) { settings.policy.challengeHandler = { await porter.answer($0) } }
        // The other names of the origins, which no lookup may leave the machine for.
        settings.addressOverrides = world.origins.compactMap { origin in
            let name = origin.neighbour.split(separator: ":")
            guard let host = name.first, let port = name.last.flatMap({ Int($0) }) else { return nil }
            let address = String(origin.authority.prefix { $0 != ":" })
            return AddressOverride(host: String(host), port: port, addresses: [address])
        }
        if let name = world.tls?.addressOverride { settings.addressOverrides.append(name) }
        if random.one(in: 2), let proxy = ProxyServer("http://\(world.proxy.authority)") {
            settings.proxy = .server(proxy, except: ["slow.invalid", TLSServer.name, World.unreachable])
        } else {
            settings.proxy = .none
        }
        if random.one(in: 4) { settings.serviceType = random.pick(ServiceType.allCases) }
        settings.waitsForConnectivity = random.one(in: 6)
        settings.retryPolicy = random.one(in: 4) ? .never : .standard
        settings.retryPolicy.firstDelay = .milliseconds(10)
        settings.retryPolicy.longestDelay = .milliseconds(1_500)
        if random.one(in: 3) { settings.rateLimit = Int.random(in: 500_000...8_000_000, using: &random) }
        if !random.one(in: 3) { settings.eventMonitors = [OrderWatch(world.ledger)] }
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
        if random.one(in: isAsked ? 6 : 2) {
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
        if random.one(in: 2) { settings.certificateAuthorityFile = world.tls?.certificate }
        if let tls = world.tls, random.one(in: 4) { settings.pinnedKeys = tls.pins(&random) }
        return settings
    }
}
