import HTTPTypes
import Testing

@testable import ByteClubHTTP

/// Adds its name and the attempt to a field.
private struct Stamp: RequestAdapter {
    let name: String
    let log: Log<Bool>

    func adapt(_ request: HTTPRequest, attempt: Int) async throws -> HTTPRequest {
        log.add(isOnSessionThread)
        var request = request
        let before = request.headerFields[.from].map { $0 + " " } ?? ""
        request.headerFields[.from] = before + "\(name)\(attempt)"
        return request
    }
}

/// An adapter whose behaviour a closure defines.
private struct Custom: RequestAdapter {
    let change: @Sendable (HTTPRequest) async throws -> HTTPRequest

    func adapt(_ request: HTTPRequest, attempt: Int) async throws -> HTTPRequest { try await change(request) }
}

extension HTTPField.Name {
    fileprivate static var from: HTTPField.Name { HTTPField.Name("From") ?? .userAgent }
}

extension Live {
    @Suite struct AdapterTests {
        private struct Broken: Error {}

        @Test("the session's adapters come before the task's, before each attempt, not for a redirect's next hop")
        func order() async throws {
            let server = try FaultServer { peer, request in
                if request.target == "/here" { return peer.respond(302, fields: ["Location: /there"]) ? .keep : .close }
                return peer.respond(request.indexOnConnection < 3 ? 503 : 200) ? .keep : .close
            }
            defer { server.stop() }
            let log = Log<Bool>()
            try await withSession {
                $0.retryPolicy = .standard
                $0.retryPolicy.firstDelay = .zero
                $0.policy.adapters = [Stamp(name: "a", log: log)]
            } _: { session in
                var options = TaskOptions()
                options.policy.adapters = [Stamp(name: "b", log: log)]
                _ = try await session.data(for: server.request(), options: options)
                #expect(server.requests.map { $0["from"] } == ["a1 b1", "a2 b2", "a3 b3"])
                _ = try await session.data(for: server.request(.get, "/here"), options: options)
                #expect(server.requests.suffix(2).map { $0["from"] } == ["a1 b1", "a1 b1"])
            }
            #expect(log.entries.count == 8 && !log.entries.contains(true))
        }

        @Test("what an adapter throws is the task's error, and what cannot be sent is refused")
        func errors() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withSession { session in
                for (code, change) in [
                    (TransferError.Code.adapterFailed, { @Sendable _ in throw Broken() }),
                    (.cancelled, { @Sendable _ in throw TransferError(.cancelled, "not now") }),
                    (
                        .badRequest,
                        { @Sendable _ in HTTPRequest(method: .get, scheme: "ftp", authority: "a", path: "/") }
                    ),
                ] as [(TransferError.Code, @Sendable (HTTPRequest) async throws -> HTTPRequest)] {
                    var options = TaskOptions()
                    options.policy.adapters = [Custom(change: change)]
                    let error = await failure { () async throws(TransferError) in
                        try await session.data(for: server.request(), options: options)
                    }
                    #expect(error?.code == code)
                    #expect((error?.underlying is Broken) == (code == .adapterFailed))
                }
                #expect(server.requests.isEmpty)
            }
        }

        @Test("a task that waits for an adapter takes no turn, and can be suspended, cancelled and run out of time")
        func waiting() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let log = Log<Bool>()
            var options = TaskOptions()
            options.policy.adapters = [
                Custom { request in
                    log.add(true)
                    while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
                    return request
                }
            ]
            try await withSession {
                $0.maximumTasksPerHost = 1
            } _: { session in
                let task = session.dataTask(server.request(), options: options)
                task.resume()
                await log.wait { !$0.isEmpty }
                task.suspend()
                _ = try await session.data(for: server.request())
                task.cancel()
                let error = await failure { () async throws(TransferError) in try await task.value }
                #expect(error?.code == .cancelled)
            }
            try await withSession {
                $0.timeoutForResource = .milliseconds(200)
            } _: { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(), options: options)
                }
                #expect(error?.code == .timedOut)
                #expect(server.requests.count == 1)
            }
        }
    }
}
