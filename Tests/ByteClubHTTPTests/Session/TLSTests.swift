import Glibc
import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

extension Live {
    /// Against nginx with TLS 1.3 and HTTP/2; skipped where nginx or openssl is not installed.
    @Suite(.enabled(if: Nginx.isInstalled)) struct TLSTests {
        private func request(_ nginx: Nginx, _ method: HTTPRequest.Method = .get, _ path: String = "/") -> HTTPRequest {
            HTTPRequest(method: method, scheme: "https", authority: nginx.authority, path: path)
        }

        @Test("an upload to a slow receiver that offers HTTP/2 goes by HTTP/1.1 and costs next to no processor time")
        func slowUpload() async throws {
            let size = 20 << 20
            let server = try FaultServer { peer, request in
                var left = request.contentLength
                while left > 0 {
                    let count = peer.skip(min(left, 100_000))
                    if count == 0 { break }
                    left -= count
                    usleep(20_000)
                }
                return peer.respond(200) ? .keep : .close
            }
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server))
            try await withSession {
                $0.certificateAuthorityFile = nginx.authorityFile
            } _: { session in
                _ = try await session.data(for: request(nginx))
                #expect(server.requests.last?["x-version"] == "HTTP/2.0")
                let start = ContinuousClock().now
                let before = processorSeconds()
                let body = Body.bytes(Array(repeating: 1, count: size))
                let (_, response) = try await session.upload(for: request(nginx, .put), from: body)
                #expect(response.status == .ok)
                let used = processorSeconds() - before
                let time = start.duration(to: ContinuousClock().now)
                print("20 MiB over TLS to a 5 MB/s receiver: \(used) s of processor time in \(time)")
                // An upload that does not sleep uses all of it.
                #expect(time > .seconds(used * 2))
                #expect(server.requests.last?["x-version"] == "HTTP/1.1")
            }
        }

        @Test(
            "one task per host means one, also where HTTP/2 could interleave",
            arguments: [HTTPRequest.Method.put, .get])
        func serial(method: HTTPRequest.Method) async throws {
            let overlap = Counts()
            let server = try FaultServer { peer, request in
                overlap.counts.withLock { counts in
                    counts["now", default: 0] += 1
                    counts["most"] = max(counts["most"] ?? 0, counts["now"] ?? 0)
                }
                _ = peer.skip(request.contentLength)
                usleep(50_000)
                overlap.counts.withLock { $0["now", default: 0] -= 1 }
                return peer.respond(200) ? .keep : .close
            }
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server))
            for limit in [1, 5] {
                overlap.counts.withLock { $0 = [:] }
                try await withSession {
                    $0.certificateAuthorityFile = nginx.authorityFile
                    $0.maximumTasksPerHost = limit
                } _: { session in
                    let body = method == .put ? Body.bytes(Array(repeating: 1, count: 1 << 20)) : .none
                    let tasks = (0..<10).map { _ in session.uploadTask(request(nginx, method), from: body) }
                    for task in tasks { task.resume() }
                    for task in tasks { _ = try await task.value }
                }
                let most = overlap.counts.withLock { $0["most"] ?? 0 }
                #expect(limit == 1 ? most == 1 : most > 1)
            }
        }

        @Test("a certificate nobody vouches for, or for another name, is refused, and a plain server is no TLS server")
        func trust() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server))
            try await withSession { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: request(nginx))
                }
                #expect(error?.code == .tls && error?.isRetryable == false)
            }
            try await withSession {
                $0.certificateAuthorityFile = nginx.authorityFile
            } _: { session in
                var other = request(nginx)
                other.authority = "127.0.0.2:\(nginx.port)"
                let wrong = await failure { () async throws(TransferError) in try await session.data(for: other) }
                #expect(wrong?.code == .tls || wrong?.code == .cannotConnect)
                var plain = server.request()
                plain.scheme = "https"
                var options = TaskOptions()
                options.timeoutForRequest = .milliseconds(500)
                let noTLS = await failure { () async throws(TransferError) in
                    try await session.data(for: plain, options: options)
                }
                #expect(noTLS != nil)
                let target = "https://\(nginx.authority)/end"
                let redirect = try FaultServer { peer, _ in
                    peer.respond(302, fields: ["Location: \(target)"]) ? .keep : .close
                }
                defer { redirect.stop() }
                let (_, response) = try await session.data(
                    for: redirect.request(.get, "/", [.authorization: "Bearer secret"]))
                #expect(response.status == .ok)
                #expect(server.requests.last?.raw.contains("secret") == false)
            }
        }

        @Test("a pinned key is trusted whatever the name, and a server with another one gets no byte of a request")
        func pin() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server, protocols: "TLSv1.3"))
            let (own, other) = (
                try #require(PublicKeyPin(nginx.pin)),
                try #require(PublicKeyPin("sha256//" + String(repeating: "A", count: 43) + "="))
            )
            var secret = request(nginx)
            secret.authority = "127.0.0.1:\(nginx.port)"
            secret.headerFields[.authorization] = "Bearer secret"
            for (pins, isServed): (Set<PublicKeyPin>, Bool) in [([own], true), ([other], false), ([other, own], true)] {
                let count = server.requests.count
                try await withSession {
                    $0.pinnedKeys = pins
                    // Without effect beside a pin, like the system's.
                    $0.certificateAuthorityFile = "/dev/null"
                } _: { session in
                    let error = await failure { () async throws(TransferError) in try await session.data(for: secret) }
                    #expect((error == nil) == isServed, "\(error.map(\.description) ?? "served")")
                    if let error {
                        #expect(error.code == .tls && error.bytesSent == 0 && !error.isRetryable)
                        #expect(error.message.contains("not the pinned one"), "\(error)")
                    }
                }
                #expect(server.requests.count == count + (isServed ? 1 : 0))
            }
        }
    }
}

/// The processor time the process used.
func processorSeconds() -> Double {
    var usage = rusage()
    unsafe getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    let all = [usage.ru_utime, usage.ru_stime]
    return all.reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
}
