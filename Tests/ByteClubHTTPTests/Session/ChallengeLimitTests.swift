import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    /// Challenges of servers that send too much.
    @Suite struct ChallengeLimitTests {
        /// Answers a request for `/` with 200, and any other with 401 and these fields until it has a credential.
        private func server(_ fields: [String]) throws -> FaultServer {
            try FaultServer { peer, request in
                if request.target == "/" || request["authorization"] != nil {
                    return peer.respond(200, "fine") ? .keep : .close
                }
                return peer.respond(401, "refused", fields: fields) ? .keep : .close
            }
        }

        private func withAsked(
            _ body: (Session, Log<AuthenticationChallenge>) async throws -> Void
        ) async throws {
            let asked = Log<AuthenticationChallenge>()
            try await withSession {
                $0.policy.challengeHandler = { challenge in
                    asked.add(challenge)
                    return .use(PasswordCredential(user: "ada", password: "right"))
                }
            } _: { session in
                try await body(session, asked)
            }
        }

        @Test("of a thousand schemes in the fields of a 401 the first are read, and the connection serves the next")
        func schemes() async throws {
            // As many fields, and few fields with many schemes each.
            let names = (0..<1000).map { "Scheme\($0) realm=\"r\"" }
            let lists = (0..<10).map { names[($0 * 100)..<($0 * 100 + 100)].joined(separator: ", ") }
            for values in [names, lists] {
                for isFirst in [true, false] {
                    let basic = "Basic realm=\"club\""
                    let fields = (isFirst ? [basic] + values : values + [basic]).map { "WWW-Authenticate: \($0)" }
                    let server = try server(fields)
                    defer { server.stop() }
                    try await withAsked { session, asked in
                        let before = residentBytes()
                        let request = server.request(.get, "/guarded")
                        let (bytes, response) = try await session.data(for: request)
                        #expect(response.status == (isFirst ? .ok : .unauthorized))
                        #expect(bytes == Array((isFirst ? "fine" : "refused").utf8))
                        #expect(asked.entries.map(\.scheme) == (isFirst ? ["basic"] : []))
                        if !isFirst {
                            #expect(response.headerFields[values: .wwwAuthenticate].count == fields.count)
                            #expect(response.challenges(to: request).count == ChallengeReader.mostChallenges)
                        }
                        #expect(residentBytes() - before < 32 << 20)
                        let (_, next) = try await session.data(for: server.request())
                        #expect(next.status == .ok && server.accepts == 1)
                    }
                }
            }
        }

        @Test(
            "a nonce longer than a response's head may be is one clear error, and the session serves the next request",
            arguments: [
                // libcurl keeps no such line, and of the others this library keeps too few.
                (length: 1 << 20, count: 1, message: "a line in the head of the response is too long for libcurl"),
                (length: 60 << 10, count: 20, message: "the head of the response is longer than 131072 bytes"),
            ])
        func nonce(length: Int, count: Int, message: String) async throws {
            let nonce = String(repeating: "n", count: length)
            let field = "WWW-Authenticate: Digest realm=\"club\", nonce=\"\(nonce)\", qop=\"auth\""
            let server = try server(Array(repeating: field, count: count))
            defer { server.stop() }
            try await withAsked { session, asked in
                let before = residentBytes()
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.get, "/guarded"))
                }
                #expect(error?.code == .protocolViolation && error?.message == message)
                #expect(error?.phase == .receive && error?.isRetryable == false)
                #expect(asked.entries.isEmpty && server.requests.count == 1)
                #expect(residentBytes() - before < 32 << 20)
                let (bytes, response) = try await session.data(for: server.request())
                #expect(response.status == .ok && bytes == Array("fine".utf8))
            }
        }
    }
}
