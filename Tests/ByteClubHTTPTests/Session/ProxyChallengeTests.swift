import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct ProxyChallengeTests {
        private let right = PasswordCredential(user: "ada", password: "right")

        /// Runs a test with a proxy, and a log for what the handler of challenges is asked.
        private func withProxy(
            _ handler: @escaping FaultServer.Handler,
            _ body: (FaultServer, ProxyServer, Log<AuthenticationChallenge>) async throws -> Void
        ) async throws {
            let proxy = try FaultServer(handler)
            defer { proxy.stop() }
            try await body(proxy, try #require(ProxyServer("http://\(proxy.authority)")), Log())
        }

        /// A proxy's handler that answers only the requests that a doorkeeper lets pass.
        private func asking(_ door: Doorkeeper, _ answer: @escaping FaultServer.Handler) -> FaultServer.Handler {
            { peer, request in
                guard let objection = door.objection(to: request, in: "proxy-authorization") else {
                    return answer(peer, request)
                }
                _ = peer.skip(request.contentLength)
                return peer.respond(407, fields: ["Proxy-Authenticate: \(objection)"]) ? .keep : .close
            }
        }

        /// A proxy's handler that opens tunnels, wherever to, only to one port.
        private func tunnels(to port: Int) -> FaultServer.Handler {
            { peer, _ in
                peer.send("HTTP/1.1 200 X\r\n\r\n")
                peer.tunnel(to: port)
                return .close
            }
        }

        @Test("a proxy that forwards asks once, and the server gets nothing of it", arguments: [false, true])
        func forwarding(isDigest: Bool) async throws {
            let door = Doorkeeper(isDigest: isDigest, usesOfNonce: 2)
            let handler = asking(door) { peer, request in
                peer.respond(200, "\(peer.skip(request.contentLength))") ? .keep : .close
            }
            try await withProxy(handler) { proxy, address, asked in
                let direct = try FaultServer.echo()
                defer { direct.stop() }
                try await withSession {
                    $0.proxy = .server(address)
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
        }

        @Test("a proxy that opens tunnels asks as well, and again for a wrong password", arguments: [false, true])
        func tunnel(isDigest: Bool) async throws {
            let door = Doorkeeper(isDigest: isDigest)
            let opened = Log<String>()
            let handler = asking(door) { peer, request in
                opened.add("\(request.method) \(request.target)")
                // There is no server behind it.
                return peer.respond(200) ? .close : .close
            }
            try await withProxy(handler) { proxy, address, asked in
                try await withSession {
                    $0.proxy = .server(address)
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
                        let error = await failure { () async throws(TransferError) in
                            try await session.data(for: request)
                        }
                        #expect(error != nil && error?.code != .proxyRefused)
                    }
                    #expect(opened.entries == Array(repeating: "CONNECT e.invalid:443", count: 2))
                    #expect(asked.entries.map(\.previousFailureCount) == [0, 1])
                    #expect(asked.entries.allSatisfy { $0.isOfProxy && $0.scheme == (isDigest ? "digest" : "basic") })
                    #expect(proxy.requests.allSatisfy { !$0.raw.contains("secret") })
                }
            }
        }

        @Test(
            "through a proxy that asks, a server with TLS asks as well, and neither gets what is the other's",
            .enabled(if: Nginx.isInstalled), arguments: [false, true], [false, true])
        func tunnelled(isDigest: Bool, isDigestInside: Bool) async throws {
            let door = Doorkeeper(isDigest: isDigest)
            let server = try Doorkeeper(isDigest: isDigestInside, realm: "inside", password: "inner").server()
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server))
            try await withProxy(asking(door, tunnels(to: nginx.port))) { proxy, address, asked in
                try await withSession {
                    $0.certificateAuthorityFile = nginx.authorityFile
                    $0.proxy = .server(address)
                    $0.additionalHeaders = [.userAgent: "club", .accept: "text/secret"]
                    $0.policy.challengeHandler = { [right] challenge in
                        asked.add(challenge)
                        return .use(challenge.isOfProxy ? right : PasswordCredential(user: "ada", password: "inner"))
                    }
                } _: { session in
                    for path in ["/a?secret", "/b"] {
                        let request = HTTPRequest(
                            method: .put, scheme: "https", authority: "club.test", path: path,
                            headerFields: [.cookie: "secret"])
                        let (bytes, response) = try await session.upload(
                            for: request, from: .bytes(Array(repeating: 1, count: 3000)))
                        #expect(response.status == .ok && bytes == Array("3000".utf8))
                    }
                    #expect(asked.entries.map(\.isOfProxy) == [true, false])
                    #expect(asked.entries.map(\.space.origin) == ["http://\(proxy.authority)", "https://club.test"])
                    #expect(asked.entries.last?.realm == "inside")
                    // The first request was challenged.
                    #expect(server.requests.map(\.target) == ["/a?secret", "/a?secret", "/b"])
                    for request in server.requests {
                        #expect(request["proxy-authorization"] == nil && request["cookie"] == "secret")
                        #expect(request["accept"] == "text/secret" && !request.raw.contains("realm=\"club\""))
                    }
                    #expect(server.requests.map { $0["authorization"] != nil } == [false, true, true])
                    for request in proxy.requests {
                        #expect(request.method == "CONNECT" && request.target == "club.test:443")
                        #expect(!request.raw.contains("secret") && !request.raw.contains("inside"))
                        #expect(request["authorization"] == nil)
                    }
                    #expect(proxy.requests.first?["proxy-authorization"] == nil)
                    #expect(proxy.requests.last?["proxy-authorization"] != nil)
                }
            }
        }

        @Test("a server in a tunnel gets no credential of the proxy by asking for it", .enabled(if: Nginx.isInstalled))
        func impostor() async throws {
            let server = try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                return peer.respond(407, fields: ["Proxy-Authenticate: Basic realm=\"club\""]) ? .keep : .close
            }
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server))
            let door = Doorkeeper(isDigest: false)
            try await withProxy(asking(door, tunnels(to: nginx.port))) { _, address, asked in
                try await withSession {
                    $0.certificateAuthorityFile = nginx.authorityFile
                    $0.proxy = .server(address)
                    $0.policy.challengeHandler = { [right] challenge in
                        asked.add(challenge)
                        return .use(right)
                    }
                } _: { session in
                    for count in 1...2 {
                        let request = HTTPRequest(method: .get, scheme: "https", authority: "club.test", path: "/")
                        let error = await failure { () async throws(TransferError) in
                            try await session.data(for: request)
                        }
                        #expect(error?.code == .proxyRefused && server.requests.count == count)
                    }
                    #expect(asked.entries.count == 1)
                    #expect(
                        server.requests.allSatisfy { $0["proxy-authorization"] == nil && $0["authorization"] == nil })
                }
            }
        }

        @Test("a proxy's challenge without an answer is the error it was, and with a wrong one after five questions")
        func refused() async throws {
            let handler: FaultServer.Handler = { peer, _ in
                peer.respond(407, fields: ["Proxy-Authenticate: Basic realm=\"x\""]) ? .close : .close
            }
            for scheme in ["http", "https"] {
                let request = HTTPRequest(method: .get, scheme: scheme, authority: "e.invalid", path: "/a")
                for (decision, questions) in [
                    (ChallengeDecision.performDefault, 1), (.use(right), 5), (.rejectProtectionSpace, 1),
                ] {
                    let wish =
                        questions == 1
                        ? "wants a user name and a password" : "does not take its user name and password"
                    try await withProxy(handler) { _, address, asked in
                        try await withSession {
                            $0.proxy = .server(address)
                            $0.policy.challengeHandler = { challenge in
                                asked.add(challenge)
                                return decision
                            }
                        } _: { session in
                            let error = await failure { () async throws(TransferError) in
                                try await session.data(for: request)
                            }
                            #expect(error?.code == .proxyRefused && error?.isOfProxy == true)
                            #expect(error?.message == "the proxy \(address) \(wish) (Basic)")
                            #expect(asked.entries.count == questions, "\(scheme)")
                        }
                    }
                }
            }
        }
    }
}
