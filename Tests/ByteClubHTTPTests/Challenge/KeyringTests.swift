import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct KeyringTests {
    private func head(_ url: String, _ method: HTTPRequest.Method = .get) throws -> RequestHead {
        try RequestHead(HTTPRequest(method, url: url), body: .none, options: TaskOptions(), additional: [:])
    }

    private func challenge(_ text: String, _ origin: String = "http://e.test", ofProxy: Bool = false) throws
        -> AuthenticationChallenge
    {
        var reader = ChallengeReader(origin: origin, isOfProxy: ofProxy)
        reader.read(Array(text.utf8))
        return try #require(reader.challenges.first)
    }

    private func credential(_ user: String) -> PasswordCredential { PasswordCredential(user: user, password: "x") }

    @Test("a Basic credential is for the folder of the challenged path, a Digest one for its domain within the origin")
    func scopes() throws {
        let domain = "domain=\"/p/ http://e.test/q http://other.test/r s\""
        let table: [(challenge: String, path: String, covered: [String], others: [String])] = [
            ("Basic realm=a", "/a/b", ["/a/", "/a/c?d", "/a/b/c", "/a"], ["/", "/ab", "/b/a/", "/?/a/"]),
            ("Basic realm=a", "/", ["/", "/a/b", "/?a"], []),
            ("Digest realm=a, nonce=b, qop=auth", "/a/b", ["/", "/a/b/c", "/x"], []),
            (
                "Digest realm=a, nonce=b, \(domain)", "/a/b", ["/p", "/p/x", "/q", "/q/x", "/q?x", "/a/b", "/a/s"],
                ["/", "/pp", "/r", "/a/bb", "/a/c"]
            ),
            ("Digest realm=a, nonce=b, domain=\"\"", "/a/b", ["/"], []),
        ]
        for row in table {
            var keyring = Keyring()
            let asked = try challenge(row.challenge)
            keyring.store(credential("ada"), for: asked)
            keyring.cover(try address("http://e.test" + row.path), by: asked)
            for path in row.covered {
                let answer = keyring.answer(to: try head("http://e.test" + path), after: nil)
                #expect(answer?.field?.lowercased().hasPrefix(asked.scheme + " ") == true, "\(row.challenge): \(path)")
            }
            let elsewhere = ["https://e.test/", "http://e.test:81/a/b", "http://other.test/r", "http://x.e.test/a/b"]
            for url in row.others.map({ "http://e.test" + $0 }) + elsewhere {
                let answer = keyring.answer(to: try head(url), after: nil)
                #expect(answer == nil, "\(row.challenge): \(url)")
            }
        }
    }

    @Test("of several credentials the one of the longest path is sent, or the one of the space that asked")
    func several() throws {
        var keyring = Keyring()
        let (near, far) = (try challenge("Basic realm=near"), try challenge("Basic realm=far"))
        for (asked, user, url) in [(far, "far", "http://e.test/"), (near, "near", "http://e.test/a/")] {
            keyring.store(credential(user), for: asked)
            keyring.cover(try address(url), by: asked)
        }
        func sent(_ path: String, _ asked: AuthenticationChallenge? = nil) throws -> String? {
            keyring.answer(to: try head("http://e.test" + path), after: asked.map { Keyring.Challenged($0) })?.field
        }
        #expect(try sent("/a/x") == credential("near").basicField)
        #expect(try sent("/b") == credential("far").basicField)
        #expect(try sent("/a/x", far) == credential("far").basicField)
        keyring.forget(near.space)
        #expect(try sent("/a/x") == credential("far").basicField)
        #expect(keyring.version(of: near.space) == nil && keyring.version(of: far.space) == 1)
    }

    @Test("a Digest credential is never sent by Basic, and each nonce has its own counter and the same user")
    func schemes() throws {
        var keyring = Keyring()
        let (older, newer) = (
            try challenge("Digest realm=a, nonce=b, qop=auth"), try challenge("Digest realm=a, nonce=c, qop=auth")
        )
        keyring.store(credential("ada"), for: older)
        let basic = try challenge("Basic realm=a")
        #expect(keyring.version(of: basic.space) == nil)
        let request = try head("http://e.test/")
        var sent: [String] = []
        var identities: Set<String?> = []
        func send(_ asked: AuthenticationChallenge?) {
            let challenged = asked.map { Keyring.Challenged($0) }
            identities.insert(keyring.identity(for: request, after: challenged))
            let answer = keyring.answer(to: request, after: challenged)
            let parameters = answer?.field.flatMap { challenges($0).first?.parameters } ?? [:]
            sent.append("\(answer?.version ?? 0) \(parameters["nonce"] ?? "") \(parameters["nc"] ?? "")")
        }
        send(older)
        keyring.cover(request.url, by: older)
        for asked in [older, nil] { send(asked) }
        keyring.cover(request.url, by: newer)
        keyring.cover(request.url, by: older)
        // Without a challenge the newest nonce is the one.
        for asked in [older, newer, nil] { send(asked) }
        #expect(
            sent == ["1  ", "1 b 00000001", "1 b 00000002", "1 b 00000003", "1 c 00000001", "1 c 00000002"])
        #expect(identities.count == 1 && identities.first != nil)
        for number in 0..<1000 {
            keyring.cover(request.url, by: try challenge("Digest realm=a, nonce=\(number), qop=auth"))
        }
        send(older)
        #expect(sent.last == "1 999 00000001")
    }

    @Test("a proxy's credential is for all its realms: a field when it forwards, a login when it opens a tunnel")
    func proxies() throws {
        var keyring = Keyring()
        let proxy = try #require(ProxyServer("http://proxy.test:3128"))
        let asked = try challenge("Digest realm=a, nonce=b, qop=auth", proxy.description, ofProxy: true)
        let tunnel = AuthenticationChallenge(scheme: "digest", origin: proxy.description, isOfProxy: true)
        #expect(asked.space == tunnel.space)
        keyring.store(credential("ada"), for: tunnel)
        let (plain, secure) = (try head("http://e.test/x?y"), try head("https://e.test/"))
        let login = keyring.answer(to: secure, through: proxy, after: nil)
        #expect(login?.login == credential("ada") && login?.field == nil)
        // The nonce is not known yet.
        let early = keyring.answer(to: plain, through: proxy, after: nil)
        #expect(early != nil && early?.field == nil && early?.login == nil)
        keyring.cover(plain.url, by: asked)
        let answer = keyring.answer(to: plain, through: proxy, after: nil)
        #expect(answer?.field?.contains("uri=\"http://e.test/x?y\"") == true && answer?.login == nil)
        let own = keyring.answer(to: plain, after: nil)
        let other = keyring.answer(
            to: plain, through: try #require(ProxyServer("http://proxy.test:3129")), after: nil)
        #expect(own == nil && other == nil)
    }

    @Test("the ring does not grow without end")
    func bounds() throws {
        var keyring = Keyring()
        for number in 0..<1000 {
            let asked = try challenge("Basic realm=r\(number)")
            keyring.store(credential("ada"), for: asked)
            keyring.cover(try address("http://e.test/\(number)/"), by: asked)
        }
        let last = try challenge("Basic realm=r999")
        let first = try challenge("Basic realm=r0")
        #expect(keyring.version(of: first.space) == nil && keyring.version(of: last.space) == 1000)
        for number in 0..<1000 { keyring.cover(try address("http://e.test/x\(number)/"), by: last) }
        let forgotten = keyring.answer(to: try head("http://e.test/x0/"), after: nil)
        let known = keyring.answer(to: try head("http://e.test/x999/"), after: nil)
        #expect(forgotten == nil && known != nil)
    }
}
