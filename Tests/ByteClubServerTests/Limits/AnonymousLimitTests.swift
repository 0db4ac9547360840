import ByteClubCore
import Logging
import TestSupport
import Testing

@testable import ByteClubServer

/// Requests that no account stands behind.
@Suite struct AnonymousLimitTests {
    private static let rate = 2

    private static func limit(_ configuration: inout ClubConfiguration) {
        configuration.settings.limits = RequestLimits(memberRate: 0, attemptRate: 0, anonymousRate: rate)
        configuration.settings.longpollMinimum = 0
        configuration.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
    }

    private static func exhaust(_ address: String, of server: TestServer) async throws -> Int {
        for number in 0..<1000 {
            let answer = try await server.send("GET /1/nothing", ["X-Forwarded-For: \(address)"])
            if answer.status == 429 { return number }
            #expect(answer.status == 404)
        }
        return 1000
    }

    @Test("a stranger who asks without end is told to wait, and neither fills the log nor keeps others waiting")
    func refused() async throws {
        try await TestServer.run(adjusting: Self.limit) { server in
            let served = try await Self.exhaust("192.0.2.1", of: server)
            #expect((20 * Self.rate..<1000).contains(served))
            let before = server.log.all.count
            var refused = 0
            for number in 0..<300 {
                let answer = try await server.send("GET /1/nothing", ["X-Forwarded-For: 192.0.2.1"])
                // A slow machine earns the address some more meanwhile.
                guard answer.status == 429 else { continue }
                refused += 1
                if refused == 1 { #expect(answer["Retry-After"].flatMap { Int($0) } ?? 0 >= 1, "\(number)") }
            }
            #expect(try await server.send("GET /1/nothing", ["X-Forwarded-For: 192.0.2.2"]).status == 404)
            _ = await server.log.line { $0.contains("peer=192.0.2.2 ") }
            let lines = server.log.all
            #expect(lines.count - before <= 300 - refused + 10, "\(lines.count - before) lines, \(refused) refused")
            #expect(lines.count { $0.contains("requests refused by the rate limit") } >= 1)
            #expect(!lines.contains { $0.contains(" 429 ") })
            #expect(server.club.monitor.limits.refusals.anonymous >= refused)
        }
    }

    @Test(
        "whatever a stranger asks for, it counts: pages, links, tokens, wrong credentials, unknown paths and methods",
        arguments: [
            ("GET /login", []), ("GET /assets/style.css", []), ("GET /s/none/a", []), ("GET /1/view/none", []),
            ("GET /1/account/info", []), ("GET /1/account/info", ["Authorization: Bearer wrong"]),
            ("GET /1/account/info", ["Authorization: Basic x"]), ("POST /1/oauth2/token", []),
            ("GET /1/nothing", ["Authorization: Bearer wrong"]), ("DELETE /1/account/info", []),
            ("GET /%ff", []), ("GET /1/longpoll_delta", []), ("GET /1/longpoll_delta?cursor=x", []),
            ("GET /", ["Cookie: byteclub=\(String(repeating: "0", count: 64))"]),
            ("OPTIONS /1/account/info", ["Origin: http://x", "Access-Control-Request-Method: GET"]),
        ] as [(String, [String])])
    func everything(line: String, fields: [String]) async throws {
        try await TestServer.run(adjusting: Self.limit) { server in
            let fields = fields + ["X-Forwarded-For: 192.0.2.1"]
            #expect(try await server.send(line, fields).status != 429)
            // A slow machine may earn the address a request at any time, but not at each.
            var statuses: [Int] = []
            while !statuses.contains(429), statuses.count < 1000 {
                statuses.append(try await server.send(line, fields).status)
            }
            #expect(statuses.count < 1000, "\(line)")
        }
    }

    @Test("members are served from an address that strangers have used up: with tokens, cursors and signed in")
    func members() async throws {
        try await TestServer.run(adjusting: Self.limit) { server in
            let from = "X-Forwarded-For: 192.0.2.1"
            let cursor = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            #expect(try await Self.exhaust("192.0.2.1", of: server) < 1000)
            for _ in 0..<200 {
                #expect(try await server.send("GET /1/account/info", [from, server.bearer]).status == 200)
                #expect(try await server.send("GET /1/nothing", [from, server.bearer]).status == 404)
                let shown = try await server.send("GET /1/nothing?access_token=\(server.member.token)", [from])
                #expect(shown.status == 404)
                let poll = try await server.send("GET /1/longpoll_delta?cursor=\(cursor)&timeout=0", [from])
                #expect(poll.status == 200)
            }
            #expect(try await Self.exhaust("192.0.2.1", of: server) < 1000)
        }
    }

    @Test("refusals are one line for a network's first and one a minute with their number, for so many networks")
    func sums() {
        let lines = LogLines()
        let log = RefusalLog(logger: Logger(label: "test") { _ in LineLog(level: .info) { lines.add($0) } })
        let start = ContinuousClock.now
        let networks = (0..<RefusalLog.mostNetworks * 3).map { IPAddress(bits: UInt128($0 + 1) << 64) }
        for _ in 0..<5 {
            for network in networks { log.count(network, at: start) }
        }
        #expect(lines.all.count == RefusalLog.mostNetworks + 1)
        log.writeSums(at: start + .seconds(59))
        #expect(lines.all.count == RefusalLog.mostNetworks + 1)
        log.writeSums(at: start + .seconds(61))
        let sums = lines.all.dropFirst(RefusalLog.mostNetworks + 1)
        #expect(sums.count == RefusalLog.mostNetworks + 1)
        let others = RefusalLog.mostNetworks * 2 * 5 - 1
        #expect(sums.contains { $0.contains("count=\(others) peer=others seconds=61") })
        #expect(sums.count { $0.contains("count=4 ") } == RefusalLog.mostNetworks)
        log.writeSums(at: start + .seconds(122))
        log.writeSums(at: start + .seconds(183))
        #expect(lines.all.count == 2 * (RefusalLog.mostNetworks + 1), "who is quiet is forgotten")
        log.count(networks[0], at: start + .seconds(184))
        #expect(lines.all.count == 2 * (RefusalLog.mostNetworks + 1) + 1)
    }
}
