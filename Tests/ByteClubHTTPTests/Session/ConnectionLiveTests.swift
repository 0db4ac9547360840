import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct ConnectionTests {
        private func got(_ session: Session, _ request: HTTPRequest) async throws -> String {
            String(decoding: try await session.data(for: request).bytes, as: UTF8.self)
        }

        @Test("requests go through the proxy that was named, with its credentials, but for what is excepted")
        func proxy() async throws {
            let proxy = try FaultServer { peer, request in
                request.method == "CONNECT"
                    ? (peer.respond(407) ? .close : .close)
                    : peer.respond(200, request["proxy-authorization"] ?? "") ? .keep : .close
            }
            defer { proxy.stop() }
            let server = try #require(ProxyServer("http://us%20er:pass@\(proxy.authority)"))
            let direct = try #require(
                AddressOverride(host: "x.invalid", port: proxy.port, addresses: ["127.0.0.1"]))
            let request = HTTPRequest(method: .get, scheme: "http", authority: "e.invalid", path: "/a?b")
            try await withSession {
                $0.proxy = .server(server, except: ["x.invalid"])
                $0.addressOverrides = [direct]
            } _: { session in
                let credentials = try await got(session, request)
                #expect(credentials == "Basic dXMgZXI6cGFzcw==")
                #expect(proxy.requests.last?.target == "http://e.invalid/a?b")
                var secure = request
                secure.scheme = "https"
                secure.headerFields[.authorization] = "Bearer secret"
                let refused = await failure { () async throws(TransferError) in try await session.data(for: secure) }
                #expect(refused?.code == .proxyRefused && refused?.isRetryable == false)
                #expect(refused?.message == "the proxy \(server) does not take its user name and password")
                #expect(proxy.requests.last?.target == "e.invalid:443")
                #expect(proxy.requests.last?.raw.contains("secret") == false)
                var excepted = request
                excepted.authority = "x.invalid:\(proxy.port)"
                _ = try await session.data(for: excepted)
                #expect(proxy.requests.last?.target == "/a?b")
            }
        }

        @Test("a proxy that is in the way is named, with what it wants")
        func proxyInTheWay() async throws {
            let proxy = try FaultServer { peer, _ in
                peer.respond(407, fields: ["Proxy-Authenticate: Basic realm=\"x\""]) ? .close : .close
            }
            let server = try #require(ProxyServer("http://\(proxy.authority)"))
            let request = HTTPRequest(method: .get, scheme: "http", authority: "e.invalid", path: "/a")
            var secure = request
            secure.scheme = "https"
            try await withSession {
                $0.proxy = .server(server)
                $0.retryPolicy = .never
            } _: { session in
                for request in [request, secure] {
                    let refused = await failure { () async throws(TransferError) in try await session.data(for: request)
                    }
                    #expect(refused?.code == .proxyRefused && refused?.isOfProxy == true)
                    #expect(refused?.message == "the proxy \(server) wants a user name and a password (Basic)")
                }
                proxy.stop()
                for request in [request, secure] {
                    let away = await failure { () async throws(TransferError) in try await session.data(for: request) }
                    #expect(away?.code == .cannotConnect && away?.isOfProxy == true)
                    #expect(away?.message.hasPrefix("the proxy \(server) cannot be reached: ") == true)
                }
            }
        }

        @Test("a host is where an override says, under its own name")
        func addresses() async throws {
            let server = try FaultServer { peer, request in peer.respond(200, request["host"] ?? "") ? .keep : .close }
            defer { server.stop() }
            let override = try #require(
                AddressOverride(host: "club.invalid", port: server.port, addresses: ["127.0.0.1"]))
            try await withSession {
                $0.proxy = .none
                $0.addressOverrides = [override]
            } _: { session in
                var request = server.request()
                request.authority = "club.invalid:\(server.port)"
                for _ in 0..<2 {
                    let host = try await got(session, request)
                    #expect(host == "club.invalid:\(server.port)")
                }
                #expect(server.accepts == 1)
            }
        }

        @Test("a server of this machine is reached by its Unix socket, and a path that is too long is told at once")
        func unixSocket() async throws {
            let folder = TemporaryFolder()
            let server = try #require(UnixServer(folder.file("socket")))
            defer { server.stop() }
            try await withSession {
                $0.unixSocketPath = folder.file("socket")
            } _: { session in
                let request = HTTPRequest(method: .get, scheme: "http", authority: "daemon.invalid", path: "/")
                let host = try await got(session, request)
                #expect(host == "daemon.invalid")
            }
            try await withSession {
                $0.unixSocketPath = folder.file("nothing")
            } _: { session in
                let request = HTTPRequest(method: .get, scheme: "http", authority: "daemon.invalid", path: "/")
                let error = await failure { () async throws(TransferError) in try await session.data(for: request) }
                #expect(error?.code == .cannotConnect)
            }
            for path in ["", String(repeating: "x", count: 108), "a\0b"] {
                var configuration = SessionConfiguration.default
                configuration.unixSocketPath = path
                let error = #expect(throws: TransferError.self) { try Session(configuration: configuration) }
                #expect(error?.code == .badConfiguration)
            }
        }

        @Test("decompression can be left out")
        func decoding() async throws {
            let server = try FaultServer { peer, request in
                peer.respond(200, request["accept-encoding"] ?? "none") ? .keep : .close
            }
            defer { server.stop() }
            for isOn in [true, false] {
                try await withSession {
                    $0.decodesContent = isOn
                } _: { session in
                    let asked = try await got(session, server.request())
                    #expect((asked == "none") != isOn)
                }
            }
        }

        @Test("a passphrase that cannot be had fails the session")
        func passphrase() throws {
            struct Locked: Error {}
            var configuration = SessionConfiguration.default
            configuration.clientCertificate = ClientCertificate(
                certificateFile: "a", passphrase: Passphrase { throw Locked() })
            let error = #expect(throws: TransferError.self) { try Session(configuration: configuration) }
            #expect(error?.code == .badConfiguration)
        }
    }

    /// Against nginx, which asks for certificates; skipped where nginx or openssl is not installed.
    @Suite(.enabled(if: Nginx.isInstalled)) struct IdentityTests {
        @Test("the client's certificate is shown to the request's origin, and to no other one that a redirect leads to")
        func certificate() async throws {
            let server = try FaultServer { peer, request in
                guard request.target.hasPrefix("/to"), let mark = request.target.firstIndex(of: "?") else {
                    return peer.respond(200, request["x-client"] ?? "") ? .keep : .close
                }
                let location = request.target[request.target.index(after: mark)...]
                return peer.respond(302, fields: ["Location: \(location)"]) ? .keep : .close
            }
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server))
            let folder = TemporaryFolder()
            let encrypted = folder.file("key.pem")
            let made = ChildProcess(
                "/usr/bin/openssl",
                ["pkey", "-in", nginx.keyFile, "-aes256", "-passout", "pass:open sesame", "-out", encrypted])
            #expect(made?.wait() == 0)
            func got(_ session: Session, _ host: String, _ path: String = "/") async throws -> String {
                let request = HTTPRequest(
                    method: .get, scheme: "https", authority: "\(host):\(nginx.port)", path: path)
                return String(decoding: try await session.data(for: request).bytes, as: UTF8.self)
            }
            let there = "/to?https://127.0.0.1:\(nginx.port)/"
            for passphrase in [nil, Passphrase("open sesame"), Passphrase { "wrong" }] {
                try await withSession {
                    $0.certificateAuthorityFile = nginx.authorityFile
                    $0.clientCertificate = ClientCertificate(
                        certificateFile: nginx.authorityFile, keyFile: passphrase == nil ? nginx.keyFile : encrypted,
                        passphrase: passphrase)
                } _: { session in
                    if let passphrase, try passphrase.reveal() == "wrong" {
                        let error = await #expect(throws: TransferError.self) { try await got(session, "localhost") }
                        #expect(error?.code == .tls && error?.isRetryable == false)
                        #expect(error.map { !"\($0)".contains("wrong") } == true)
                        return
                    }
                    #expect(try await got(session, "localhost") == "SUCCESS")
                    #expect(try await got(session, "localhost", there) == "NONE")
                    // Nor by a connection on which it was shown.
                    #expect(try await got(session, "127.0.0.1") == "SUCCESS")
                    #expect(try await got(session, "localhost", there) == "NONE")
                    #expect(try await got(session, "127.0.0.1", "/to?/x") == "SUCCESS")
                }
            }
            try await withSession {
                $0.certificateAuthorityFile = nginx.authorityFile
            } _: { session in
                let client = try await got(session, "localhost")
                #expect(client == "NONE")
            }
        }

        @Test(
            "authorities in a folder are trusted, older versions of TLS are not spoken, the version of HTTP is chosen")
        func versions() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let nginx = try #require(Nginx(before: server))
            let folder = TemporaryFolder()
            let hashing = "cp \(nginx.authorityFile) \(folder.file("ca.pem")) && /usr/bin/openssl rehash \(folder.path)"
            #expect(ChildProcess("/bin/sh", ["-c", hashing])?.wait() == 0)
            let request = HTTPRequest(method: .put, scheme: "https", authority: nginx.authority, path: "/")
            for (preference, version) in [(HTTPVersionPreference.http1, "HTTP/1.1"), (.http2, "HTTP/2.0")] {
                try await withSession {
                    $0.certificateAuthorityDirectory = folder.path
                    $0.httpVersion = preference
                } _: { session in
                    let (_, response) = try await session.upload(for: request, from: .bytes([1]))
                    #expect(response.status == .ok && server.requests.last?["x-version"] == version)
                }
            }
            try await withSession {
                $0.certificateAuthorityFile = nginx.authorityFile
                $0.minimumTLSVersion = .v13
            } _: { session in
                let error = await failure { () async throws(TransferError) in try await session.data(for: request) }
                #expect(error?.code == .tls)
            }
        }
    }
}
