import Synchronization
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Signing in while others guess")
struct SignInCrowdTests {
    private static let password = "correct horse"

    /// A server behind a proxy, so that each browser may have an address of its own.
    private static func run(
        limits: SignInLimits = SignInLimits(), _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.run(adjusting: {
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
            $0.settings.signIns = limits
        }) { server in
            try await server.store.setPassword(try await PasswordHash.make(password), ofMember: "Ann Bell")
            try await body(server)
        }
    }

    /// The log's lines of those whose passwords were looked at.
    private static func turns(_ server: TestServer) -> [String] {
        server.log.all.filter { $0.contains("POST /login 403 ") || $0.contains("POST /login 303 ") }
    }

    @Test("guesses from sixty addresses do not keep a member with the right password out, wherever it comes from")
    func manyAddresses() async throws {
        let limits = SignInLimits(pause: .milliseconds(10))
        try await Self.run(limits: limits) { server in
            for number in 1...60 {
                let address = try #require(IPAddress("198.51.100.\(number)"))
                for _ in 1...10 { _ = limits.attempt("ann bell", from: address, nil) }
            }
            var guest = Browser(server, at: "198.51.100.61")
            try await guest.signIn("Ann Bell", "wrong horse")
            #expect(guest.status == 403)
            var browser = Browser(server, at: "203.0.113.5")
            try await browser.signIn("Ann Bell", Self.password)
            #expect(browser.place == "/", "\(browser.status)")
        }
    }

    @Test("whatever strangers ask to have hashed, a member in a browser of old is let in before them")
    func knownBrowser() async throws {
        try await Self.run { server in
            var browser = Browser(server, at: "203.0.113.5")
            try await browser.signIn("Ann Bell", Self.password)
            #expect(browser.place == "/" && browser.mark != nil)
            try await browser.submit("/logout")
            // As if strangers' hashes took for ever.
            let busy = try server.club.shares.passwordHashes.take(for: .stranger(IPAddress("198.51.100.1")))
            try await browser.signIn("Ann Bell", Self.password)
            #expect(browser.place == "/", "\(browser.status)")
            withExtendedLifetime(busy) {}
        }
    }

    @Test("sixty guesses at once from one address hold up nobody at another")
    func parallelGuesses() async throws {
        try await Self.run { server in
            let hashes = server.club.shares.passwordHashes
            let first = Mutex<FairSemaphore.Lease?>(try hashes.take(for: .stranger(IPAddress("192.0.2.1"))))
            let (guesses, share) = (60, hashes.bounds.queueOfRequester)
            var stranger = Browser(server, at: "198.51.100.1")
            try await stranger.open("/login")
            let page = stranger
            try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 1...guesses {
                    tasks.addTask {
                        var browser = page
                        try await browser.signIn("Nobody \(number)", "wrong horse")
                        return browser.status
                    }
                }
                // All but the address's share of the queue are told to come back later.
                for _ in share..<guesses {
                    let status = try await tasks.next()
                    #expect(status == 429)
                }
                try await eventually("the others wait") { hashes.waiting == share }
                var member = Browser(server, at: "203.0.113.5")
                try await member.open("/login")
                let form = member
                tasks.addTask {
                    var browser = form
                    try await browser.signIn("Ann Bell", Self.password)
                    #expect(browser.place == "/")
                    return browser.status
                }
                try await eventually("the member waits, too") { hashes.waiting == share + 1 }
                first.withLock { $0 = nil }
                try await tasks.waitForAll()
            }
            // The log has the order: the member's turn came after one of the stranger's.
            try await eventually("all are in the log") { Self.turns(server).count == share + 1 }
            let posts = Self.turns(server)
            let turn = try #require(posts.firstIndex { $0.contains(" 303 ") }, "\(posts)")
            #expect(turn <= 2, "\(posts)")
        }
    }

    @Test("who hangs up while waiting for a turn takes nobody else's")
    func hangUp() async throws {
        try await Self.run { server in
            let hashes = server.club.shares.passwordHashes
            let busy = try hashes.take(for: .stranger(IPAddress("192.0.2.1")))
            var browser = Browser(server, at: "198.51.100.1")
            try await browser.open("/login")
            let token = try #require(browser.page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)).output.1
            let form = "csrf=\(token)&name=x&password=wrong"
            let request = [
                "POST /login HTTP/1.1", "Host: 127.0.0.1:\(server.port)", "Cookie: \(browser.cookie ?? "")",
                "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(form.utf8.count)", "", form,
            ]
            do {
                let client = await BackgroundThread.run { Crowd(1, port: server.port) }
                #expect(client.send(Array(request.joined(separator: "\r\n").utf8)) == 1)
                try await eventually("it waits") { hashes.waiting == 1 }
            }
            try await eventually("it waits no more") { hashes.waiting == 0 }
            withExtendedLifetime(busy) {}
        }
    }

    @Test("a thief's devices go with the old password when the member says so, and stay otherwise")
    func devices() async throws {
        try await Self.run { server in
            var browser = Browser(server, at: "203.0.113.5")
            try await browser.signIn("Ann Bell", Self.password)
            try await browser.open("/password")
            // The bearer token and the OAuth 1 keys.
            #expect(browser.page.contains("2 devices") && browser.page.contains("stay signed in"))
            try await browser.submit("/password", ["password": Self.password, "new": "another horse"])
            #expect(browser.place == "/account" && browser.page.contains("Token from the server"))
            #expect(try await server.get("/1/account/info").status == 200)
            try await browser.open("/password")
            try await browser.submit(
                "/password", ["password": "another horse", "new": "a third horse", "devices": "out"])
            #expect(browser.place == "/account" && browser.page.contains("None yet"))
            #expect(try await server.get("/1/account/info").status == 401)
            try await browser.open("/password")
            #expect(!browser.page.contains("checkbox"))
        }
    }
}
