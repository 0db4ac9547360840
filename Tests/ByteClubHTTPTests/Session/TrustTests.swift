import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

extension Live {
    /// Against nginx with TLS; skipped where nginx or openssl is not installed.
    @Suite(.enabled(if: Nginx.isInstalled)) struct TrustTests {
        private func request(
            _ authority: String, _ method: HTTPRequest.Method = .get, _ path: String = "/"
        ) -> HTTPRequest {
            HTTPRequest(
                method: method, scheme: "https", authority: authority, path: path,
                headerFields: [.authorization: "Bearer secret"])
        }

        private func problem(_ session: Session, _ request: HTTPRequest) async -> TransferError? {
            await failure { () async throws(TransferError) in try await session.data(for: request) }
        }

        /// Runs a test with a server that counts bodies, an nginx before it, and a log for what the evaluator is asked.
        private func withNginx(
            protocols: String = "TLSv1.2", isIssued: Bool = false,
            _ body: (FaultServer, Nginx, Log<ServerTrust>) async throws -> Void
        ) async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server, protocols: protocols, isIssued: isIssued))
            try await body(server, nginx, Log())
        }

        @Test(
            "a server that is accepted is asked about once, and is described",
            arguments: [HTTPVersionPreference.http1, .http2])
        func accepted(version: HTTPVersionPreference) async throws {
            try await withNginx { server, nginx, asked in
                try await withSession {
                    $0.certificateAuthorityFile = nginx.authorityFile
                    $0.httpVersion = version
                    $0.trustEvaluator = { trust in
                        asked.add(trust)
                        return !isOnSessionThread
                    }
                } _: { session in
                    for _ in 0..<3 {
                        let task = session.dataTask(request(nginx.authority))
                        task.resume()
                        let result = try await task.value
                        #expect(result.response.status == .ok && result.metrics.attempts.count == 1)
                    }
                    let trust = try #require(asked.entries.first)
                    #expect(asked.entries.count == 1 && server.requests.count == 3)
                    #expect(trust.host == "localhost" && trust.port == nginx.port)
                    #expect(trust.publicKey == PublicKeyPin(nginx.pin))
                    #expect(trust.certificates == nginx.certificates && nginx.certificates.count == 1)
                    #expect(server.requests.last?["x-version"] == (version == .http1 ? "HTTP/1.1" : "HTTP/2.0"))
                }
            }
        }

        @Test("the chain has the authority last, and no certificate that the server only sent along")
        func chain() async throws {
            try await withNginx(isIssued: true) { _, nginx, asked in
                try await withSession {
                    $0.certificateAuthorityFile = nginx.authorityFile
                    $0.trustEvaluator = { trust in
                        asked.add(trust)
                        return true
                    }
                } _: { session in
                    _ = try await session.data(for: request(nginx.authority))
                    #expect(asked.entries.map(\.certificates) == [nginx.certificates] && nginx.certificates.count == 2)
                }
            }
        }

        @Test(
            "a server that the authority or a pin accepted is refused, for good, and gets no byte of a request",
            arguments: [false, true], [HTTPVersionPreference.http1, .http2])
        func refused(isPinned: Bool, version: HTTPVersionPreference) async throws {
            try await withNginx(protocols: "TLSv1.3", isIssued: isPinned) { server, nginx, asked in
                let pin = try #require(PublicKeyPin(nginx.pin))
                try await withSession {
                    if isPinned { $0.pinnedKeys = [pin] } else { $0.certificateAuthorityFile = nginx.authorityFile }
                    $0.httpVersion = version
                    $0.retryPolicy = .standard
                    $0.trustEvaluator = { trust in
                        asked.add(trust)
                        return false
                    }
                } _: { session in
                    for method in [HTTPRequest.Method.get, .post, .get] {
                        let error = await problem(session, request(nginx.authority, method))
                        #expect(error?.code == .tls && error?.phase == .tls && error?.isRetryable == false)
                        #expect(error?.message == "the trust evaluator refuses the server's certificate")
                        #expect(error?.attempt == 1 && error?.metrics.attempts.count == 1 && error?.bytesSent == 0)
                    }
                    #expect(asked.entries.count == 1 && server.requests.isEmpty)
                    // With a pinned key the issuer is not verified.
                    #expect(asked.entries.first?.certificates == Array(nginx.certificates.prefix(1)))
                }
            }
        }

        @Test("a server that is not accepted otherwise is never asked about")
        func unaccepted() async throws {
            try await withNginx(protocols: "TLSv1.3") { server, nginx, asked in
                let place = try #require(
                    AddressOverride(host: "other.test", port: nginx.port, addresses: ["127.0.0.1"]))
                let wrong = try #require(PublicKeyPin("sha256//" + String(repeating: "A", count: 43) + "="))
                for (file, pins, host) in [
                    (nil, [], "localhost"), (nginx.authorityFile, [], "other.test"),
                    (nginx.authorityFile, [wrong], "localhost"),
                ] as [(String?, Set<PublicKeyPin>, String)] {
                    try await withSession {
                        $0.certificateAuthorityFile = file
                        $0.pinnedKeys = pins
                        $0.addressOverrides = [place]
                        $0.proxy = .none
                        $0.trustEvaluator = { trust in
                            asked.add(trust)
                            return true
                        }
                    } _: { session in
                        #expect(await problem(session, request("\(host):\(nginx.port)"))?.code == .tls)
                    }
                }
                #expect(asked.entries.isEmpty && server.requests.isEmpty)
            }
        }

        @Test(
            "twenty tasks at once lead to one question, and to no more connections than run at once",
            arguments: [HTTPVersionPreference.http1, .http2])
        func once(version: HTTPVersionPreference) async throws {
            try await withNginx { server, nginx, asked in
                let relay = try PortRelay(to: nginx.port)
                defer { relay.stop() }
                let started = Log<Int>()
                try await withSession {
                    $0.certificateAuthorityFile = nginx.authorityFile
                    $0.httpVersion = version
                    $0.trustEvaluator = { trust in
                        asked.add(trust)
                        await started.wait { $0.count == 20 }
                        return true
                    }
                } _: { session in
                    let tasks = (0..<20).map { session.dataTask(request(relay.authority, .get, "/\($0)")) }
                    for (number, task) in tasks.enumerated() {
                        task.resume()
                        started.add(number)
                    }
                    for task in tasks {
                        let result = try await task.value
                        #expect(result.response.status == .ok)
                    }
                    #expect(asked.entries.count == 1 && server.requests.count == 20)
                    // Six whose attempt was given up, and six more.
                    #expect(relay.accepts <= 12, "\(relay.accepts)")
                }
            }
        }

        @Test("a server with another certificate is asked about, and the answer about the first one is kept")
        func changed() async throws {
            let (first, second) = (try FaultServer.echo(), try FaultServer.echo())
            defer {
                first.stop()
                second.stop()
            }
            let (old, new) = (try #require(Nginx(before: first)), try #require(Nginx(before: second)))
            let relay = try PortRelay(to: old.port)
            defer { relay.stop() }
            let folder = TemporaryFolder()
            let bundle = [old, new].flatMap(\.authorities)
            let (asked, pin) = (Log<ServerTrust>(), try #require(PublicKeyPin(old.pin)))
            try await withSession {
                $0.certificateAuthorityFile = folder.write("both.pem", bundle)
                $0.trustEvaluator = { trust in
                    asked.add(trust)
                    return trust.publicKey == pin
                }
            } _: { session in
                for (target, isServed) in [(old, true), (new, false), (old, true), (new, false)] {
                    relay.turn(to: target.port)
                    let error = await problem(session, request(relay.authority))
                    #expect((error == nil) == isServed, "\(error.map(\.description) ?? "served")")
                    if !isServed { #expect(error?.code == .tls) }
                }
                #expect(asked.entries.map(\.publicKey.description) == [old.pin, new.pin])
                #expect(first.requests.count == 2 && second.requests.isEmpty)
            }
        }

        @Test("a redirect to another origin leads to a question of its own")
        func redirect() async throws {
            let target = try FaultServer.echo()
            defer { target.stop() }
            let second = try #require(Nginx(before: target))
            let location = "https://\(second.authority)/end"
            let server = try FaultServer { peer, _ in
                peer.respond(302, fields: ["Location: \(location)"]) ? .keep : .close
            }
            defer { server.stop() }
            let first = try #require(Nginx(before: server))
            let folder = TemporaryFolder()
            let bundle = [first, second].flatMap(\.authorities)
            let port = first.port
            for isTrusted in [true, false] {
                let (asked, before) = (Log<Int>(), target.requests.count)
                try await withSession {
                    $0.certificateAuthorityFile = folder.write("both.pem", bundle)
                    $0.trustEvaluator = { trust in
                        asked.add(trust.port)
                        return isTrusted || trust.port == port
                    }
                } _: { session in
                    let error = await problem(session, request(first.authority))
                    #expect(error?.code == (isTrusted ? nil : .tls))
                    #expect(asked.entries == [first.port, second.port])
                    #expect(target.requests.count == before + (isTrusted ? 1 : 0))
                }
            }
        }

        @Test(
            "a question ends with the last task that waits, whose connection no other task uses unasked",
            arguments: [HTTPVersionPreference.http1, .http2])
        func cancelled(version: HTTPVersionPreference) async throws {
            try await withNginx { server, nginx, asked in
                let ended = Log<Bool>()
                let calls = Atomic(0)
                try await withSession {
                    $0.certificateAuthorityFile = nginx.authorityFile
                    $0.httpVersion = version
                    $0.trustEvaluator = { trust in
                        let number = calls.add(1, ordering: .relaxed).newValue
                        asked.add(trust)
                        guard number == 1 else { return false }
                        try? await Task.sleep(for: .seconds(3600))
                        ended.add(Task.isCancelled)
                        // Too late to count.
                        return true
                    }
                } _: { session in
                    let tasks = (0..<2).map { _ in session.dataTask(request(nginx.authority)) }
                    tasks[0].resume()
                    await asked.wait { $0.count == 1 }
                    tasks[1].resume()
                    #expect(ended.entries.isEmpty)
                    tasks[0].cancel()
                    let first = await failure { () async throws(TransferError) in try await tasks[0].value }
                    #expect(first?.code == .cancelled)
                    // The second one waits in the queue of the host until then.
                    await ended.wait { $0 == [true] }
                    let second = await failure { () async throws(TransferError) in try await tasks[1].value }
                    #expect(second?.code == .tls)
                    #expect(await problem(session, request(nginx.authority))?.code == .tls)
                    #expect(asked.entries.count == 2 && server.requests.isEmpty)
                }
            }
        }

        @Test("an evaluator that never answers costs a task no more than its time")
        func silent() async throws {
            try await withNginx { server, nginx, asked in
                let other = try FaultServer.echo()
                defer { other.stop() }
                let ended = Log<Bool>()
                try await withSession {
                    $0.certificateAuthorityFile = nginx.authorityFile
                    $0.timeoutForResource = .seconds(10)
                    $0.trustEvaluator = { trust in
                        asked.add(trust)
                        try? await Task.sleep(for: .seconds(3600))
                        ended.add(Task.isCancelled)
                        return true
                    }
                } _: { session in
                    let tasks = (0..<9).map { _ in session.dataTask(request(nginx.authority)) }
                    for task in tasks { task.resume() }
                    var messages: Set<String> = []
                    for task in tasks {
                        let error = await failure { () async throws(TransferError) in try await task.value }
                        #expect(error?.code == .timedOut)
                        messages.insert(error?.message ?? "")
                    }
                    #expect(asked.entries.isEmpty || messages.contains("the trust evaluator did not answer in time"))
                    #expect(server.requests.isEmpty)
                    // Another host is not held up.
                    _ = try await session.data(for: other.request())
                    await ended.wait { $0.count == asked.entries.count }
                    #expect(ended.entries.allSatisfy { $0 })
                }
            }
        }

        @Test(
            "an upload is whole after the question, whatever its body",
            arguments: [HTTPVersionPreference.http1, .http2])
        func upload(version: HTTPVersionPreference) async throws {
            let received = Log<[UInt8]>()
            let server = try FaultServer { peer, request in
                received.add(Checksum.sha256(peer.readBody(of: request)))
                return peer.respond(200) ? .keep : .close
            }
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server))
            let folder = TemporaryFolder()
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            let chunks = AsyncStream<[UInt8]> { continuation in
                for start in stride(from: 0, to: bytes.count, by: 10_000) {
                    continuation.yield(Array(bytes[start..<(start + 10_000)]))
                }
                continuation.finish()
            }
            let bodies: [Body] = [
                .bytes(bytes), .file(path: folder.write("body", bytes), offset: 0, length: nil),
                .stream(BodyStream(chunks, length: Int64(bytes.count))), .bytes(Array(bytes.prefix(100))),
            ]
            for body in bodies {
                let asked = Log<ServerTrust>()
                try await withSession {
                    $0.certificateAuthorityFile = nginx.authorityFile
                    $0.httpVersion = version
                    $0.trustEvaluator = { trust in
                        asked.add(trust)
                        return true
                    }
                } _: { session in
                    let (_, response) = try await session.upload(for: request(nginx.authority, .post), from: body)
                    #expect(response.status == .ok && asked.entries.count == 1)
                }
            }
            let (whole, short) = (Checksum.sha256(bytes), Checksum.sha256(Array(bytes.prefix(100))))
            #expect(received.entries == [whole, whole, whole, short])
        }

        @Test("through a proxy's tunnel the question is about the server at its end")
        func tunnel() async throws {
            try await withNginx { server, nginx, _ in
                let port = nginx.port
                let proxy = try FaultServer { peer, _ in
                    peer.send("HTTP/1.1 200 X\r\n\r\n")
                    peer.tunnel(to: port)
                    return .close
                }
                defer { proxy.stop() }
                let address = try #require(ProxyServer("http://\(proxy.authority)"))
                for isTrusted in [false, true] {
                    let asked = Log<ServerTrust>()
                    try await withSession {
                        $0.certificateAuthorityFile = nginx.authorityFile
                        $0.proxy = .server(address)
                        $0.trustEvaluator = { trust in
                            asked.add(trust)
                            return isTrusted
                        }
                    } _: { session in
                        let error = await problem(session, request("club.test"))
                        #expect(error?.code == (isTrusted ? nil : .tls) && error?.isOfProxy != true)
                        #expect(asked.entries.map(\.host) == ["club.test"] && asked.entries.map(\.port) == [443])
                        #expect(asked.entries.map(\.certificates) == [nginx.certificates])
                    }
                    #expect(server.requests.count == (isTrusted ? 1 : 0))
                }
                #expect(proxy.requests.allSatisfy { $0.method == "CONNECT" && !$0.raw.contains("secret") })
            }
        }
    }
}
