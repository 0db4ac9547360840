import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

struct ChallengeReaderTests {
    /// A challenge in few words: `scheme:token(name=value,…)`, the parameters sorted.
    private func words(_ challenge: AuthenticationChallenge) -> String {
        let parameters = challenge.parameters.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: ",")
        return challenge.scheme + (challenge.token.map { ":\($0)" } ?? "") + "(\(parameters))"
    }

    @Test(
        "challenges are read as RFC 9110 writes them",
        arguments: [
            (#"Basic realm="club""#, "basic(realm=club)"),
            (#"BASIC Realm=club"#, "basic(realm=club)"),
            (#"Basic realm="a, \"b\" \\ = c", charset="UTF-8""#, #"basic(charset=UTF-8,realm=a, "b" \ = c)"#),
            ("Basic realm = \"a\" ,charset\t=\tb", "basic(charset=b,realm=a)"),
            (
                #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
                #"newauth(realm=apps,title=Login to "apps",type=1) basic(realm=simple)"#
            ),
            ("Negotiate", "negotiate()"), ("Negotiate, Basic realm=a", "negotiate() basic(realm=a)"),
            ("Negotiate YIIx+/-._~==, NTLM", "negotiate:YIIx+/-._~==() ntlm()"),
            ("Bearer abc", "bearer:abc()"), ("X a=", "x:a=()"), ("X a=, b=c", "x:a=()"),
            (",, ,Basic realm=a,,, charset=b, ,", "basic(charset=b,realm=a)"),
            ("", ""), (" , ", ""), (#"Basic realm="""#, "basic(realm=)"),
            (#"Basic realm=a, REALM=b"#, "basic(realm=a)"),
        ])
    func forms(text: String, expected: String) {
        #expect(challenges(text).map(words).joined(separator: " ") == expected)
    }

    @Test(
        "of a field with a mistake, what was before the mistake is kept",
        arguments: [
            (#"Basic realm="a"#, "basic()"), (#"Basic realm="a\"#, "basic()"),
            (#"Basic realm="a" b"#, "basic(realm=a)"),
            (#"Basic realm=a charset=b"#, "basic(realm=a)"), (#"Basic realm="a"b"#, "basic()"),
            ("Basic realm=a@b", "basic()"), ("Basic realm=a, =b, Digest", "basic(realm=a)"),
            ("Basic realm=a, \"b\"", "basic(realm=a)"), ("realm=a", ""), ("=", ""), ("\"", ""),
            ("Basic \"a\"", "basic()"),
            ("Basic realm=\"a\u{1}\"", "basic()"), ("Basic realm=\"a\u{7F}\", X", "basic()"), ("Basic a b", "basic()"),
            ("Basic realm=a, Digest a=@, X", "basic(realm=a) digest()"), ("Bearer abc, d=e, X", "bearer:abc()"),
        ])
    func mistakes(text: String, expected: String) {
        #expect(challenges(text).map(words).joined(separator: " ") == expected)
        // Another field is read nevertheless.
        #expect(challenges(text, "Last a=b").last.map(words) == "last(a=b)")
    }

    @Test("several fields are one list, in their order, of a server or a proxy")
    func fields() throws {
        let response = HTTPResponse(
            status: .unauthorized,
            headerFields: HTTPFields([
                HTTPField(name: .wwwAuthenticate, value: "Digest realm=a, nonce=b"),
                HTTPField(name: .proxyAuthenticate, value: "Basic realm=\"proxy\""),
                HTTPField(name: .wwwAuthenticate, value: "qop=auth, Basic realm=c"),
            ]))
        let all = response.challenges(to: try HTTPRequest(url: "HTTPS://Club.Example:443/x"))
        #expect(all.map(words) == ["digest(nonce=b,qop=auth,realm=a)", "basic(realm=c)"])
        #expect(all.first?.space.origin == "https://club.example" && all.first?.isOfProxy == false)
        #expect(all.first?.realm == "a" && all.first?.space.realm == "a")
        let proxys = AuthenticationChallenge.all(in: response.headerFields, origin: "http://p:1", ofProxy: true)
        #expect(proxys.map(words) == ["basic(realm=proxy)"] && proxys.first?.isOfProxy == true)
        // libcurl does not tell the realm of a proxy that refuses a tunnel.
        #expect(proxys.first?.realm == "proxy" && proxys.first?.space.realm == "")
    }

    @Test("endless lists, names and values are cut off")
    func bounds() {
        let schemes = (0..<1000).map { "S\($0)" }.joined(separator: ", ")
        #expect(challenges(schemes).count == ChallengeReader.mostChallenges)
        let parameters = (0..<1000).map { "p\($0)=1" }.joined(separator: ", ")
        #expect(challenges("X \(parameters)").first?.parameters.count == ChallengeReader.mostParameters)
        let long = String(repeating: "a", count: 4 << 20)
        #expect(challenges("Basic realm=a, Digest realm=b, nonce=\"\(long)\"").map(words).first == "basic(realm=a)")
        #expect(challenges("Basic realm=a, Digest realm=b, nonce=\"\(long)\"").last?.parameters == ["realm": "b"])
        #expect(challenges("X a=\"\(long.prefix(20_000))\"", "Basic realm=a").map(words) == ["x()"])
        #expect(challenges(String(repeating: ",", count: 1 << 20)).isEmpty)
    }

    @Test("no bytes trap the reader, and a list that is cut off anywhere has the same beginning")
    func fuzz() {
        let seed = UInt64.random(in: 0 ... .max)
        print("challenges: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "Basic", "Digest", "realm", "nonce", "a", "=", "==", ",", " ", "\t", "\"", "\\", "é", "\u{0}", "~",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let found = challenges(text)
            #expect(found.count <= text.utf8.count, "seed \(seed)")
            for challenge in found {
                #expect(
                    !challenge.scheme.isEmpty && challenge.parameters.keys.allSatisfy { !$0.isEmpty }, "seed \(seed)")
            }
        }
        for _ in 0..<500 {
            var written: [String] = []
            for number in 0..<Int.random(in: 1...5, using: &random) {
                let parameters = (0..<Int.random(in: 1...4, using: &random)).map { index in
                    let value = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                        ["a", ",", "=", " ", "\\\"", "\\\\", "é"].randomElement(using: &random) ?? ""
                    }.joined()
                    return "p\(index)=\"\(value)\""
                }
                written.append("S\(number) " + parameters.joined(separator: Bool.random(using: &random) ? "," : " , "))
            }
            let text = written.joined(separator: ", ")
            let whole = challenges(text)
            #expect(whole.count == written.count, "seed \(seed): \(text)")
            let cut = String(
                decoding: text.utf8.prefix(Int.random(in: 0...text.utf8.count, using: &random)), as: UTF8.self)
            // The last ones may be a part of a scheme or of a parameter's name.
            let sure = challenges(cut).dropLast(2)
            #expect(Array(sure) == Array(whole.prefix(sure.count)), "seed \(seed): \(cut)")
        }
    }
}
