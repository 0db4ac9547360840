import ByteClubCore
import Glibc
import NIOCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct CrowdLimitTests {
    @Test("one connection too many is told so with 503, and served when another has gone")
    func limit() async throws {
        try await TestServer.run(adjusting: { $0.connections.connections = 3 }) { server in
            let port = server.port
            let request = Array("GET /1/account/info HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\n\r\n".utf8)
            let cursor = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            let poll = Array("GET /1/longpoll_delta?cursor=\(cursor)&timeout=480 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            try await eventually("the connection is closed") { server.club.monitor.connections.open == 0 }
            var polls: Crowd? = await BackgroundThread.run {
                let polls = Crowd(3, port: port)
                #expect(polls.send(poll) == 3)
                return polls
            }
            try await eventually("all three have a request under way") { server.store.waiterCount == 3 }
            let refused = await BackgroundThread.run { () -> [String] in
                var answers: [String] = []
                for _ in 0..<5 {
                    guard let extra = RawConnection(port: port) else { return ["no connection"] }
                    extra.send(request)
                    answers.append(String(decoding: extra.receiveAll(), as: UTF8.self))
                }
                return answers
            }
            for answer in refused {
                #expect(
                    answer.hasPrefix("HTTP/1.1 503 ") && answer.lowercased().contains("retry-after: 5"), "\(answer)")
            }
            #expect(polls?.count == 3 && server.store.waiterCount == 3)
            polls = nil
            try await eventually("all have gone") { server.club.monitor.connections.open == 0 }
            let after = try await server.get("/1/account/info")
            #expect(after.status == 200)
            #expect(server.club.monitor.connections.totals.refused >= 5)
        }
    }

    @Test("a member over the rate gets 429 with whole seconds, OAuth 1 gets 503, others are served")
    func memberRate() async throws {
        try await TestServer.run(adjusting: {
            $0.settings.limits = RequestLimits(memberRate: 1, attemptRate: 0)
        }) { server in
            let other = try await server.store.addMember(name: "Bob", role: .editor, oauth1: false)
            // All at once: a slow machine earns the member a request with every second.
            func crowd(_ credential: String) async throws -> [RawMessage] {
                try await withThrowingTaskGroup(of: RawMessage.self) { group in
                    for _ in 0..<40 { group.addTask { try await server.send("GET /1/account/info", [credential]) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            let answers = try await crowd(server.bearer)
            #expect(answers.count { $0.status == 200 } >= 10, "\(answers.map(\.status))")
            let refused = try #require(answers.first { $0.status == 429 }, "\(answers.map(\.status))")
            let seconds = try #require(refused["Retry-After"].flatMap { Int($0) })
            #expect((1...2).contains(seconds))
            #expect(try !refused.refusal().isEmpty)
            let keys = try #require(server.member.oauth1)
            let old =
                #"Authorization: OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="\#(keys.consumerKey)", "#
                + #"oauth_token="\#(keys.token)", oauth_signature="\#(keys.consumerSecret)&\#(keys.tokenSecret)""#
            let answer = try #require(try await crowd(old).first { $0.status != 200 })
            #expect(answer.status == 503 && answer["Retry-After"].flatMap { Int($0) } != nil, "\(answer.start)")
            let served = try await server.send("GET /1/account/info", ["Authorization: Bearer \(other.token)"])
            #expect(served.status == 200)
            try await Task.sleep(for: .milliseconds(1100))
            let later = try await server.get("/1/account/info")
            #expect(later.status == 200)
        }
    }

    @Test("an address that fails too often gets 429, and a valid token from there is still served")
    func attempts() async throws {
        try await TestServer.run(adjusting: {
            $0.settings.limits = RequestLimits(memberRate: 0, attemptRate: 1)
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }) { server in
            var statuses: [Int] = []
            // A slow machine earns the address further attempts meanwhile.
            for number in 0..<1000 where statuses.last != 429 {
                let wrong = ["Authorization: Bearer wrong\(number)", "X-Forwarded-For: 192.0.2.1"]
                statuses.append(try await server.send("GET /1/account/info", wrong).status)
            }
            #expect(statuses.prefix(100).allSatisfy { $0 == 401 } && statuses.last == 429, "\(statuses)")
            let good = try await server.send("GET /1/account/info", [server.bearer, "X-Forwarded-For: 192.0.2.1"])
            #expect(good.status == 200)
            let elsewhere = ["Authorization: Bearer wrong", "X-Forwarded-For: 192.0.2.2"]
            let other = try await server.send("GET /1/account/info", elsewhere)
            #expect(other.status == 401)
            let none = try await server.send("GET /1/account/info", ["X-Forwarded-For: 192.0.2.1"])
            #expect(none.status == 401, "a request without credentials is no attempt")
        }
    }
}
