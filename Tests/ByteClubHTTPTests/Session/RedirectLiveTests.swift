import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct RedirectTests {
        /// A server that redirects `/to?<address>` there with the status in the field X-Status.
        private func redirector() throws -> FaultServer {
            try FaultServer { peer, request in
                let count = peer.skip(request.contentLength)
                guard request.target.hasPrefix("/to"), let mark = request.target.firstIndex(of: "?") else {
                    return peer.respond(200, "\(request.method) \(count)") ? .keep : .close
                }
                let location = request.target[request.target.index(after: mark)...]
                let status = Int(request.target.dropFirst(3).prefix(3)) ?? 302
                return peer.respond(status, "moved", fields: ["Location: \(location)"]) ? .keep : .close
            }
        }

        @Test("no secret reaches another origin, nor the first one again on the way back")
        func secrets() async throws {
            let (first, second) = (try redirector(), try redirector())
            defer {
                first.stop()
                second.stop()
            }
            try await withSession {
                $0.additionalHeaders = [.authorization: "Bearer secret-1", .userAgent: "club"]
            } _: { session in
                let key = try #require(HTTPField.Name("X-Api-Key"))
                let fields: HTTPFields = [key: "secret-2", .cookie: "secret-3", .accept: "text/plain"]
                let there = "http://\(second.authority)/to302?http://\(first.authority)/end"
                let (bytes, response) = try await session.data(for: first.request(.get, "/to302?\(there)", fields))
                #expect(response.status == .ok && bytes == Array("GET 0".utf8))
                #expect(first.requests.first?.raw.contains("secret-1") == true)
                #expect(first.requests.first?.raw.contains("secret-2") == true)
                #expect(second.requests.count == 1 && first.requests.count == 2)
                for request in second.requests + first.requests.dropFirst() {
                    #expect(!request.raw.contains("secret"))
                    #expect(request["accept"] == "text/plain" && request["user-agent"] == "club")
                }
                _ = try await session.data(
                    for: first.request(.get, "/to302?http://localhost:\(first.port)/end", fields))
                #expect(first.requests.last?.raw.contains("secret") == false)
                _ = try await session.data(for: first.request(.get, "/to302?/end", fields))
                #expect(first.requests.last?.raw.contains("secret-1") == true)
            }
        }

        @Test("307 and 308 send the whole body again, 303 none", arguments: [(307, 300_000), (308, 300_000), (303, 0)])
        func bodies(status: Int, expected: Int) async throws {
            let server = try redirector()
            defer { server.stop() }
            let folder = TemporaryFolder()
            let file = folder.write("body", Array(repeating: 5, count: 300_000))
            try await withSession { session in
                for body in [Body.bytes(Array(repeating: 5, count: 300_000)), .file(path: file)] {
                    let request = server.request(.put, "/to\(status)?/end")
                    let (bytes, _) = try await session.upload(for: request, from: body)
                    #expect(bytes == Array("\(status == 303 ? "GET" : "PUT") \(expected)".utf8))
                }
            }
        }

        @Test("a redirect that must stay within its origin brings neither a body nor anybody elsewhere")
        func ownOrigin() async throws {
            let (first, second) = (try redirector(), try redirector())
            defer {
                first.stop()
                second.stop()
            }
            try await withSession { session in
                var options = TaskOptions()
                options.redirects = .ownOrigin
                for status in [301, 302, 303, 307, 308] {
                    let there = "/to\(status)?http://\(second.authority)/end"
                    let away = try await session.data(for: first.request(.get, there), options: options)
                    #expect(away.response.status.code == status)
                    let near = "/to\(status)?/end"
                    let (bytes, response) = try await session.data(for: first.request(.get, near), options: options)
                    #expect(response.status == .ok && bytes == Array("GET 0".utf8))
                    let count = first.requests.count
                    for target in [there, near] {
                        let (_, response) = try await session.data(
                            for: first.request(.put, target), body: .bytes([1, 2, 3]), options: options)
                        #expect(response.status.code == status)
                    }
                    #expect(first.requests.count == count + 2)
                }
                #expect(second.accepts == 0)
            }
        }

        @Test("a redirect is the result when it is not to be followed, circles end")
        func limits() async throws {
            let server = try redirector()
            defer { server.stop() }
            try await withSession { session in
                var options = TaskOptions()
                options.redirects = .none
                let (bytes, response) = try await session.data(for: server.request(.get, "/to302?/x"), options: options)
                #expect(response.status == .found && bytes == Array("moved".utf8))
                let circle = try FaultServer { peer, _ in peer.respond(302, fields: ["Location: /"]) ? .keep : .close }
                defer { circle.stop() }
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: circle.request())
                }
                #expect(error?.code == .tooManyRedirects)
                #expect(circle.requests.count == 21 && circle.accepts == 1)
            }
        }
    }
}
