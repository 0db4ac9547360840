import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("TLS") struct TLSTests {
        @Test("a club with a certificate of its own works for who trusts it, and for nobody else")
        func ownCertificate() async throws {
            let folder = try TemporaryDirectory()
            let certificate = try await Self.certificate(in: folder.path, "club")
            let other = try await Self.certificate(in: folder.path, "other")
            let club = try await Club.start(certificate: certificate)
            #expect(club.server.url.hasPrefix("https://"))
            let token = try await club.server.addMember("ann")
            let ann = MemberMachine("ann", in: club.folder.path)
            let input = Array((token + "\n").utf8)
            let untrusted = try await ann.byteclub("login", club.server.url, "--token-stdin", input: input)
            expectRefusal(untrusted, [69, 76], mentioning: "certificate")
            let wrong = try await ann.byteclub(
                "login", club.server.url, "--token-stdin", "--ca-file", other.file, input: input)
            expectRefusal(wrong, [69, 76], mentioning: "certificate")
            let login = try await ann.byteclub(
                "login", club.server.url, "--token-stdin", "--ca-file", certificate.file, input: input)
            #expect(login.status == 0, "\(login)")
            #expect(try await ann.byteclub("notes", "add", "a.md", input: Array("secret\n".utf8)).status == 0)
            #expect(try await ann.byteclub("photos", "upload", Fixture.path("panoramas/city.jpg")).status == 0)
            try await expectSynced(ann)
            #expect(FileTree(ann.mirror).files == ["a.md", "photos/city.jpg"])
            try await expectEqual([ann], club)
            let plain = await RawExchange.send("GET /1/account/info", port: club.server.port)
            #expect(plain?.status != 200)
        }

        @Test(
            "a club without a domain is safe by the key in its links, also when it starts again, and from another server"
        )
        func ownKey() async throws {
            let folder = try TemporaryDirectory()
            let server = try await ServerProcess(data: folder.path + "/data", arguments: ["--tls-self-signed"])
            #expect(server.url.hasPrefix("https://"))
            let invited = try await Program.run("byteclub", ["members", "invite", "--data", server.data])
            let link = try #require(invited.lines.first)
            let pin = try #require(link.split(separator: "#").last)
            #expect(link.wholeMatch(of: /https:\S+\/invite\/[0-9a-f]{32}#sha256=[-_A-Za-z0-9]{43}/) != nil, "\(link)")
            let cleo = MemberMachine("cleo", in: folder.path)
            let unknown = try await cleo.byteclub("login", server.url, "--no-browser")
            expectRefusal(unknown, [69], mentioning: "#sha256=")
            let login = try cleo.start(["login", link, "--no-browser"])
            let join = try #require(link.split(separator: "#").first)
            #expect(try await ShortCodeBrowser(machine: cleo).decide(login, "allow", invitation: String(join)) != nil)
            let result = await login.result()
            #expect(result.status == 0 && result.text.contains("as cleo"), "\(result)")
            #expect(!result.errorText.contains(pin), "no browser needs the key: \(result)")
            try await expectWorking(cleo, note: "a.md")
            #expect(try await cleo.byteclub("photos", "upload", Fixture.path("panoramas/city.jpg")).status == 0)
            #expect(try await cleo.byteclub("doctor").status == 0)
            let port = server.port
            await server.stop()
            try await server.start()
            try await expectWorking(cleo, note: "b.md")
            let again = try await Program.run("byteclub", ["members", "invite", "--data", server.data])
            #expect(again.lines.first?.hasSuffix("#" + pin) == true, "\(again)")
            await server.stop()
            let other = try Program.start(
                "byteclub",
                ["serve", "--data", folder.path + "/other", "--listen", "127.0.0.1:\(port)", "--tls-self-signed"])
            #expect(await other.line { $0.hasPrefix("listening on https:") } != nil)
            expectRefusal(try await cleo.byteclub("notes", "list"), [69], mentioning: "not the pinned one")
            expectRefusal(
                try await cleo.byteclub("photos", "upload", Fixture.path("panoramas/city.jpg")), [69],
                mentioning: "not the pinned one", afterProgress: true)
            #expect(try await cleo.sync().status != 0)
            other.send(SIGTERM)
            let told = await other.result()
            #expect(told.status == 0 && !told.errorText.contains("/1/"), "no request came: \(told)")
        }

        /// Expects a member's commands and mirror to work.
        private func expectWorking(_ member: MemberMachine, note: String) async throws {
            #expect(try await member.byteclub("notes", "add", note, input: Array("text\n".utf8)).status == 0)
            let list = try await member.byteclub("notes", "list")
            #expect(list.status == 0 && list.text.contains(note), "\(list)")
            try await expectSynced(member)
            #expect(FileTree(member.mirror).files.contains(note))
        }

        @Test("http to another machine is refused, so that the token never goes there")
        func plainElsewhere() async throws {
            let folder = try TemporaryDirectory()
            let ann = MemberMachine("ann", in: folder.path)
            let result = try await ann.byteclub(
                "login", "http://192.0.2.1:8080", "--token-stdin", input: Array("token\n".utf8))
            expectRefusal(result, [64, 65, 77, 78])
        }

        @Test(
            "nobody reads later what was recorded before the key was lost, nor alters what has no authentication",
            arguments: [["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], ["rsa:2048"]])
        func ciphers(key: [String]) async throws {
            let folder = try TemporaryDirectory()
            let club = try await Club.start(certificate: try await Self.certificate(in: folder.path, "club", key: key))
            let client = TLSClient(port: club.server.port)
            for version in ["-tls1", "-tls1_1"] {
                let refused = try await client.handshake([version, "-cipher", "ALL:@SECLEVEL=0"])
                #expect(refused.cipher == nil && refused.told.contains("protocol version"), "\(refused.told)")
            }
            let found = try await client.accepted("-tls1_2", "-cipher", suffix: ":@SECLEVEL=0")
            let kind = key[0] == "ec" ? "ECDSA" : "RSA"
            let expected = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].map { "ECDHE-\(kind)-\($0)" }
            #expect(Set(found) == Set(expected))
            let newest = try await client.accepted("-tls1_3", "-ciphersuites", suffix: "")
            #expect(newest.count == 3 && newest.allSatisfy { $0.hasPrefix("TLS_") }, "\(newest)")
        }

        @Test("nobody leads a browser back to plain HTTP that came once over TLS, whatever it was answered")
        func strictTransport() async throws {
            let folder = try TemporaryDirectory()
            let club = try await Club.start(certificate: try await Self.certificate(in: folder.path, "club"))
            let client = TLSClient(port: club.server.port)
            let end = "Host: x\r\nConnection: close\r\n\r\n"
            for (request, status) in [
                ("GET /login HTTP/1.1\r\n\(end)", 200), ("GET /1/account/info HTTP/1.1\r\n\(end)", 401),
                ("GET /nothing HTTP/1.1\r\n\(end)", 404), ("GET / HTTP/1.1\r\n\r\n", 400),
                ("GET / HTTP/9.9\r\n\(end)", 505),
            ] {
                let answer = try await client.exchange(request)
                #expect(answer.status == status, "\(request)")
                #expect(answer["Strict-Transport-Security"] == "max-age=31536000", "\(request)")
                if status != 200 { #expect(answer.text.contains("error")) }
            }
            let plain = try await Club.start()
            let answer = await RawExchange.send("GET /login", port: plain.server.port)
            #expect(answer?.status == 200 && answer?["Strict-Transport-Security"] == nil)
            let fault = await RawExchange.send(Array("GET / HTTP/1.1\r\n\r\n".utf8), port: plain.server.port)
            #expect(fault?["Strict-Transport-Security"] == nil && fault?["X-Content-Type-Options"] == "nosniff")
        }

        /// openssl's client.
        private struct TLSClient {
            let port: UInt16

            private func run(_ arguments: [String], input: [UInt8] = []) async throws -> ProgramResult {
                try await Program.run(
                    try #require(Program.system("openssl")),
                    ["s_client", "-connect", "127.0.0.1:\(port)"] + arguments, input: input)
            }

            /// The cipher suite that the server chose, nil when there was none; and all that openssl tells.
            func handshake(_ arguments: [String]) async throws -> (cipher: String?, told: String) {
                let result = try await run(arguments)
                let told = result.text + result.errorText
                let cipher = told.split(separator: "\n").first { $0.contains(", Cipher is ") }?.split(separator: " ")
                    .last
                return (cipher == "(NONE)" ? nil : cipher.map(String.init), told)
            }

            /// All suites of a version that the server takes, of those that this openssl knows: offered together,
            /// without each that it chose, until it takes none.
            func accepted(_ version: String, _ option: String, suffix: String) async throws -> [String] {
                let all = try await Program.run(
                    try #require(Program.system("openssl")),
                    ["ciphers", "-s", version, "ALL:COMPLEMENTOFALL:@SECLEVEL=0"])
                var rest = all.text.split(whereSeparator: { ":\n".contains($0) }).map(String.init)
                try #require(!rest.isEmpty, "\(all)")
                var found: [String] = []
                while !rest.isEmpty {
                    let offer = rest.joined(separator: ":") + suffix
                    guard let cipher = try await handshake([version, option, offer]).cipher else { break }
                    found.append(cipher)
                    guard let index = rest.firstIndex(of: cipher) else { break }
                    rest.remove(at: index)
                }
                return found
            }

            /// Sends a request and reads its answer.
            func exchange(_ request: String) async throws -> RawMessage {
                try #require(RawMessage(try await run(["-quiet"], input: Array(request.utf8)).output))
            }
        }

        private static func certificate(
            in folder: String, _ name: String, key kind: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        ) async throws -> (file: String, key: String) {
            let openssl = try #require(Program.system("openssl"), "openssl makes the certificates")
            let (file, key) = (folder + "/\(name).pem", folder + "/\(name).key")
            let made = try await Program.run(
                openssl,
                ["req", "-x509", "-newkey"] + kind + [
                    "-nodes", "-days", "2",
                    "-subj", "/CN=club", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file,
                ])
            try #require(made.status == 0, "\(made)")
            return (file, key)
        }
    }
}
