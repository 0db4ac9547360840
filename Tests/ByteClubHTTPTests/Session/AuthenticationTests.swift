import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

/// Numbers for tokens; each renewal is logged and may be held or made to fail.
private final class Numbers: Authenticator {
    struct Refused: Error {}

    let renewals = Log<Int>()
    let expired: Int?
    let renew: @Sendable (Int) async throws -> Int

    init(expired: Int? = nil, _ renew: @escaping @Sendable (Int) async throws -> Int = { $0 + 1 }) {
        self.expired = expired
        self.renew = renew
    }

    func apply(_ credential: Int, to request: inout HTTPRequest) {
        request.headerFields[.authorization] = "\(credential)"
    }

    func refresh(_ credential: Int) async throws -> Int {
        renewals.add(isOnSessionThread ? -1 : credential)
        return try await renew(credential)
    }

    func isExpired(_ credential: Int) -> Bool { credential == expired }
}

extension Live {
    @Suite struct AuthenticationTests {
        /// Answers 200 to this token and 401 to others, once it has read the body.
        private func guarded(by token: Int) throws -> FaultServer {
            try FaultServer { peer, request in
                let count = peer.skip(request.contentLength)
                if request.target == "/moved" { return peer.respond(302, fields: ["Location: /"]) ? .keep : .close }
                return peer.respond(request["authorization"] == "\(token)" ? 200 : 401, "\(count)") ? .keep : .close
            }
        }

        @Test("many tasks refused at once lead to one renewal, and each is sent once more, also a POST with its body")
        func singleFlight() async throws {
            let server = try guarded(by: 2)
            defer { server.stop() }
            let renewing = Log<Void>()
            let numbers = Numbers {
                // All are refused before the new token is there.
                await renewing.wait { !$0.isEmpty }
                return $0 + 1
            }
            let authentication = Authentication(numbers, credential: 1)
            try await withSession {
                $0.maximumTasksPerHost = 50
                $0.policy.authenticate(with: authentication)
            } _: { session in
                let tasks = (0..<50).map { _ in
                    session.uploadTask(server.request(.post), from: .bytes(Array(repeating: 1, count: 20_000)))
                }
                for task in tasks { task.resume() }
                await server.received(50)
                renewing.add(())
                for task in tasks {
                    let result = try await task.value
                    #expect(result.response.status == .ok && result.bytes == Array("20000".utf8))
                    #expect(result.progress.attempt == 2)
                }
                #expect(numbers.renewals.entries == [1] && authentication.credential == 2)
                #expect(server.requests.count == 100)
                let (_, response) = try await session.data(for: server.request(.get, "/moved"))
                #expect(response.status == .ok && server.requests.count == 102)
            }
        }

        @Test("where no more renewals are allowed, a new credential's 401 is the result, and an old one's the error")
        func noLoop() async throws {
            let server = try guarded(by: 99)
            defer { server.stop() }
            let numbers = Numbers()
            try await withSession {
                let window = RefreshWindow(interval: .seconds(3600), maximumRefreshes: 3)
                $0.policy.authenticate(with: Authentication(numbers, credential: 1, window: window))
            } _: { session in
                for (renewals, requests) in [(2, 3), (3, 5)] {
                    let (bytes, response) = try await session.data(for: server.request())
                    #expect(response.status == .unauthorized && bytes == Array("0".utf8))
                    #expect(server.requests.count == requests && numbers.renewals.entries.count == renewals)
                }
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request())
                }
                #expect(error?.code == .authenticationFailed && error?.rejected?.response.status == .unauthorized)
                #expect(numbers.renewals.entries == [1, 2, 3] && server.requests.count == 6)
            }
        }

        @Test("cancelling one waiting task leaves the renewal to the others")
        func cancelOne() async throws {
            let server = try guarded(by: 2)
            defer { server.stop() }
            let renewing = Log<Bool>()
            let numbers = Numbers {
                renewing.add(false)
                await renewing.wait { $0.contains(true) }
                return Task.isCancelled ? -1 : $0 + 1
            }
            try await withSession {
                $0.policy.authenticate(with: Authentication(numbers, credential: 1))
            } _: { session in
                let first = session.dataTask(server.request())
                first.resume()
                await renewing.wait { !$0.isEmpty }
                let others = (0..<3).map { _ in session.dataTask(server.request()) }
                for task in others { task.resume() }
                first.cancel()
                let error = await failure { () async throws(TransferError) in try await first.value }
                #expect(error?.code == .cancelled)
                renewing.add(true)
                for task in others {
                    let result = try await task.value
                    #expect(result.response.status == .ok)
                }
                #expect(numbers.renewals.entries == [1])
                // Those that came while it was renewed waited for it.
                #expect(server.requests.count == 4)
            }
        }

        @Test("a renewal that fails is the error of all that wait; an expired credential is renewed before it is sent")
        func failures() async throws {
            let server = try guarded(by: 2)
            defer { server.stop() }
            let failing = Numbers { _ in throw Numbers.Refused() }
            try await withSession {
                $0.policy.authenticate(with: Authentication(failing, credential: 1))
            } _: { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request())
                }
                #expect(error?.code == .authenticationFailed && error?.underlying is Numbers.Refused)
                #expect(error?.rejected?.response.status == .unauthorized)
                var options = TaskOptions()
                options.policy.authenticate(with: Authentication(Numbers(expired: 1), credential: 1))
                let before = server.requests.count
                let (_, response) = try await session.data(for: server.request(), options: options)
                #expect(response.status == .ok && server.requests.count == before + 1)
            }
        }

        @Test("a credential set by hand wins over the one that a renewal brings")
        func signIn() async throws {
            let renewing = Log<Bool>()
            let numbers = Numbers {
                renewing.add(false)
                await renewing.wait { $0.contains(true) }
                return $0 + 1
            }
            let authentication = Authentication(numbers, credential: 1)
            async let renewed: Void = authentication.renew(after: 1, for: nil)
            await renewing.wait { !$0.isEmpty }
            authentication.credential = 7
            renewing.add(true)
            try await renewed
            #expect(authentication.credential == 7)
        }

        @Test("a renewal that a new credential replaced is neither waited for nor able to fail who has that")
        func superseded() async throws {
            let renewing = Log<Int>()
            let numbers = Numbers { credential in
                renewing.add(credential)
                if credential != 1 { return credential + 1 }
                await renewing.wait { $0.contains(0) }
                throw Numbers.Refused()
            }
            let authentication = Authentication(numbers, credential: 1)
            let first = Task { try await authentication.renew(after: 1, for: nil) }
            await renewing.wait { !$0.isEmpty }
            authentication.credential = 7
            let applied = Log<String?>()
            let plain = HTTPRequest(method: .get, scheme: "http", authority: "e.com", path: "/")
            let starting = Task {
                do {
                    let (request, _) = try await authentication.apply(to: plain)
                    applied.add(request.headerFields[.authorization])
                } catch {
                    applied.add("\(error)")
                }
            }
            // The rejected task waits, since a provider performs one renewal at a time.
            let refused = Task { try await authentication.renew(after: 2, for: nil) }
            await applied.wait { !$0.isEmpty }
            renewing.add(0)
            await starting.value
            try await first.value
            try await refused.value
            #expect(applied.entries == ["7"] && numbers.renewals.entries == [1, 7] && authentication.credential == 8)
        }

        @Test("after a redirect to another origin no credential is sent, and its 401 renews nothing")
        func otherOrigin() async throws {
            let far = try guarded(by: 2)
            let target = "http://\(far.authority)/"
            let near = try FaultServer { peer, _ in peer.respond(302, fields: ["Location: \(target)"]) ? .keep : .close
            }
            defer {
                near.stop()
                far.stop()
            }
            let numbers = Numbers()
            try await withSession {
                $0.policy.authenticate(with: Authentication(numbers, credential: 1))
            } _: { session in
                let (_, response) = try await session.data(for: near.request())
                #expect(response.status == .unauthorized)
                #expect(far.requests.count == 1 && far.requests.first?["authorization"] == nil)
                #expect(near.requests.first?["authorization"] == "1" && numbers.renewals.entries.isEmpty)
            }
        }
    }
}

struct RefreshWindowTests {
    @Test("a window lets so many renewals begin within its interval, and more when they are past")
    func window() {
        var recent = RecentRefreshes(RefreshWindow(interval: .seconds(30), maximumRefreshes: 2))
        let begun = [0, 10, 29, 30, 31, 40, 41].map { recent.begin(at: Moment(nanoseconds: $0 * 1_000_000_000)) }
        #expect(begun == [true, true, false, true, false, true, false])
    }
}
