import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct CookieLiveTests {
        /// Answers with the cookies it got; `/set` sets two, `/to?<address>` redirects there and sets one.
        private func cookieServer() throws -> FaultServer {
            try FaultServer { peer, request in
                let got = request["cookie"] ?? "none"
                if request.target == "/set" {
                    return peer.respond(200, got, fields: ["Set-Cookie: a=1; Path=/", "Set-Cookie: b=2; Path=/x"])
                        ? .keep : .close
                }
                guard request.target.hasPrefix("/to"), let mark = request.target.firstIndex(of: "?") else {
                    return peer.respond(200, got) ? .keep : .close
                }
                let location = request.target[request.target.index(after: mark)...]
                return peer.respond(302, fields: ["Location: \(location)", "Set-Cookie: hop=h; Path=/"])
                    ? .keep : .close
            }
        }

        private func got(_ session: Session, _ request: HTTPRequest, _ options: TaskOptions = .init()) async throws
            -> String
        {
            String(decoding: try await session.data(for: request, options: options).bytes, as: UTF8.self)
        }

        private func expect(
            _ session: Session, _ request: HTTPRequest, _ cookies: String, _ options: TaskOptions = .init()
        ) async throws {
            let got = try await got(session, request, options)
            #expect(got == cookies)
        }

        @Test("cookies are kept from every answer, redirects too, and sent to whom they belong on every hop")
        func hops() async throws {
            let server = try cookieServer()
            defer { server.stop() }
            let store = CookieStore()
            try await withSession {
                $0.cookieStore = store
            } _: { session in
                try await expect(session, server.request(.get, "/set"), "none")
                try await expect(session, server.request(.get, "/x/y"), "b=2; a=1")
                try await expect(session, server.request(.get, "/to?/end"), "a=1; hop=h")
                // The same server by another name is another host, with cookies of its own.
                let other = "http://localhost:\(server.port)"
                try await expect(session, server.request(.get, "/to?\(other)/end"), "none")
                let back = "/to?\(other)/to?http://\(server.authority)/end"
                try await expect(session, server.request(.get, back), "a=1; hop=h")
                #expect(Set(store.cookies.map(\.domain)) == ["127.0.0.1", "localhost"])
                try await expect(session, server.request(.get, "/", [.cookie: "own=1"]), "own=1")
                var options = TaskOptions()
                options.usesCookies = false
                try await expect(session, server.request(.get, "/set"), "none", options)
            }
        }

        @Test(
            "cookies are taken with the head of a response, also of one that is turned down, cut off, or still coming")
        func heads() async throws {
            let gate = Gate()
            let server = try FaultServer { peer, request in
                let name = request.target.dropFirst()
                peer.send("HTTP/1.1 200 X\r\nContent-Length: 9\r\nSet-Cookie: \(name)=1\r\n\r\nbody")
                if name == "stream" { gate.pass() }
                return .close
            }
            defer { server.stop() }
            let store = CookieStore()
            try await withSession {
                $0.cookieStore = store
            } _: { session in
                let (_, response) = try await session.bytes(for: server.request(.get, "/stream"))
                #expect(response.status == .ok && store.cookies.map(\.name) == ["stream"])
                gate.open()
                let cut = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.get, "/cut"))
                }
                #expect(cut?.code == .connectionLost)
                var options = TaskOptions()
                options.disposition = { _ in .cancel }
                let refused = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.get, "/refused"), options: options)
                }
                #expect(refused?.code == .cancelled)
                #expect(store.cookies.map(\.name) == ["stream", "cut", "refused"])
            }
        }

        @Test("without a store no cookie is kept, and an ephemeral session takes none on disk")
        func without() async throws {
            let server = try cookieServer()
            defer { server.stop() }
            try await withSession { session in
                _ = try await got(session, server.request(.get, "/set"))
                #expect(try await got(session, server.request()) == "none")
            }
            let folder = TemporaryFolder()
            for isCookies in [true, false] {
                var configuration = SessionConfiguration.ephemeral
                if isCookies { configuration.cookieStore = CookieStore(file: folder.file("cookies")) }
                if !isCookies { configuration.cache = ResponseCache(folder: folder.file("cache")) }
                let error = #expect(throws: TransferError.self) { try Session(configuration: configuration) }
                #expect(error?.code == .badConfiguration)
            }
        }

        @Test("what a session's server set is on disk when the session has ended")
        func persisted() async throws {
            let server = try FaultServer { peer, request in
                peer.respond(200, request["cookie"] ?? "none", fields: ["Set-Cookie: a=1; Max-Age=1000"])
                    ? .keep : .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            for expected in ["none", "a=1"] {
                var configuration = SessionConfiguration.default
                configuration.cookieStore = CookieStore(file: folder.file("cookies"))
                let session = try Session(configuration: configuration)
                #expect(try await got(session, server.request()) == expected)
                await session.finishTasksAndInvalidate()
            }
        }
    }
}
