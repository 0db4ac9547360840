import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct DigestTests {
    private let mufasa = PasswordCredential(user: "Mufasa", password: "Circle of Life")
    private let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    private func rfcChallenge(_ algorithm: String, _ more: String = "") -> String {
        "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), "
            + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
            + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"" + more
    }

    private func demand(_ text: String) -> DigestAnswer.Demand? {
        challenges(text).first.flatMap { DigestAnswer.Demand($0) }
    }

    @Test("MD5 and SHA-256 are those of RFC 1321 and FIPS 180, at each length around a block")
    func checksums() {
        for (text, md5, sha) in [
            (
                "", "d41d8cd98f00b204e9800998ecf8427e",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            ),
            (
                "abc", "900150983cd24fb0d6963f7d28e17f72",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            ),
            (
                "message digest", "f96b697d7cb7938d525a2f31aaf161d0",
                "f7846f55cf23e14eebeab5b4e1550cad5b509e3348fbc4efa3a1413d393cb650"
            ),
        ] {
            #expect(Checksum.md5(Array(text.utf8)).hexadecimal == md5)
            #expect(Checksum.sha256(Array(text.utf8)).hexadecimal == sha)
        }
        // Both hashes of the hashes of 0 to 200 letters, each of which pads in its own way.
        var (all, others): ([UInt8], [UInt8]) = ([], [])
        for length in 0...200 {
            let text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
            all += Checksum.md5(text)
            others += Checksum.sha256(text)
        }
        #expect(Checksum.md5(all).hexadecimal == "d2a4f9fd5d451c0381f758277052e173")
        #expect(
            Checksum.sha256(others).hexadecimal == "1be2d7d291484baf4c78d463a65b40a26c255b1946e5205eac8edad606a76fdd")
    }

    @Test(
        "the examples of RFC 7616 section 3.9.1, and their session variants, have the right response",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
            ("MD5-sess", "e783283f46242139c486a698fec7211d"),
            ("SHA-256-sess", "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"),
        ])
    func vectors(algorithm: String, response: String) throws {
        let asked = try #require(demand(rfcChallenge(algorithm)))
        var answer = DigestAnswer(asked, mufasa, clientNonce: clientNonce)
        let field = answer.field(.get, "/dir/index.html")
        #expect(
            field
                == "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", uri=\"/dir/index.html\", "
                + "algorithm=\(algorithm), nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", nc=00000001, "
                + "cnonce=\"\(clientNonce)\", qop=auth, response=\"\(response)\", "
                + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"")
    }

    @Test("the example of RFC 2617 has the right response, as has a server that knows neither quality nor counter")
    func older() throws {
        let text = "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""
        let credential = PasswordCredential(user: "Mufasa", password: "Circle Of Life")
        var answer = DigestAnswer(
            try #require(demand(text + ", qop=auth")), credential, clientNonce: "0a4f113b")
        let field = answer.field(.get, "/dir/index.html")
        #expect(field.contains("response=\"6629fae49393a05397450978507c4ef1\"") && !field.contains("algorithm"))
        let oldest = PasswordCredential(user: "Mufasa", password: "CircleOfLife")
        var plain = DigestAnswer(try #require(demand(text)), oldest)
        #expect(
            plain.field(.get, "/dir/index.html")
                == "Digest username=\"Mufasa\", realm=\"testrealm@host.com\", uri=\"/dir/index.html\", "
                + "nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", response=\"1949323746fe6a43ef61f9606e7febea\"")
    }

    @Test("a user's name is hashed if the server asks for that, else in UTF-8 with escapes")
    func names() throws {
        let text =
            "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-256, charset=UTF-8, "
            + "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\""
        let credential = PasswordCredential(user: "J\u{E4}s\u{F8}n Doe", password: "Secret, or not?")
        let clients = "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm"
        var hashed = DigestAnswer(
            try #require(demand(text + ", userhash=true")), credential, clientNonce: clients)
        let field = hashed.field(.get, "/doe.json")
        #expect(
            field.hasPrefix(
                "Digest username=\"5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7\", realm="))
        #expect(field.contains("response=\"06d0c14162099f487a92ebceaf71097534ee5f90d858386449c337ab69f7f6b8\""))
        #expect(field.hasSuffix(", userhash=true"))
        var open = DigestAnswer(try #require(demand(text)), credential)
        #expect(open.field(.get, "/").hasPrefix("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm="))
        var quoted = DigestAnswer(
            try #require(demand(text)), PasswordCredential(user: "a\"b\\", password: ""))
        #expect(quoted.field(.get, "/").hasPrefix(#"Digest username="a\"b\\", realm="#))
    }

    @Test("each request has the next counter, and another nonce begins at 1 with another client's nonce")
    func counters() throws {
        var answer = DigestAnswer(try #require(demand(rfcChallenge("MD5"))), mufasa)
        let counters = (0..<17).map { _ in
            challenges(answer.field(.get, "/")).first?.parameters["nc"]
        }
        #expect(counters.first == "00000001" && counters.last == "00000011" && Set(counters).count == 17)
        var next = DigestAnswer(answer.demand, mufasa)
        let fields = [answer.field(.get, "/"), next.field(.get, "/")].compactMap { challenges($0).first?.parameters }
        #expect(fields.last?["nc"] == "00000001")
        #expect(fields.first?["cnonce"]?.utf8.count == 32 && fields.first?["cnonce"] != fields.last?["cnonce"])
    }

    @Test("what cannot be answered is not")
    func refused() {
        let nonce = String(repeating: "n", count: 5000)
        for text in [
            "Digest realm=a", "Digest nonce=a", "Basic realm=a", "Digest realm=a, nonce=b, algorithm=SHA-512-256",
            "Digest realm=a, nonce=b, qop=auth-int", "Digest realm=a, nonce=b, algorithm=MD5-sess",
            "Digest realm=a, nonce=b, qop=\"\"", "Digest realm=a, nonce=b, algorithm=x",
            "Digest realm=a, nonce=\"\(nonce)\"",
        ] { #expect(demand(text) == nil, "\(text.prefix(60))") }
        let ranked = challenges(
            #"Basic realm=a, Digest realm=a, nonce=b, Bearer, Digest realm=a, nonce=c, algorithm=sha-256"#
        ).answerable
        #expect(ranked.map { $0.parameters["nonce"] } == ["c", "b", nil])
    }

    @Test("a Basic answer is Base64 of UTF-8, and a credential that it cannot carry has a reason")
    func basic() {
        // RFC 7617 sections 2 and 2.1.
        let ali = PasswordCredential(user: "Aladdin", password: "open sesame")
        #expect(ali.basicField == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(PasswordCredential(user: "test", password: "123\u{A3}").basicField == "Basic dGVzdDoxMjPCow==")
        for (text, digits) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            #expect(Array(text.utf8).base64 == digits)
        }
        #expect(([255, 239, 190] as [UInt8]).base64 == "/+++")
        let colon = PasswordCredential(user: "a:b", password: "c:d")
        #expect(colon.objection(for: "basic") != nil && colon.objection(for: "digest") == nil)
        #expect(PasswordCredential(user: "a", password: "b\n").objection(for: "digest") != nil)
        #expect(PasswordCredential(user: "a", password: "c:d").objection(for: "basic") == nil)
        var words = "\(ali) \(String(reflecting: ali))"
        dump(ali, to: &words)
        dump(ChallengeDecision.use(ali), to: &words)
        #expect(!words.contains("Aladdin") && !words.contains("sesame"))
    }
}
