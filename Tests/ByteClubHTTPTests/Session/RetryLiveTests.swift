import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct RetryTests {
        private static var quick: RetryPolicy {
            var policy = RetryPolicy.standard
            policy.firstDelay = .milliseconds(5)
            return policy
        }

        /// Answers the first request of a connection and drops it in the middle of the second one's body.
        private func fickle(_ whole: Counts) throws -> FaultServer {
            try FaultServer { peer, request in
                if request.indexOnConnection == 2 {
                    _ = peer.skip(min(request.contentLength, 1000))
                    return .reset
                }
                let isWhole = peer.skip(request.contentLength) == request.contentLength
                if isWhole { whole.counts.withLock { $0[request.method, default: 0] += 1 } }
                return peer.respond(200, "ok") ? .keep : .close
            }
        }

        @Test(
            "on a kept connection that turns out dead a PUT arrives whole and once, a POST at most once",
            arguments: [2000, 3 << 20])
        func deadConnection(size: Int) async throws {
            let whole = Counts()
            let server = try fickle(whole)
            defer { server.stop() }
            try await withSession {
                $0.retryPolicy = Self.quick
            } _: { session in
                let body = Body.bytes(Array(repeating: 1, count: size))
                for _ in 0..<5 {
                    _ = try await session.data(for: server.request(.get))
                    let (_, response) = try await session.upload(for: server.request(.put), from: body)
                    #expect(response.status == .ok)
                    _ = try? await session.data(for: server.request(.get))
                    let before = whole.counts.withLock { $0["POST"] ?? 0 }
                    let error = await failure { () async throws(TransferError) in
                        try await session.upload(for: server.request(.post), from: body)
                    }
                    let after = whole.counts.withLock { $0["POST"] ?? 0 }
                    #expect(error == nil ? after == before + 1 : after == before)
                    if let error { #expect(error.code == .connectionLost && !error.isRetryable) }
                }
                #expect(whole.counts.withLock { $0["PUT"] } == 5)
            }
        }

        @Test("a refused connection is final where nobody answered yet, and retried where somebody did")
        func refusal() async throws {
            let server = try FaultServer { peer, _ in
                _ = peer.respond(200, "ok")
                return .close
            }
            let port = try LoopbackListener().port
            try await withSession {
                $0.retryPolicy = Self.quick
            } _: { session in
                let attempts = { (authority: String) async -> Int? in
                    let request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/")
                    return await failure { () async throws(TransferError) in try await session.data(for: request) }?
                        .attempt
                }
                #expect(await attempts("127.0.0.1:\(port)") == 1)
                #expect(await attempts(server.authority) == nil)
                server.stop()
                #expect(await attempts(server.authority) == 4)
                #expect(await attempts("127.0.0.1:\(port)") == 1)
                // A label is too long for the name to be looked up.
                #expect(await attempts(String(repeating: "x", count: 64) + ".invalid") == 1)
            }
        }

        @Test("a POST without a body is not sent twice either")
        func emptyPost() async throws {
            let server = try FaultServer { peer, request in
                if request.method == "POST" { return .reset }
                return peer.respond(200) ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.retryPolicy = Self.quick
            } _: { session in
                _ = try await session.data(for: server.request(.get))
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.post))
                }
                #expect(error?.code == .connectionLost)
                #expect(server.requests.filter { $0.method == "POST" }.count == 1)
            }
        }

        @Test("a POST is not sent twice whose head was sent on a kept connection before any of its body")
        func headOnly() async throws {
            let server = try FaultServer { peer, request in
                if request.method == "POST" { return .reset }
                return peer.respond(200) ? .keep : .close
            }
            defer { server.stop() }
            try await withSession { session in
                _ = try await session.data(for: server.request(.get))
                let late = AsyncStream<[UInt8]> {
                    // Until the request has ended.
                    try? await Task.sleep(for: .seconds(600))
                    return nil
                }
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.post), body: .stream(BodyStream(late, length: 4)))
                }
                #expect(error?.code == .connectionLost && error?.isRetryable == false)
                #expect(server.requests.filter { $0.method == "POST" }.count == 1)
            }
        }

        @Test(
            "which requests are tried again after a 503, and how often",
            arguments: [
                ("GET", false, false, 3), ("PUT", false, false, 3), ("POST", false, false, 1), ("POST", true, false, 3),
                ("POST", false, true, 3),
            ])
        func unavailable(method: String, isKeyed: Bool, isIdempotent: Bool, requests: Int) async throws {
            let server = try FaultServer { peer, request in
                let count = peer.skip(request.contentLength)
                if request.indexOnConnection < 3 { return peer.respond(503, "busy") ? .keep : .close }
                return peer.respond(200, "\(count)") ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.retryPolicy = Self.quick
            } _: { session in
                var options = TaskOptions()
                if isKeyed { options.idempotencyKey = "k-1" }
                options.isIdempotent = isIdempotent
                let request = server.request(HTTPRequest.Method(method) ?? .get)
                let body = method == "GET" ? Body.none : .bytes([1, 2, 3])
                let task = session.uploadTask(request, from: body, options: options)
                task.resume()
                let result = try await task.value
                #expect(server.requests.count == requests)
                #expect(result.response.status.code == (requests == 3 ? 200 : 503))
                #expect(result.progress.attempt == requests)
                if isKeyed { #expect(server.requests.allSatisfy { $0["idempotency-key"] == "k-1" }) }
            }
        }

        @Test("Retry-After is waited for, a longer one than allowed is left to the caller, and retries can be off")
        func retryAfter() async throws {
            let server = try FaultServer { peer, request in
                let isFirst = request.indexOnConnection == 1
                let fields = ["Retry-After: \(request.target.dropFirst())"]
                return peer.respond(isFirst ? 503 : 200, fields: fields) ? .keep : .close
            }
            defer { server.stop() }
            var policy = Self.quick
            policy.longestDelay = .seconds(2)
            for (path, hasRetries, status) in [("/1", true, 200), ("/3", true, 503), ("/0", false, 503)] {
                try await withSession {
                    $0.retryPolicy = policy
                } _: { session in
                    var options = TaskOptions()
                    options.retries = hasRetries
                    let start = ContinuousClock().now
                    let (_, response) = try await session.data(for: server.request(.get, path), options: options)
                    #expect(response.status.code == status)
                    // The session's clock is a coarse one.
                    if path == "/1" { #expect(start.duration(to: ContinuousClock().now) >= .milliseconds(990)) }
                }
            }
            #expect(server.requests.map(\.target) == ["/1", "/1", "/3", "/0"])
        }

        @Test("a download that is cut off starts over and is whole")
        func download() async throws {
            let text = String(repeating: "0123456789", count: 50_000)
            let seen = Counts()
            let server = try FaultServer { peer, request in
                let isFirst = seen.counts.withLock { $0.updateValue(1, forKey: "seen") == nil }
                if isFirst {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text.prefix(200_000))")
                    return .reset
                }
                return peer.respond(200, text) ? .keep : .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession {
                $0.retryPolicy = Self.quick
            } _: { session in
                let (_, file, _) = try await session.download(for: server.request(), to: folder.file("a"))
                #expect(file == folder.file("a"))
                #expect(folder.read("a") == Array(text.utf8))
                #expect(folder.names == ["a"])
            }
        }
    }
}

/// Counters shared with a server's threads.
final class Counts: Sendable {
    let counts = Mutex<[String: Int]>([:])
}
