import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct ProxyChallengeTests {
        private let right = PasswordCredential(user: "ada", password: "right")

        @Test("a proxy that forwards asks once, and the server gets nothing of it", arguments: [false, true])
        func forwarding(isDigest: Bool) async throws {
            let door = Doorkeeper(isDigest: isDigest, usesOfNonce: 2)
            let proxy = try FaultServer { peer, request in
                let count = peer.skip(request.contentLength)
                if let objection = door.objection(to: request, in: "proxy-authorization") {
                    return peer.respond(407, fields: ["Proxy-Authenticate: \(objection)"]) ? .keep : .close
                }
                return peer.respond(200, "\(count)") ? .keep : .close
            }
            defer { proxy.stop() }
            let server = try #require(ProxyServer("http://\(proxy.authority)"))
            let asked = Log<AuthenticationChallenge>()
            let direct = try FaultServer.echo()
            defer { direct.stop() }
            try await withSession {
                $0.proxy = .server(server)
                $0.policy.challengeHandler = { [right] challenge in
                    asked.add(challenge)
                    return .use(right)
                }
            } _: { session in
                for path in ["/a?b", "/c", "/d"] {
                    let request = HTTPRequest(method: .put, scheme: "http", authority: "e.invalid", path: path)
                    let (bytes, response) = try await session.upload(
                        for: request, from: .bytes(Array(repeating: 1, count: 3000)))
                    #expect(response.status == .ok && bytes == Array("3000".utf8))
                }
                // Digest's third request has an outdated nonce.
                #expect(proxy.requests.count == (isDigest ? 5 : 4) && asked.entries.count == 1)
                #expect(proxy.requests.last?.target == "http://e.invalid/d")
                let challenge = try #require(asked.entries.first)
                #expect(challenge.isOfProxy && challenge.realm == "club")
                #expect(challenge.space.origin == "http://\(proxy.authority)")
                // This machine is reached without the proxy.
                _ = try await session.data(for: direct.request())
                #expect(direct.requests.first?["proxy-authorization"] == nil)
            }
        }

        @Test("a proxy that opens tunnels asks as well, and again for a wrong password", arguments: [false, true])
        func tunnel(isDigest: Bool) async throws {
            let door = Doorkeeper(isDigest: isDigest)
            let opened = Log<String>()
            let proxy = try FaultServer { peer, request in
                if let objection = door.objection(to: request, in: "proxy-authorization") {
                    return peer.respond(407, fields: ["Proxy-Authenticate: \(objection)"]) ? .keep : .close
                }
                opened.add("\(request.method) \(request.target)")
                // There is no server behind it.
                return peer.respond(200) ? .close : .close
            }
            defer { proxy.stop() }
            let server = try #require(ProxyServer("http://\(proxy.authority)"))
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.proxy = .server(server)
                $0.policy.challengeHandler = { challenge in
                    asked.add(challenge)
                    let password = challenge.previousFailureCount == 0 ? "wrong" : "right"
                    return .use(PasswordCredential(user: "ada", password: password))
                }
            } _: { session in
                let request = HTTPRequest(
                    method: .get, scheme: "https", authority: "e.invalid", path: "/a",
                    headerFields: [.authorization: "Bearer secret"])
                for _ in 0..<2 {
                    let error = await failure { () async throws(TransferError) in try await session.data(for: request) }
                    #expect(error != nil && error?.code != .proxyRefused)
                }
                #expect(opened.entries == Array(repeating: "CONNECT e.invalid:443", count: 2))
                #expect(asked.entries.map(\.previousFailureCount) == [0, 1])
                #expect(asked.entries.allSatisfy { $0.isOfProxy && $0.scheme == (isDigest ? "digest" : "basic") })
                #expect(proxy.requests.allSatisfy { !$0.raw.contains("secret") })
            }
        }

        @Test("a proxy's challenge without an answer is the error it was, and with a wrong one after five questions")
        func refused() async throws {
            let proxy = try FaultServer { peer, _ in
                peer.respond(407, fields: ["Proxy-Authenticate: Basic realm=\"x\""]) ? .close : .close
            }
            defer { proxy.stop() }
            let server = try #require(ProxyServer("http://\(proxy.authority)"))
            for scheme in ["http", "https"] {
                let request = HTTPRequest(method: .get, scheme: scheme, authority: "e.invalid", path: "/a")
                for (decision, questions) in [
                    (ChallengeDecision.performDefault, 1), (.use(right), 5), (.rejectProtectionSpace, 1),
                ] {
                    let wish =
                        questions == 1
                        ? "wants a user name and a password" : "does not take its user name and password"
                    let asked = Log<AuthenticationChallenge>()
                    try await withSession {
                        $0.proxy = .server(server)
                        $0.policy.challengeHandler = { challenge in
                            asked.add(challenge)
                            return decision
                        }
                    } _: { session in
                        let error = await failure { () async throws(TransferError) in
                            try await session.data(for: request)
                        }
                        #expect(error?.code == .proxyRefused && error?.isOfProxy == true)
                        #expect(error?.message == "the proxy \(server) \(wish) (Basic)")
                        #expect(asked.entries.count == questions, "\(scheme)")
                    }
                }
            }
        }
    }
}
