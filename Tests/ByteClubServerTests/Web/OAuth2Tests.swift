import ByteClubCore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Signing in by OAuth 2.0")
struct OAuth2Tests {
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let back = "https://app.example/back?x=1"

    private static func signedIn(_ server: TestServer) async throws -> Browser {
        try await server.store.setPassword(try await PasswordHash.make("long enough"), ofMember: "Ann Bell")
        var browser = Browser(server)
        try await browser.signIn("Ann Bell", "long enough")
        return browser
    }

    private static func exchange(_ server: TestServer, _ form: String, basic: String? = nil) async throws -> RawMessage
    {
        let fields =
            ["Content-Type: application/x-www-form-urlencoded"] + (basic.map { ["Authorization: \($0)"] } ?? [])
        return try await server.send("POST /1/oauth2/token", fields, body: Array(form.utf8))
    }

    private static func token(in answer: RawMessage) -> String? {
        String(decoding: answer.body, as: UTF8.self).firstMatch(of: /"access_token":"([-_~\/A-Za-z0-9.+]+=*)"/)
            .map { String($0.output.1) }
    }

    @Test("the challenge is that of RFC 7636's example")
    func challenge() {
        #expect(PKCE.challenge(Self.verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(PKCE.isChallenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM") && !PKCE.isChallenge("E9Melhoa"))
    }

    @Test("a registered app gets a code, and a token for it once, with its secret in the form or by Basic")
    func code() async throws {
        try await TestServer.run { server in
            let app = try await server.store.addApp(name: "Viewer <i>", redirects: [Self.back])
            var browser = try await Self.signedIn(server)
            let page =
                "/1/oauth2/authorize?response_type=code&client_id=\(app.key)&state=s%20%26t"
                + "&redirect_uri=\(PercentEncoding.encode(Self.back))"
            for basic in [true, false] {
                try await browser.open(page)
                #expect(browser.page.contains("Viewer &lt;i&gt;"))
                try await browser.submit(page, ["decision": "allow"])
                #expect(browser.elsewhere?.hasPrefix(Self.back + "&code=") == true && browser.value("state") == "s &t")
                let code = try #require(browser.value("code"))
                let form =
                    "grant_type=authorization_code&code=\(code)&redirect_uri=\(PercentEncoding.encode(Self.back))"
                let secret = try #require(app.secret)
                let wrong = try await Self.exchange(server, form + "&client_id=\(app.key)&client_secret=x")
                #expect(wrong.status == 401)
                func redeem() async throws -> RawMessage {
                    basic
                        ? try await Self.exchange(server, form, basic: "Basic " + Self.base64("\(app.key):\(secret)"))
                        : try await Self.exchange(server, form + "&client_id=\(app.key)&client_secret=\(secret)")
                }
                let answer = try await redeem()
                #expect(answer.status == 200)
                #expect(String(decoding: answer.body, as: UTF8.self).contains(#""uid":"\#(server.member.uid)""#))
                let token = try #require(Self.token(in: answer))
                #expect(try await server.send("GET /1/account/info", ["Authorization: Bearer \(token)"]).status == 200)
                let again = try await redeem()
                #expect(again.status == 400 && String(decoding: again.body, as: UTF8.self).contains("invalid_grant"))
                let dead = try await server.send(
                    "POST /1/disable_access_token", ["Authorization: Bearer \(token)"], body: [])
                #expect(dead.status == 200 && dead.body.elementsEqual("{}".utf8))
                #expect(try await server.send("GET /1/account/info", ["Authorization: Bearer \(token)"]).status == 401)
            }
            try await browser.open(page)
            try await browser.submit(page, ["decision": "refuse"])
            #expect(browser.value("error") == "access_denied" && browser.value("state") == "s &t")
        }
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    @Test("the command line's own app proves itself by PKCE, on any loopback port or with a code to copy")
    func proof() async throws {
        try await TestServer.run { server in
            var browser = try await Self.signedIn(server)
            let back = "http://127.0.0.1:45001/"
            for redirect in ["&redirect_uri=\(PercentEncoding.encode(back))", ""] {
                let page =
                    "/1/oauth2/authorize?response_type=code&client_id=byteclub&code_challenge_method=S256&device=laptop"
                    + "&code_challenge=\(PKCE.challenge(Self.verifier))\(redirect)"
                func code() async throws -> String {
                    try await browser.open(page)
                    #expect(browser.page.contains("ByteClub") && browser.page.contains("laptop"))
                    try await browser.submit(page, ["decision": "allow"])
                    if let code = browser.value("code") { return code }
                    return String(try #require(browser.page.firstMatch(of: /class="code">([0-9a-f]{32})</)).output.1)
                }
                let form = "grant_type=authorization_code&client_id=byteclub\(redirect)&code="
                for (verifier, status) in [
                    ("&code_verifier=\(Self.verifier)", 200), ("&code_verifier=x", 400), ("", 401),
                ] {
                    #expect(try await Self.exchange(server, form + code() + verifier).status == status)
                }
            }
            try await browser.open("/account")
            #expect(browser.page.contains("ByteClub on laptop"))
        }
    }

    @Test("a device's or member's name turns nothing around on the pages but itself")
    func turningNames() async throws {
        try await TestServer.run { server in
            var browser = try await Self.signedIn(server)
            let name = "Ann \u{202E}lleB"
            _ = try await server.store.writer.perform { transaction in
                try transaction.execute("UPDATE member SET name = ?", [name])
            }
            server.store.memberCache.invalidate()
            let page =
                "/1/oauth2/authorize?response_type=code&client_id=byteclub&code_challenge_method=S256"
                + "&device=\(PercentEncoding.encode("lap\u{202E}pot"))&code_challenge=\(PKCE.challenge(Self.verifier))"
            try await browser.open(page)
            #expect(browser.page.contains("<bdi>lap\u{202E}pot</bdi>") && browser.page.contains("<bdi>\(name)</bdi>"))
            try await browser.submit(page, ["decision": "allow"])
            let code = try #require(browser.page.firstMatch(of: /class="code">([0-9a-f]{32})</)).output.1
            let form = "grant_type=authorization_code&client_id=byteclub&code=\(code)&code_verifier=\(Self.verifier)"
            #expect(try await Self.exchange(server, form).status == 200)
            for place in ["/", "/members"] {
                try await browser.open(place)
                let text = browser.page.unicodeScalars.split(separator: "\u{202E}").dropFirst()
                #expect(
                    !text.isEmpty
                        && text.allSatisfy { part in
                            ["lleB</bdi>", "pot</bdi>", "lleB\">", "lleB</option>"].contains {
                                String(String.UnicodeScalarView(part)).hasPrefix($0)
                            }
                        }, "\(browser.page)")
            }
        }
    }

    @Test("the token flow sends the token behind the hash sign")
    func token() async throws {
        try await TestServer.run { server in
            let app = try await server.store.addApp(name: "Old", redirects: [Self.back])
            var browser = try await Self.signedIn(server)
            let page =
                "/oauth2/authorize?response_type=token&client_id=\(app.key)"
                + "&redirect_uri=\(PercentEncoding.encode(Self.back))"
            try await browser.open(page)
            try await browser.submit(page, ["decision": "allow"])
            #expect(browser.elsewhere?.hasPrefix(Self.back + "#access_token=") == true)
            #expect(browser.value("token_type") == "bearer" && browser.value("uid") == "\(server.member.uid)")
            let token = try #require(browser.value("access_token"))
            #expect(try await server.send("GET /1/account/info", ["Authorization: Bearer \(token)"]).status == 200)
        }
    }

    @Test("what must not redirect is a page with 400, and what may says why at the app's place")
    func refusals() async throws {
        try await TestServer.run { server in
            let app = try await server.store.addApp(name: "Old", redirects: [Self.back])
            var browser = try await Self.signedIn(server)
            let back = "&redirect_uri=\(PercentEncoding.encode(Self.back))"
            let start = "/1/oauth2/authorize?client_id=\(app.key)"
            for page in [
                "/1/oauth2/authorize?response_type=code&client_id=nobody\(back)", start + back,
                start + "&response_type=x\(back)", start + "&response_type=token",
                start + "&response_type=code&redirect_uri=https%3A%2F%2Fevil.example%2F",
                start + "&response_type=code&redirect_uri=http%3A%2F%2F127.0.0.1%2F",
                start + "&response_type=code\(back)&state=\(String(repeating: "s", count: 501))",
            ] {
                try await browser.open(page)
                #expect(browser.status == 400 && browser.elsewhere == nil, "\(page)")
            }
            for extra in [
                "&code_challenge=\(PKCE.challenge("x"))",
                "&code_challenge=\(PKCE.challenge("x"))&code_challenge_method=plain",
                "&code_challenge=x&code_challenge_method=S256",
            ] {
                try await browser.open(start + "&response_type=code" + back + extra)
                #expect(browser.value("error") == "invalid_request")
            }
            try await browser.open("/1/oauth2/authorize?response_type=code&client_id=byteclub")
            #expect(browser.page.contains("no access"))
            for form in ["", "grant_type=authorization_code", "grant_type=password&code=x"] {
                #expect(try await Self.exchange(server, form).status == 400)
            }
            let unknown = "grant_type=authorization_code&code=x&client_id=nobody&client_secret=x"
            #expect(try await Self.exchange(server, unknown).status == 401)
        }
    }

    @Test("an app that is removed is shut out with all its tokens")
    func removal() async throws {
        try await TestServer.run { server in
            let app = try await server.store.addApp(name: "Old", redirects: [])
            let token = try await server.store.addDevice(member: server.member.uid, app: app.key, name: "")
            #expect(try await server.send("GET /1/account/info", ["Authorization: Bearer \(token)"]).status == 200)
            #expect(try await server.store.removeApp(key: app.key))
            #expect(try await server.send("GET /1/account/info", ["Authorization: Bearer \(token)"]).status == 401)
            #expect(try await server.store.app(app.key) == nil)
        }
    }
}
