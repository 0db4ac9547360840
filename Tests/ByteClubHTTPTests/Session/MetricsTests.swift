import Glibc
import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct MetricsTests {
        @Test("every byte on the wire is counted, with the heads, and a second request is told to reuse the connection")
        func bytes() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withSession { session in
                for (index, size) in [0, 10, 300_000].enumerated() {
                    let body = Body.bytes(Array(repeating: 1, count: size))
                    for (method, isIdempotent) in [(HTTPRequest.Method.put, false), (.post, true), (.post, false)] {
                        var options = TaskOptions()
                        // Then libcurl holds a small body itself.
                        options.isIdempotent = isIdempotent
                        let task = session.uploadTask(server.request(method), from: body, options: options)
                        task.resume()
                        let result = try await task.value
                        let attempt = try #require(result.metrics.attempts.first)
                        let head = try #require(server.requests.last).raw.utf8.count
                        #expect(result.metrics.attempts.count == 1)
                        #expect(attempt.bytesSent == Int64(head + size), "\(method) of \(size)")
                        let answer = "HTTP/1.1 200 X\r\nContent-Length: \("\(size)".utf8.count)\r\n\r\n\(size)"
                        #expect(attempt.bytesReceived == Int64(answer.utf8.count))
                        // A POST without a body is never sent over a kept connection, which may be dead.
                        let isFirst = index == 0 && method == .put
                        #expect(attempt.isReused != (isFirst || size == 0 && method == .post && !isIdempotent))
                        #expect(attempt.remoteAddress == "127.0.0.1" && attempt.remotePort == server.port)
                        #expect(attempt.httpVersion == "1.1" && attempt.status == 200 && attempt.reason == .first)
                        #expect(result.metrics.total == attempt.total)
                    }
                }
            }
        }

        @Test("redirects and retries are attempts of their own, and their parts add up to the whole")
        func attempts() async throws {
            let server = try FaultServer { peer, request in
                switch request.target {
                case "/": return peer.respond(302, "x", fields: ["Location: /busy"]) ? .keep : .close
                default: return peer.respond(request.indexOnConnection == 2 ? 503 : 200, "x") ? .keep : .close
                }
            }
            defer { server.stop() }
            try await withSession {
                $0.retryPolicy = .standard
                $0.retryPolicy.firstDelay = .milliseconds(40)
            } _: { session in
                let task = session.dataTask(server.request())
                task.resume()
                let metrics = try await task.value.metrics
                #expect(metrics.attempts.map(\.status) == [302, 503, 200])
                #expect(metrics.attempts.map(\.reason) == [.first, .redirect, .retry])
                #expect(metrics.redirects == 1)
                #expect(metrics.total == metrics.attempts.reduce(.zero) { $0 + $1.total })
            }
        }

        @Test("TLS and HTTP/2 are told, and a streamed body comes over HTTP/1.1", .enabled(if: Nginx.isInstalled))
        func secure() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server))
            let request = HTTPRequest(method: .get, scheme: "https", authority: nginx.authority, path: "/")
            try await withSession {
                $0.certificateAuthorityFile = nginx.authorityFile
            } _: { session in
                for isReused in [false, true] {
                    let task = session.dataTask(request)
                    task.resume()
                    let attempt = try #require(try await task.value.metrics.attempts.first)
                    #expect(attempt.httpVersion == "2" && attempt.isReused == isReused)
                    #expect((attempt.tls > .zero) == !isReused, "\(attempt)")
                }
                let (bytes, _) = try await session.bytes(for: request)
                for try await _ in bytes {}
                let attempt = try #require(try await bytes.task.value.metrics.attempts.first)
                #expect(attempt.httpVersion == "1.1" && !attempt.isReused && attempt.tls > .zero)
            }
        }

        @Test("time is counted where it went: waiting for a turn, for the answer and for the body")
        func phases() async throws {
            let tasks = Mutex<[SessionTask]>([])
            let isResumed = Gate()
            // Each pause begins when the client is known to wait, since it may stall for longer than that.
            let server = try FaultServer { peer, request in
                isResumed.pass()
                usleep(100_000)
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
                while tasks.withLock({ !$0.contains { $0.progress.bytesReceived == 1 } }) { usleep(1000) }
                usleep(100_000)
                return peer.send("b") ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.maximumTasksPerHost = 1
            } _: { session in
                tasks.withLock { $0 = (0..<2).map { _ in session.dataTask(server.request()) } }
                let both = tasks.withLock { $0 }
                for task in both { task.resume() }
                isResumed.open()
                let first = try #require(try await both[0].value.metrics.attempts.first)
                let second = try #require(try await both[1].value.metrics.attempts.first)
                for attempt in [first, second] {
                    #expect(attempt.wait >= .milliseconds(95) && attempt.receive >= .milliseconds(95))
                    #expect(attempt.tls == .zero)
                }
                #expect(second.queue >= .milliseconds(190))
                #expect(!first.isReused && second.isReused)
            }
        }

        @Test("a failure tells where the time went, too, also of a task that never had its turn")
        func failures() async throws {
            let server = try FaultServer { peer, _ in
                peer.waitForEnd()
                return .close
            }
            defer { server.stop() }
            let silent = try SilentPort()
            try await withSession {
                $0.maximumTasksPerHost = 1
                $0.connectTimeout = .milliseconds(300)
            } _: { session in
                let connecting = await failure { () async throws(TransferError) in
                    try await session.data(for: silent.request)
                }
                let attempt = try #require(connecting?.metrics.attempts.first)
                #expect(attempt.connect >= .milliseconds(250) && attempt.wait == .zero && attempt.status == 0)
                #expect(connecting?.metrics.total == attempt.total)
                let tasks = (0..<2).map { _ in session.dataTask(server.request()) }
                for task in tasks { task.resume() }
                await server.received(1)
                usleep(20_000)
                for task in tasks.reversed() { task.cancel() }
                let queued = await failure { () async throws(TransferError) in try await tasks[1].value }
                #expect(queued?.metrics.attempts.isEmpty == true)
                #expect((queued?.metrics.total ?? .zero) >= .milliseconds(15))
                let waiting = await failure { () async throws(TransferError) in try await tasks[0].value }
                #expect(waiting?.metrics.attempts.count == 1)
            }
        }
    }
}
