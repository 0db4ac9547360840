import HTTPTypes
import Testing

@testable import ByteClubHTTP

/// Numbers for tokens, each renewed by what a test decides; the questions are logged.
private struct Asked: Authenticator {
    struct Question {
        var credential: Int
        var challenges: [AuthenticationChallenge]
    }

    let questions = Log<Question>()
    var expired: Int?
    var next: @Sendable (Int) -> Int = { $0 + 1 }

    func apply(_ credential: Int, to request: inout HTTPRequest) {
        request.headerFields[.authorization] = "Bearer \(credential)"
    }

    func refresh(_ credential: Int) async throws -> Int { try await refresh(credential, for: []) }

    func refresh(_ credential: Int, for challenges: [AuthenticationChallenge]) async throws -> Int {
        questions.add(Question(credential: credential, challenges: challenges))
        return next(credential)
    }

    func isExpired(_ credential: Int) -> Bool { credential == expired }
}

/// Knows nothing of challenges, and has credentials that cannot be compared.
private struct Unasked: Authenticator {
    struct Token: Sendable { var number: Int }

    let renewals = Log<Int>()

    func apply(_ credential: Token, to request: inout HTTPRequest) {
        request.headerFields[.authorization] = "Bearer \(credential.number)"
    }

    func refresh(_ credential: Token) async throws -> Token {
        renewals.add(credential.number)
        return Token(number: credential.number + 1)
    }
}

extension Live {
    /// What an authenticator hears of a rejection, and how often it is asked.
    @Suite struct AuthenticatorQuestionTests {
        /// Answers 200 to this token; to others 401 with a challenge that names the rejected one.
        private func guarded(
            by token: Int, before answer: @escaping @Sendable (RecordedRequest) -> Void = { _ in }
        ) throws -> FaultServer {
            try FaultServer { peer, request in
                let count = peer.skip(request.contentLength)
                answer(request)
                let sent = request["authorization"] ?? "none"
                if sent == "Bearer \(token)" { return peer.respond(200, "\(count)") ? .keep : .close }
                let error = sent == "Bearer 1" ? "invalid_token" : "insufficient_scope"
                let challenge = "Bearer realm=\"club\", error=\"\(error)\", scope=\"read write\""
                let fields = ["WWW-Authenticate: \(challenge)", "WWW-Authenticate: Basic realm=\"\(sent)\""]
                return peer.respond(401, "refused", fields: fields) ? .keep : .close
            }
        }

        @Test(
            "an authenticator gets the challenges of each rejection, and a task asks it twice and no more",
            arguments: [(2, 1), (3, 2), (99, 2)])
        func challenges(accepted: Int, questions: Int) async throws {
            let server = try guarded(by: accepted)
            defer { server.stop() }
            let asked = Asked()
            try await withSession {
                $0.policy.authenticate(with: Authentication(asked, credential: 1))
            } _: { session in
                let task = session.uploadTask(server.request(.post), from: .bytes([1, 2, 3]))
                task.resume()
                let result = try await task.value
                #expect(result.response.status == (accepted == 99 ? .unauthorized : .ok))
                #expect(result.bytes == Array((accepted == 99 ? "refused" : "3").utf8))
                #expect(result.progress.attempt == questions + 1 && server.requests.count == questions + 1)
            }
            #expect(asked.questions.entries.map(\.credential) == Array(1...questions))
            for (index, question) in asked.questions.entries.enumerated() {
                let bearer = try #require(question.challenges.first)
                #expect(question.challenges.map(\.scheme) == ["bearer", "basic"])
                #expect(question.challenges.last?.realm == "Bearer \(index + 1)")
                #expect(bearer.realm == "club" && bearer.parameters["scope"] == "read write")
                #expect(bearer.parameters["error"] == (index == 0 ? "invalid_token" : "insufficient_scope"))
                #expect(bearer.space.origin == "http://\(server.authority)" && !bearer.isOfProxy)
                #expect(question.challenges.allSatisfy { $0.previousFailureCount == index + 1 })
            }
        }

        @Test("tasks rejected at the same time share each of the two questions")
        func shared() async throws {
            // Each answer waits until all requests with that token have come.
            let (first, second) = (Gate(), Gate())
            let server = try guarded(by: 3) { request in
                switch request["authorization"] {
                case "Bearer 1": first.pass()
                case "Bearer 2": second.pass()
                default: break
                }
            }
            defer { server.stop() }
            let asked = Asked()
            try await withSession {
                $0.maximumTasksPerHost = 20
                $0.policy.authenticate(with: Authentication(asked, credential: 1))
            } _: { session in
                let tasks = (0..<20).map { _ in session.dataTask(server.request()) }
                for task in tasks { task.resume() }
                await server.received(20)
                first.open()
                await server.received(40)
                second.open()
                for task in tasks {
                    let result = try await task.value
                    #expect(result.response.status == .ok && result.progress.attempt == 3)
                }
            }
            #expect(asked.questions.entries.map(\.credential) == [1, 2] && server.requests.count == 60)
        }

        @Test("a credential that the authenticator gives again is sent once more, and its rejection is the result")
        func same() async throws {
            let server = try guarded(by: 99)
            defer { server.stop() }
            let asked = Asked(next: { $0 })
            let authentication = Authentication(asked, credential: 1)
            try await withSession {
                $0.policy.authenticate(with: authentication)
            } _: { session in
                for round in 1...2 {
                    let (bytes, response) = try await session.data(for: server.request())
                    #expect(response.status == .unauthorized && bytes == Array("refused".utf8))
                    // The next task may ask again.
                    #expect(asked.questions.entries.count == round && server.requests.count == 2 * round)
                }
            }
        }

        @Test("an authenticator that does not implement the question about challenges renews as well")
        func unasked() async throws {
            for (accepted, renewals) in [(2, [1]), (99, [1, 2])] {
                let server = try guarded(by: accepted)
                defer { server.stop() }
                let unasked = Unasked()
                try await withSession {
                    $0.policy.authenticate(with: Authentication(unasked, credential: Unasked.Token(number: 1)))
                } _: { session in
                    let (_, response) = try await session.data(for: server.request())
                    #expect(response.status == (accepted == 99 ? .unauthorized : .ok))
                }
                #expect(unasked.renewals.entries == renewals)
            }
        }

        @Test("an expired credential is renewed without challenges, and rejections count from there")
        func expired() async throws {
            let server = try guarded(by: 4)
            defer { server.stop() }
            let asked = Asked(expired: 1)
            try await withSession {
                $0.policy.authenticate(with: Authentication(asked, credential: 1))
            } _: { session in
                let (_, response) = try await session.data(for: server.request())
                #expect(response.status == .ok && server.requests.count == 3)
            }
            #expect(asked.questions.entries.map(\.credential) == [1, 2, 3])
            #expect(asked.questions.entries.map { $0.challenges.count } == [0, 2, 2])
        }
    }
}
