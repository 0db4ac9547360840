import HTTPTypes
import Testing

@testable import ByteClubHTTP

/// Writes down the statuses of all responses.
private final class Statuses: EventMonitor {
    let log = Log<Int>()

    func receive(_ event: TaskEvent, of task: SessionTask) async {
        if case .responseReceived(let response) = event { log.add(response.status.code) }
    }
}

/// A delegate that answers challenges.
private final class Porter: SessionDelegate {
    let asked = Log<AuthenticationChallenge>()
    let credential: PasswordCredential

    init(_ credential: PasswordCredential) { self.credential = credential }

    func task(_ task: SessionTask, didReceive challenge: AuthenticationChallenge) async -> ChallengeDecision {
        asked.add(challenge)
        return isOnSessionThread ? .cancel : .use(credential)
    }
}

/// A delegate that answers none.
private final class Bystander: SessionDelegate {}

extension Live {
    @Suite struct ChallengeTests {
        private let right = PasswordCredential(user: "ada", password: "right")
        private let wrong = PasswordCredential(user: "ada", password: "wrong")

        /// A handler that notes what it is asked, and always gives the same answer.
        private func handler(_ asked: Log<AuthenticationChallenge>, _ decision: ChallengeDecision)
            -> @Sendable (AuthenticationChallenge) async -> ChallengeDecision
        {
            { challenge in
                asked.add(challenge)
                return isOnSessionThread ? .cancel : decision
            }
        }

        @Test(
            "a challenge is answered once for the session: the request is sent again with its body, later ones at once",
            arguments: [false, true])
        func answered(isDigest: Bool) async throws {
            let server = try Doorkeeper(isDigest: isDigest).server()
            defer { server.stop() }
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.policy.challengeHandler = handler(asked, .use(right))
            } _: { session in
                let task = session.uploadTask(
                    server.request(.post, "/a/b"), from: .bytes(Array(repeating: 1, count: 50_000)))
                task.resume()
                let result = try await task.value
                #expect(result.response.status == .ok && result.bytes == Array("50000".utf8))
                #expect(result.progress.attempt == 2 && server.requests.count == 2)
                for path in ["/a/c?d=e", "/a/", "/a/b"] {
                    let (_, response) = try await session.data(for: server.request(.get, path))
                    #expect(response.status == .ok)
                }
                #expect(server.requests.count == 5 && asked.entries.count == 1)
                let challenge = try #require(asked.entries.first)
                #expect(challenge.scheme == (isDigest ? "digest" : "basic") && challenge.realm == "club")
                #expect(challenge.space.origin == "http://\(server.authority)" && !challenge.isOfProxy)
                #expect(challenge.previousFailureCount == 0)
                // Another folder asks again, and the credential for the realm is there. Digest's domain is the server.
                let (_, response) = try await session.data(for: server.request(.get, "/x/"))
                #expect(response.status == .ok && server.requests.count == (isDigest ? 6 : 7))
                #expect(asked.entries.count == 1)
            }
        }

        @Test("a nonce that is outdated is replaced without asking, and no counter is sent twice")
        func stale() async throws {
            let server = try Doorkeeper(isDigest: true, usesOfNonce: 2).server()
            defer { server.stop() }
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.policy.challengeHandler = handler(asked, .use(right))
            } _: { session in
                for _ in 0..<6 {
                    let (bytes, response) = try await session.upload(
                        for: server.request(.put), from: .bytes(Array(repeating: 1, count: 9000)))
                    #expect(response.status == .ok && bytes == Array("9000".utf8))
                }
                // One was challenged, and two had an outdated nonce.
                #expect(server.requests.count == 9 && asked.entries.count == 1)
            }
        }

        @Test("many at once are counted one by one with a nonce")
        func counted() async throws {
            let server = try Doorkeeper(isDigest: true).server()
            defer { server.stop() }
            try await withSession {
                $0.policy.challengeHandler = { [right] _ in .use(right) }
                $0.maximumTasksPerHost = 8
            } _: { session in
                _ = try await session.data(for: server.request())
                let tasks = (0..<100).map { session.dataTask(server.request(.get, "/\($0)")) }
                for task in tasks { task.resume() }
                for task in tasks {
                    let result = try await task.value
                    #expect(result.response.status == .ok)
                }
                #expect(server.requests.count == 102)
            }
        }

        @Test("a server whose nonces are for one request each has many at once")
        func oneTime() async throws {
            let server = try Doorkeeper(isDigest: true, usesOfNonce: 1).server()
            defer { server.stop() }
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.policy.challengeHandler = handler(asked, .use(right))
                $0.maximumTasksPerHost = 20
            } _: { session in
                for round in 1...2 {
                    let tasks = (0..<20).map { _ in session.dataTask(server.request()) }
                    for task in tasks { task.resume() }
                    for task in tasks {
                        let result = try await task.value
                        #expect(result.response.status == .ok)
                    }
                    // Each was refused once, then had the nonce of its own challenge.
                    #expect(server.requests.count <= 40 * round && asked.entries.count == 1)
                }
            }
        }

        @Test("a wrong password is asked for again, five times at most", arguments: [false, true])
        func wrongPassword(isDigest: Bool) async throws {
            let server = try Doorkeeper(isDigest: isDigest).server()
            defer { server.stop() }
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.policy.challengeHandler = handler(asked, .use(wrong))
            } _: { session in
                let (_, response) = try await session.data(for: server.request())
                #expect(response.status == .unauthorized && server.requests.count == 6)
                #expect(asked.entries.map(\.previousFailureCount) == [0, 1, 2, 3, 4])
                // Nothing of it is kept.
                var options = TaskOptions()
                options.policy.challengeHandler = { [right, wrong] challenge in
                    .use(challenge.previousFailureCount < 2 ? wrong : right)
                }
                let again = try await session.data(for: server.request(), options: options)
                #expect(again.response.status == .ok && server.requests.count == 10)
                #expect(server.requests.dropFirst(6).first?["authorization"] == nil)
            }
        }

        @Test("no answer: the response is the result, the retry handler is asked, or the task is cancelled")
        func decisions() async throws {
            let server = try Doorkeeper(isDigest: false).server()
            defer { server.stop() }
            let (asked, retried) = (Log<AuthenticationChallenge>(), Log<Int>())
            try await withSession {
                $0.retryPolicy = .standard
                $0.policy.challengeHandler = handler(asked, .performDefault)
                $0.policy.retryHandler = { failed in
                    if case .response(let response) = failed.reason { retried.add(response.status.code) }
                    return .stop
                }
            } _: { session in
                let (_, response) = try await session.data(for: server.request())
                #expect(response.status == .unauthorized && asked.entries.count == 1 && retried.entries == [401])
                for (decision, code) in [
                    (ChallengeDecision.cancel, TransferError.Code.cancelled),
                    (.use(PasswordCredential(user: "a:b", password: "c")), .authenticationFailed),
                ] {
                    var options = TaskOptions()
                    options.policy.challengeHandler = handler(asked, decision)
                    let error = await failure { () async throws(TransferError) in
                        try await session.data(for: server.request(), options: options)
                    }
                    #expect(error?.code == code)
                }
                #expect(server.requests.count == 3)
            }
        }

        @Test("the strongest challenge comes first, and one that is rejected gives the next its turn")
        func several() async throws {
            let door = Doorkeeper(isDigest: false)
            let server = try FaultServer { peer, request in
                guard let objection = door.objection(to: request) else { return peer.respond(200) ? .keep : .close }
                let others = ["Bearer realm=club", objection, "Digest realm=club, nonce=a, qop=auth"]
                return peer.respond(401, fields: others.map { "WWW-Authenticate: \($0)" }) ? .keep : .close
            }
            defer { server.stop() }
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.policy.challengeHandler = { [right] challenge in
                    asked.add(challenge)
                    return challenge.scheme == "basic" ? .use(right) : .rejectProtectionSpace
                }
            } _: { session in
                let (_, response) = try await session.data(for: server.request())
                #expect(response.status == .ok && server.requests.count == 2)
                #expect(asked.entries.map(\.scheme) == ["digest", "basic"])
            }
            // Without an answer to any, the response is the result.
            try await withSession {
                $0.policy.challengeHandler = handler(asked, .rejectProtectionSpace)
            } _: { session in
                let (_, response) = try await session.data(for: server.request())
                #expect(response.status == .unauthorized && asked.entries.count == 4)
            }
        }

        @Test("many challenged at once lead to one question, and each is sent once more", arguments: [false, true])
        func singleFlight(isDigest: Bool) async throws {
            let server = try Doorkeeper(isDigest: isDigest).server()
            defer { server.stop() }
            let (asked, mayAnswer) = (Log<AuthenticationChallenge>(), Log<Void>())
            try await withSession {
                $0.maximumTasksPerHost = 20
                $0.policy.challengeHandler = { [right] challenge in
                    asked.add(challenge)
                    await mayAnswer.wait { !$0.isEmpty }
                    return .use(right)
                }
            } _: { session in
                let tasks = (0..<20).map { _ in session.dataTask(server.request()) }
                for task in tasks { task.resume() }
                await server.received(20)
                mayAnswer.add(())
                for task in tasks {
                    let result = try await task.value
                    #expect(result.response.status == .ok)
                }
                #expect(asked.entries.count == 1 && server.requests.count == 40)
            }
        }

        @Test("a wrong password that many sent at once leads to one further question")
        func wrongForMany() async throws {
            let server = try Doorkeeper(isDigest: true).server()
            defer { server.stop() }
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.maximumTasksPerHost = 20
                $0.policy.challengeHandler = { [right, wrong] challenge in
                    if asked.entries.isEmpty { await server.received(20) }
                    asked.add(challenge)
                    return .use(challenge.previousFailureCount == 0 ? wrong : right)
                }
            } _: { session in
                let tasks = (0..<20).map { _ in session.dataTask(server.request()) }
                for task in tasks { task.resume() }
                for task in tasks {
                    let result = try await task.value
                    #expect(result.response.status == .ok)
                }
                #expect(asked.entries.map(\.previousFailureCount) == [0, 1] && server.requests.count <= 60)
            }
        }

        @Test("cancelling the task that asked leaves the question to the others; with the last one it is cancelled")
        func cancelOne() async throws {
            let server = try Doorkeeper(isDigest: false).server()
            defer { server.stop() }
            let (asked, mayAnswer, statuses) = (Log<Bool>(), Log<Void>(), Statuses())
            try await withSession {
                $0.eventMonitors = [statuses]
                $0.policy.challengeHandler = { [right] _ in
                    asked.add(false)
                    await mayAnswer.wait { !$0.isEmpty }
                    asked.add(Task.isCancelled)
                    return .use(right)
                }
            } _: { session in
                let (first, second) = (session.dataTask(server.request()), session.dataTask(server.request()))
                first.resume()
                await asked.wait { !$0.isEmpty }
                second.resume()
                await statuses.log.wait { $0.count == 2 }
                first.cancel()
                let error = await failure { () async throws(TransferError) in try await first.value }
                #expect(error?.code == .cancelled)
                mayAnswer.add(())
                let result = try await second.value
                #expect(result.response.status == .ok && asked.entries == [false, false])
            }
            let ended = Log<Bool>()
            try await withSession {
                $0.policy.challengeHandler = { _ in
                    ended.add(false)
                    // Ends only by the cancellation.
                    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
                    ended.add(true)
                    return .performDefault
                }
            } _: { session in
                let task = session.dataTask(server.request())
                task.resume()
                await ended.wait { !$0.isEmpty }
                task.cancel()
                let error = await failure { () async throws(TransferError) in try await task.value }
                #expect(error?.code == .cancelled)
                await ended.wait { $0.contains(true) }
            }
        }

        @Test("a session that is cancelled, or a task whose time is over, does not wait for the handler")
        func handlerHangs() async throws {
            let server = try Doorkeeper(isDigest: false).server()
            defer { server.stop() }
            let (asked, mayAnswer) = (Log<Void>(), Log<Void>())
            try await withSession {
                $0.timeoutForResource = .milliseconds(300)
                $0.policy.challengeHandler = { [right] _ in
                    await mayAnswer.wait { !$0.isEmpty }
                    return .use(right)
                }
            } _: { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request())
                }
                #expect(error?.code == .timedOut)
            }
            try await withSession {
                $0.policy.challengeHandler = { [right] _ in
                    asked.add(())
                    await mayAnswer.wait { !$0.isEmpty }
                    return .use(right)
                }
            } _: { session in
                let task = session.dataTask(server.request())
                task.resume()
                await asked.wait { !$0.isEmpty }
                await session.invalidateAndCancel()
                let error = await failure { () async throws(TransferError) in try await task.value }
                #expect(error?.code == .cancelled)
            }
            mayAnswer.add(())
        }

        @Test("no credential follows a redirect to another origin, whose challenge is a question of its own")
        func otherOrigin() async throws {
            let far = try Doorkeeper(isDigest: false, realm: "club", password: "other").server()
            let door = Doorkeeper(isDigest: false)
            let target = "http://\(far.authority)/"
            let near = try FaultServer { peer, request in
                if let objection = door.objection(to: request) {
                    return peer.respond(401, fields: ["WWW-Authenticate: \(objection)"]) ? .keep : .close
                }
                return peer.respond(302, fields: ["Location: \(target)"]) ? .keep : .close
            }
            defer {
                near.stop()
                far.stop()
            }
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.policy.challengeHandler = { [right, origin = "http://\(near.authority)"] challenge in
                    asked.add(challenge)
                    return challenge.space.origin == origin ? .use(right) : .performDefault
                }
            } _: { session in
                for round in 1...2 {
                    let (_, response) = try await session.data(for: near.request())
                    #expect(response.status == .unauthorized && far.requests.count == round)
                    #expect(near.requests.count == round + 1)
                }
                #expect(far.requests.allSatisfy { $0["authorization"] == nil })
                #expect(
                    asked.entries.map(\.space.origin)
                        == [near.authority, far.authority, far.authority].map { "http://\($0)" })
            }
        }

        @Test("a stream that was sent in part fails clearly, and the next request carries the credential at once")
        func streams() async throws {
            let server = try Doorkeeper(isDigest: false).server()
            defer { server.stop() }
            let asked = Log<AuthenticationChallenge>()
            func body() -> Body {
                let chunks = AsyncStream<[UInt8]> { chunks in
                    for _ in 0..<2 { chunks.yield(Array(repeating: 1, count: 1000)) }
                    chunks.finish()
                }
                return .stream(BodyStream(chunks, length: 2000))
            }
            try await withSession {
                $0.policy.challengeHandler = handler(asked, .use(right))
            } _: { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.upload(for: server.request(.put), from: body())
                }
                #expect(error?.code == .bodyFailed && error?.rejected?.response.status == .unauthorized)
                #expect(server.requests.count == 1)
                let (bytes, response) = try await session.upload(for: server.request(.put), from: body())
                #expect(response.status == .ok && bytes == Array("2000".utf8))
                #expect(server.requests.count == 2 && asked.entries.count == 1)
            }
        }

        @Test("a download, and a body that is read as it comes, are of the answered request")
        func otherKinds() async throws {
            let folder = TemporaryFolder()
            let asked = Log<AuthenticationChallenge>()
            for isDownload in [true, false] {
                // Another session's first request with the same nonce would be a repetition.
                let server = try Doorkeeper(isDigest: true).server()
                defer { server.stop() }
                try await withSession {
                    $0.policy.challengeHandler = handler(asked, .use(right))
                } _: { session in
                    if isDownload {
                        let result = try await session.download(for: server.request(), to: folder.file("there"))
                        #expect(result.response.status == .ok && result.file == folder.file("there"))
                    } else {
                        let (bytes, response) = try await session.bytes(for: server.request())
                        var all: [UInt8] = []
                        for try await chunk in bytes { all += chunk }
                        #expect(response.status == .ok && all == Array("0".utf8))
                    }
                }
                #expect(server.requests.count == 2)
            }
            #expect(asked.entries.count == 2)
        }

        @Test("a request with its own Authorization is not asked about, and without a handler nothing is")
        func notAsked() async throws {
            let server = try Doorkeeper(isDigest: false).server()
            defer { server.stop() }
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.policy.challengeHandler = handler(asked, .use(right))
            } _: { session in
                let (_, response) = try await session.data(
                    for: server.request(.get, "/", [.authorization: "Bearer x"]))
                #expect(response.status == .unauthorized && server.requests.count == 1)
                #expect(asked.entries.isEmpty)
            }
            try await withSession { session in
                let (_, response) = try await session.data(for: server.request())
                #expect(response.status == .unauthorized && server.requests.count == 2)
            }
            try await withSession(delegate: Bystander()) { session in
                let (_, response) = try await session.data(for: server.request())
                #expect(response.status == .unauthorized && server.requests.count == 3)
            }
        }

        @Test("a delegate is asked if there is no handler")
        func delegate() async throws {
            let server = try Doorkeeper(isDigest: true).server()
            defer { server.stop() }
            let porter = Porter(right)
            try await withSession(delegate: porter) { session in
                for _ in 0..<2 {
                    let (_, response) = try await session.data(for: server.request())
                    #expect(response.status == .ok)
                }
                #expect(porter.asked.entries.count == 1 && server.requests.count == 3)
                // A task's own handler goes before it.
                let asked = Log<AuthenticationChallenge>()
                var options = TaskOptions()
                options.policy.challengeHandler = handler(asked, .performDefault)
                let other = try Doorkeeper(isDigest: false).server()
                defer { other.stop() }
                let (_, response) = try await session.data(for: other.request(), options: options)
                #expect(response.status == .unauthorized && asked.entries.count == 1)
                #expect(porter.asked.entries.count == 1)
            }
        }

        @Test("a server with another realm, or an outdated nonce, each time has an end")
        func hostile() async throws {
            let answers = Log<Void>()
            let server = try FaultServer { peer, request in
                answers.add(())
                let next = answers.entries.count
                let field =
                    request.target == "/realms"
                    ? "Basic realm=\"\(next)\"" : "Digest realm=a, nonce=\(next), qop=auth, stale=true"
                return peer.respond(401, fields: ["WWW-Authenticate: \(field)"]) ? .keep : .close
            }
            defer { server.stop() }
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.policy.challengeHandler = handler(asked, .use(right))
            } _: { session in
                let realms = try await session.data(for: server.request(.get, "/realms"))
                #expect(realms.response.status == .unauthorized && server.requests.count == 13)
                #expect(asked.entries.count == 12)
                let nonces = try await session.data(for: server.request(.get, "/nonces"))
                #expect(nonces.response.status == .unauthorized && asked.entries.count == 13)
                #expect(server.requests.count <= 13 + 11)
            }
        }

        @Test("a cached response is of the user whose credential asked for it")
        func cached() async throws {
            let door = Doorkeeper(isDigest: true)
            let server = try FaultServer { peer, request in
                if let objection = door.objection(to: request) {
                    return peer.respond(401, fields: ["WWW-Authenticate: \(objection)"]) ? .keep : .close
                }
                return peer.respond(200, "secret", fields: ["Cache-Control: max-age=600"]) ? .keep : .close
            }
            defer { server.stop() }
            let cache = ResponseCache()
            for isAda in [true, false] {
                try await withSession {
                    $0.cache = cache
                    if isAda { $0.policy.challengeHandler = { [right] _ in .use(right) } }
                } _: { session in
                    for _ in 0..<3 {
                        let (bytes, response) = try await session.data(for: server.request())
                        #expect(response.status == (isAda ? .ok : .unauthorized))
                        #expect(bytes == (isAda ? Array("secret".utf8) : []))
                    }
                }
            }
            // Ada's second and third came from the cache, although each would have had another counter.
            #expect(server.requests.count == 2 + 3)
        }
    }
}
