import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct CacheLiveTests {
        /// Responds to `/<max-age>` with its number and an ETag, and with 304 if the tag matches.
        private func numberServer() throws -> FaultServer {
            let counts = Counts()
            return try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                let count = counts.counts.withLock { counts -> Int in
                    counts["n", default: 0] += 1
                    return counts["n"] ?? 0
                }
                let age = request.target.dropFirst().prefix { $0.isNumber }
                var fields = ["Cache-Control: max-age=\(age)", "ETag: \"\(age)\"", "X-Count: \(count)"]
                if request.target.contains("vary") { fields.append("Vary: Accept") }
                if request["if-none-match"] == "\"\(age)\"" {
                    return peer.send(
                        (["HTTP/1.1 304 X"] + fields).joined(separator: "\r\n") + "\r\n\r\n") ? .keep : .close
                }
                return peer.respond(200, "\(count)", fields: fields) ? .keep : .close
            }
        }

        private func result(_ session: Session, _ request: HTTPRequest, _ policy: CachePolicy = .protocolRules)
            async throws -> TaskResult
        {
            var options = TaskOptions()
            options.cachePolicy = policy
            let task = session.dataTask(request, options: options)
            task.resume()
            return try await task.value
        }

        @Test("a fresh answer is given without a connection, a stale one is asked about, each says so")
        func sources() async throws {
            let server = try numberServer()
            defer { server.stop() }
            try await withSession {
                $0.cache = ResponseCache()
            } _: { session in
                let first = try await result(session, server.request(.get, "/600"))
                let second = try await result(session, server.request(.get, "/600"))
                #expect(first.source == .network && second.source == .cache && server.requests.count == 1)
                #expect(second.bytes == first.bytes && second.response.status == .ok && second.url == first.url)
                #expect(second.response.headerFields[.age] != nil && second.response.headerFields[.eTag] == "\"600\"")
                let name = try #require(HTTPField.Name("X-Count"))
                let stale = try await result(session, server.request(.get, "/0"))
                let checked = try await result(session, server.request(.get, "/0"))
                #expect(checked.source == .validated && checked.bytes == stale.bytes && checked.response.status == .ok)
                #expect(checked.response.headerFields[name] == "3" && server.requests.count == 3)
                let kinds = try await [
                    result(session, server.request(.get, "/600vary", [.accept: "a/b"])),
                    result(session, server.request(.get, "/600vary", [.accept: "c/d"])),
                    result(session, server.request(.get, "/600vary", [.accept: "a/b"])),
                ]
                #expect(kinds.map(\.source) == [.network, .network, .cache] && kinds[2].bytes == kinds[0].bytes)
            }
        }

        @Test("the policy of a task is kept to")
        func policies() async throws {
            let server = try numberServer()
            defer { server.stop() }
            try await withSession {
                $0.cache = ResponseCache()
            } _: { session in
                let missing = await failure { () async throws(TransferError) in
                    var options = TaskOptions()
                    options.cachePolicy = .storedOnly
                    return try await session.data(for: server.request(.get, "/0"), options: options)
                }
                #expect(missing?.code == .notStored && server.accepts == 0)
                #expect(try await result(session, server.request(.get, "/0"), .storedElseLoad).source == .network)
                #expect(try await result(session, server.request(.get, "/0"), .storedElseLoad).source == .cache)
                #expect(try await result(session, server.request(.get, "/0"), .storedOnly).source == .cache)
                _ = try await result(session, server.request(.get, "/600"))
                #expect(try await result(session, server.request(.get, "/600"), .reload).source == .network)
                let fields: HTTPFields = [.cacheControl: "no-cache"]
                #expect(try await result(session, server.request(.get, "/600", fields)).source == .validated)
            }
        }

        @Test("a write forgets, HEAD, ranges and conditions of one's own go to the server, other users get their own")
        func bypasses() async throws {
            let server = try numberServer()
            defer { server.stop() }
            try await withSession {
                $0.cache = ResponseCache()
            } _: { session in
                let path = "/600"
                _ = try await result(session, server.request(.get, path))
                #expect(try await result(session, server.request(.head, path)).source == .network)
                #expect(try await result(session, server.request(.get, path, [.range: "bytes=0-"])).source == .network)
                let own = try await result(session, server.request(.get, path, [.ifNoneMatch: "\"600\""]))
                #expect(own.response.status == .notModified && own.source == .network)
                let user = server.request(.get, path, [.authorization: "Bearer 1"])
                #expect(try await result(session, user).source == .network)
                #expect(try await result(session, user).source == .cache)
                #expect(try await result(session, server.request(.get, path)).source == .cache)
                _ = try await session.data(for: server.request(.put, path), body: .bytes([1]))
                #expect(try await result(session, server.request(.get, path)).source == .network)
            }
        }

        /// Answers with the cookies it got, to be kept so long, and sets `user` to what follows `/as` in the path.
        private func userServer(age: Int, _ hold: @escaping @Sendable (RecordedRequest) -> Void = { _ in }) throws
            -> FaultServer
        {
            try FaultServer { peer, request in
                hold(request)
                var fields = ["Cache-Control: max-age=\(age)", "ETag: \"1\"", "Vary: Cookie"]
                if request.target.hasPrefix("/as") {
                    fields.append("Set-Cookie: user=\(request.target.dropFirst(3)); Path=/")
                }
                let status = request["if-none-match"] == nil ? 200 : 304
                let body = status == 304 ? "" : request["cookie"] ?? "none"
                return peer.respond(status, body, fields: fields) ? .keep : .close
            }
        }

        private func text(_ session: Session, _ request: HTTPRequest) async throws -> String {
            String(decoding: try await result(session, request).bytes, as: UTF8.self)
        }

        @Test("an answer is kept for the cookies it was asked for with, not for those it sets")
        func ownCookies() async throws {
            let server = try userServer(age: 600)
            defer { server.stop() }
            try await withSession {
                ($0.cache, $0.cookieStore) = (ResponseCache(), CookieStore())
            } _: { session in
                for expected in ["none", "user=A", "user=A"] {
                    let got = try await text(session, server.request(.get, "/asA"))
                    #expect(got == expected)
                }
                #expect(server.requests.count == 2)
            }
        }

        @Test("an answer is kept for the cookies it was asked for with, not for those that came meanwhile")
        func cookiesMeanwhile() async throws {
            let gate = Gate()
            let server = try userServer(age: 600) {
                if $0.target == "/page" && $0["cookie"] == "user=A" { gate.pass() }
            }
            defer { server.stop() }
            try await withSession {
                ($0.cache, $0.cookieStore) = (ResponseCache(), CookieStore())
            } _: { session in
                _ = try await result(session, server.request(.get, "/asA"))
                let page = session.dataTask(server.request(.get, "/page"))
                page.resume()
                await server.received(2)
                _ = try await result(session, server.request(.get, "/asB"))
                gate.open()
                let before = try await page.value
                #expect(before.bytes == Array("user=A".utf8))
                let after = try await text(session, server.request(.get, "/page"))
                #expect(after == "user=B")
            }
        }

        @Test("a stored answer is not asked about once its cookies were replaced while the request waited for its turn")
        func cookiesWhileWaiting() async throws {
            let gate = Gate()
            let server = try userServer(age: 0) { if $0.target == "/asB" { gate.pass() } }
            let other = try FaultServer.echo()
            defer {
                server.stop()
                other.stop()
            }
            try await withSession {
                ($0.cache, $0.cookieStore) = (ResponseCache(), CookieStore())
                $0.maximumTasksPerHost = 1
            } _: { session in
                _ = try await result(session, server.request(.get, "/asA"))
                let stored = try await text(session, server.request(.get, "/page"))
                #expect(stored == "user=A")
                let signIn = session.dataTask(server.request(.get, "/asB"))
                signIn.resume()
                await server.received(3)
                let page = session.dataTask(server.request(.get, "/page"))
                page.resume()
                // Commands are carried out in their order, so that the page is in the queue when this one has ended.
                _ = try await result(session, other.request())
                gate.open()
                _ = try await signIn.value
                let now = try await page.value
                #expect(now.bytes == Array("user=B".utf8) && now.source == .network)
                #expect(server.requests.last?["if-none-match"] == nil)
            }
        }

        @Test("answers to requests with different keys are different, but not those that differ in a public field")
        func keys() async throws {
            let server = try numberServer()
            defer { server.stop() }
            let (key, mark) = (try #require(HTTPField.Name("X-Api-Key")), try #require(HTTPField.Name("X-Mark")))
            try await withSession {
                $0.cache = ResponseCache()
                $0.publicFields = [mark]
            } _: { session in
                var sources: [TaskResult.Source] = []
                for fields: HTTPFields in [[key: "1"], [key: "2"], [:], [key: "1", mark: "1"], [mark: "2"]] {
                    sources.append(try await result(session, server.request(.get, "/600", fields)).source)
                }
                #expect(sources == [.network, .network, .network, .cache, .cache])
            }
        }

        @Test(
            "an answer that is larger than a task allows is not taken from the cache, and a redirect may lead into it")
        func limits() async throws {
            let server = try numberServer()
            let redirect = try FaultServer { [port = server.port] peer, _ in
                peer.respond(302, fields: ["Location: http://127.0.0.1:\(port)/600"]) ? .keep : .close
            }
            defer {
                server.stop()
                redirect.stop()
            }
            try await withSession {
                $0.cache = ResponseCache()
            } _: { session in
                _ = try await result(session, server.request(.get, "/600"))
                let led = try await result(session, redirect.request())
                #expect(led.source == .cache && led.response.status == .ok && server.requests.count == 1)
                var options = TaskOptions()
                options.maximumResponseBytes = 0
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.get, "/600"), options: options)
                }
                #expect(error?.code == .bodyTooLarge && server.requests.count == 2)
            }
        }

        @Test("a server that answers 304 for another version is asked once more, without conditions")
        func liar() async throws {
            let server = try FaultServer { peer, request in
                if request["if-none-match"] != nil {
                    return peer.send("HTTP/1.1 304 X\r\nETag: \"other\"\r\n\r\n") ? .keep : .close
                }
                return peer.respond(200, "body", fields: ["ETag: \"1\""]) ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.cache = ResponseCache()
            } _: { session in
                for _ in 0..<2 {
                    let got = try await result(session, server.request())
                    #expect(got.source == .network && got.bytes == Array("body".utf8))
                }
                #expect(server.requests.count == 3)
            }
        }

        @Test("what a session kept is there for the next one")
        func persisted() async throws {
            let server = try numberServer()
            defer { server.stop() }
            let folder = TemporaryFolder()
            for expected in [TaskResult.Source.network, .cache] {
                var configuration = SessionConfiguration.default
                configuration.cache = ResponseCache(folder: folder.file("cache"))
                let session = try Session(configuration: configuration)
                #expect(try await result(session, server.request(.get, "/600")).source == expected)
                await session.finishTasksAndInvalidate()
            }
        }
    }
}
