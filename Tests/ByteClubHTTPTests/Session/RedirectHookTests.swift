import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct RedirectHookTests {
        /// Redirects `/to307?<address>` there, and answers all else with the method, the body's length and a field.
        private func redirector() throws -> FaultServer {
            try FaultServer { peer, request in
                let count = peer.skip(request.contentLength)
                guard request.target.hasPrefix("/to"), let mark = request.target.firstIndex(of: "?") else {
                    return peer.respond(200, "\(request.method) \(count) \(request["x-key"] ?? "-")") ? .keep : .close
                }
                let status = Int(request.target.dropFirst(3).prefix(3)) ?? 302
                let location = request.target[request.target.index(after: mark)...]
                return peer.respond(status, "moved", fields: ["Location: \(location)"]) ? .keep : .close
            }
        }

        private func options(
            _ handler: @escaping @Sendable (Redirect) async -> RedirectDecision
        ) -> TaskOptions {
            var options = TaskOptions()
            options.policy.redirectHandler = handler
            return options
        }

        @Test("a handler sees the response and the proposed request, off the session's thread, and lets it be followed")
        func follow() async throws {
            let server = try redirector()
            defer { server.stop() }
            let seen = Log<(Redirect, Bool)>()
            try await withSession { session in
                let options = options {
                    seen.add(($0, isOnSessionThread))
                    return .follow
                }
                let request = server.request(.post, "/to302?/to307?/end", [.authorization: "a"])
                let (bytes, _) = try await session.data(for: request, body: .bytes([1, 2, 3]), options: options)
                #expect(bytes == Array("GET 0 -".utf8))
            }
            let (redirects, places) = (seen.entries.map(\.0), seen.entries.map(\.1))
            #expect(redirects.map(\.number) == [1, 2] && places == [false, false])
            #expect(redirects.map(\.response.status.code) == [302, 307])
            #expect(redirects.map(\.request.path) == ["/to307?/end", "/end"])
            #expect(redirects.allSatisfy { $0.request.method == .get && !$0.leavesOrigin })
            #expect(redirects.allSatisfy { $0.request.authority == server.authority })
            #expect(redirects.allSatisfy { $0.request.headerFields[.authorization] == "a" })
        }

        @Test("a stopped redirect is the result with its body, of a download too; a task's handler beats the session's")
        func stop() async throws {
            let server = try redirector()
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession {
                $0.policy.redirectHandler = { _ in .stop }
            } _: { session in
                let request = server.request(.get, "/to302?/end")
                let (bytes, response) = try await session.data(for: request)
                #expect(response.status == .found && bytes == Array("moved".utf8))
                let result = try await session.download(for: request, to: folder.file("a"))
                #expect(result.response.status == .found && result.bytes == Array("moved".utf8) && result.file == nil)
                #expect(folder.names.isEmpty)
                let followed = try await session.data(for: request, options: options { _ in .follow })
                #expect(followed.response.status == .ok)
            }
        }

        @Test("a changed request is sent, with the body where method and redirect allow one")
        func change() async throws {
            let server = try redirector()
            defer { server.stop() }
            let key = try #require(HTTPField.Name("X-Key"))
            try await withSession { session in
                for (method, status, changed, expected) in [
                    (HTTPRequest.Method.put, 307, HTTPRequest.Method.put, "PUT 70000 k"),
                    (.put, 307, .get, "GET 0 k"), (.post, 302, .post, "POST 70000 k"), (.post, 303, .get, "GET 0 k"),
                    (.put, 308, .patch, "PATCH 70000 k"),
                ] {
                    let options = options { redirect in
                        var request = redirect.request
                        request.method = changed
                        request.headerFields[key] = "k"
                        return .send(request)
                    }
                    let (bytes, _) = try await session.upload(
                        for: server.request(method, "/to\(status)?/end"),
                        from: .bytes(Array(repeating: 1, count: 70_000)), options: options)
                    #expect(String(decoding: bytes, as: UTF8.self) == expected)
                }
            }
        }

        @Test("no changed request takes a secret to another origin but one of its own; what cannot be sent fails")
        func secrets() async throws {
            let (first, second) = (try redirector(), try redirector())
            defer {
                first.stop()
                second.stop()
            }
            let key = try #require(HTTPField.Name("X-Key"))
            let open = try #require(HTTPField.Name("X-Open"))
            let there = second.authority
            try await withSession {
                $0.additionalHeaders = [.authorization: "secret", open: "shown"]
                $0.publicFields = [open]
            } _: { session in
                let away = options { redirect in
                    var request = redirect.request
                    request.authority = there
                    request.headerFields[key] = "for the second"
                    return .send(request)
                }
                for path in ["/to302?/end", "/to302?http://\(there)/end"] {
                    _ = try await session.data(for: first.request(.get, path), options: away)
                }
                #expect(first.requests.allSatisfy { $0["authorization"] == "secret" })
                #expect(second.requests.count == 2)
                #expect(second.requests.allSatisfy { !$0.raw.contains("secret") && $0["x-open"] == "shown" })
                #expect(second.requests.allSatisfy { $0["x-key"] == "for the second" })
                let broken = options { redirect in
                    var request = redirect.request
                    request.path = "no slash"
                    return .send(request)
                }
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: first.request(.get, "/to302?/end"), options: broken)
                }
                #expect(error?.code == .badRequest)
            }
        }

        @Test("circles end at 20 whatever the handler says, and a cancelled task does not wait for it")
        func limits() async throws {
            let circle = try FaultServer { peer, _ in peer.respond(302, fields: ["Location: /"]) ? .keep : .close }
            defer { circle.stop() }
            try await withSession { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: circle.request(), options: options { _ in .follow })
                }
                #expect(error?.code == .tooManyRedirects)
                #expect(circle.requests.count == 21)
                let seen = Log<Bool>()
                let task = session.dataTask(
                    circle.request(),
                    options: options { _ in
                        seen.add(false)
                        while !Task.isCancelled { await Task.yield() }
                        seen.add(true)
                        return .follow
                    })
                task.resume()
                await seen.wait { !$0.isEmpty }
                task.suspend()
                task.resume()
                task.cancel()
                let cancelled = await failure { () async throws(TransferError) in try await task.value }
                #expect(cancelled?.code == .cancelled)
                await seen.wait { $0 == [false, true] }
            }
        }
    }
}

extension RedirectTests {
    @Test("a changed request may not go from https to http")
    func insecure() throws {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/")
        let head = try RequestHead(request, body: .none, options: TaskOptions(), additional: [:])
        var changed = request
        changed.scheme = "http"
        #expect(throws: TransferError.self) {
            try head.redirected(to: changed, insteadOf: head, publicFields: [])
        }
    }
}
