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

        @Test("http to another machine is refused, so that the token never goes there")
        func plainElsewhere() async throws {
            let folder = try TemporaryDirectory()
            let ann = MemberMachine("ann", in: folder.path)
            let result = try await ann.byteclub(
                "login", "http://192.0.2.1:8080", "--token-stdin", input: Array("token\n".utf8))
            expectRefusal(result, [64, 65, 77, 78])
        }

        private static func certificate(in folder: String, _ name: String) async throws -> (file: String, key: String) {
            let openssl = try #require(Program.system("openssl"), "openssl makes the certificates")
            let (file, key) = (folder + "/\(name).pem", folder + "/\(name).key")
            let made = try await Program.run(
                openssl,
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=club", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file,
                ])
            try #require(made.status == 0, "\(made)")
            return (file, key)
        }
    }
}
