import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct RetryHookTests {
        /// Answers 200 to the third request of a connection and before that with the number that the path ends in, or
        /// not at all.
        private func server() throws -> FaultServer {
            try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                guard let status = Int(request.target.dropFirst()) else { return .reset }
                return peer.respond(request.indexOnConnection < 3 ? status : 200, "x") ? .keep : .close
            }
        }

        private func options(_ handler: @escaping @Sendable (FailedAttempt) async -> RetryDecision) -> TaskOptions {
            var options = TaskOptions()
            options.policy.retryHandler = handler
            var retries = RetryPolicy.standard
            retries.firstDelay = .zero
            options.retryPolicy = retries
            return options
        }

        @Test("a task's policy replaces the session's, its statuses too")
        func ownPolicy() async throws {
            let server = try server()
            defer { server.stop() }
            try await withSession { session in
                var options = TaskOptions()
                var retries = RetryPolicy.standard
                retries.statuses = [418]
                retries.firstDelay = .zero
                options.retryPolicy = retries
                let teapot = try await session.data(for: server.request(.get, "/418"), options: options)
                #expect(teapot.response.status == .ok)
                #expect(server.requests.count == 3)
                let (_, response) = try await session.data(for: server.request(.get, "/503"), options: options)
                #expect(response.status == .ok)
            }
            try await withSession { session in
                var options = TaskOptions()
                var retries = RetryPolicy.standard
                retries.statuses = [418]
                options.retryPolicy = retries
                let (_, response) = try await session.data(for: server.request(.get, "/503"), options: options)
                #expect(response.status.code == 503)
            }
        }

        @Test(
            "a handler may try again what the policy would not, and leave what it would",
            arguments: [
                ("/404", HTTPRequest.Method.get, 3, 200), ("/503", .post, 3, 200), ("/500", .get, 1, 500),
                ("/502", .get, 3, 200), ("/429", .post, 1, 429),
            ])
        func decisions(path: String, method: HTTPRequest.Method, requests: Int, status: Int) async throws {
            let server = try server()
            defer { server.stop() }
            let log = Log<FailedAttempt>()
            let places = Log<Bool>()
            try await withSession { session in
                let options = options { failed in
                    log.add(failed)
                    places.add(isOnSessionThread)
                    switch path {
                    case "/404", "/503": return .retry(after: .milliseconds(1))
                    case "/500": return .stop
                    default: return .asPlanned
                    }
                }
                let body = method == .post ? Body.bytes([1]) : .none
                let (_, response) = try await session.upload(
                    for: server.request(method, path), from: body, options: options)
                #expect(response.status.code == status)
            }
            #expect(server.requests.count == requests && !places.entries.contains(true))
            #expect(log.entries.map(\.attempt) == Array(1...min(requests, 2)))
            let hasPlan = method == .get && path != "/404"
            #expect(log.entries.allSatisfy { ($0.plan != nil) == hasPlan && $0.request.path == path })
        }

        @Test("a handler is asked about lost connections, but not after the last attempt")
        func lost() async throws {
            let server = try server()
            defer { server.stop() }
            let log = Log<FailedAttempt>()
            try await withSession { session in
                let options = options { failed in
                    log.add(failed)
                    return .retry(after: .zero)
                }
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.post, "/lost"), body: .bytes([1]), options: options)
                }
                #expect(error?.code == .connectionLost && error?.attempt == 4)
                #expect(server.requests.count == 4)
            }
            #expect(log.entries.map(\.attempt) == [1, 2, 3])
            #expect(
                log.entries.allSatisfy {
                    if case .failure(let error) = $0.reason { error.code == .connectionLost } else { false }
                })
        }

        @Test(
            "validation turns a response into an error that has it, and makes no file of it; without, all are results")
        func validation() async throws {
            let server = try FaultServer { peer, request in
                let type = "Content-Type: " + (request.target == "/page" ? "Text/HTML; charset=utf-8" : "image/png")
                return peer.respond(request.target == "/none" ? 404 : 200, "body", fields: [type]) ? .keep : .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession {
                $0.policy.validation = .successful
            } _: { session in
                var images = TaskOptions()
                images.policy.validation = ResponseValidation(contentTypes: ["application/json", "image/*"])
                let image = try await session.data(for: server.request(.get, "/image"), options: images)
                #expect(image.bytes.count == 4)
                _ = try await session.data(for: server.request(.get, "/page"))
                let missing = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.get, "/none"))
                }
                #expect(missing?.code == .unacceptableResponse && missing?.rejected?.response.status == .notFound)
                #expect(missing?.rejected?.bytes == Array("body".utf8))
                let page = await failure { () async throws(TransferError) in
                    try await session.download(
                        for: server.request(.get, "/page"), to: folder.file("a"), options: images)
                }
                #expect(page?.code == .unacceptableResponse && page?.message.contains("text/html") == true)
                #expect(folder.names.isEmpty)
            }
        }
    }
}

struct ResponseValidationTests {
    @Test(
        "types are compared without case and parameters, stars stand for any",
        arguments: [
            ("image/PNG", "image/png", true), ("image/png; q=1", "image/*", true), ("a/b", "*/*", true),
            ("imagex/png", "image/*", false), ("text/plain", "image/*", false), ("", "image/*", false),
        ])
    func types(type: String, accepted: String, isFine: Bool) {
        let response = HTTPResponse(status: .ok, headerFields: type.isEmpty ? [:] : [.contentType: type])
        let validation = ResponseValidation(contentTypes: [accepted])
        #expect((validation.objection(to: response, hasBody: true) == nil) == isFine)
        #expect(validation.objection(to: response, hasBody: false) == nil)
    }
}
