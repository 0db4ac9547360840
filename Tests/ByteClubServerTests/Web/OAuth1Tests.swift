import ByteClubCore
import Crypto
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Signing in by OAuth 1.0")
struct OAuth1Tests {
    /// Signs requests as a client does, by the RFC and not by the server's code.
    private struct Signer {
        var key: String
        var secret: String
        var token = ""
        var tokenSecret = ""
        var timestamp = SystemTime.seconds()
        var nonce = UUID().uuidString

        func header(_ method: String, _ url: String, _ parameters: [(String, String)] = []) -> String {
            var oauth = [
                ("oauth_consumer_key", key), ("oauth_nonce", nonce), ("oauth_signature_method", "HMAC-SHA1"),
                ("oauth_timestamp", "\(timestamp)"), ("oauth_version", "1.0"),
            ]
            if !token.isEmpty { oauth.append(("oauth_token", token)) }
            let text = (oauth + parameters).map { "\(Self.encode($0.0))=\(Self.encode($0.1))" }.sorted()
                .joined(separator: "&")
            let base = "\(method)&\(Self.encode(url))&\(Self.encode(text))"
            let digest = HMAC<Insecure.SHA1>.authenticationCode(
                for: Data(base.utf8), using: SymmetricKey(data: Data("\(secret)&\(tokenSecret)".utf8)))
            oauth.append(("oauth_signature", Data(digest).base64EncodedString()))
            return "Authorization: OAuth realm=\"x\", "
                + oauth.map { "\($0.0)=\"\(Self.encode($0.1))\"" }.joined(separator: ", ")
        }

        private static func encode(_ text: String) -> String {
            text.addingPercentEncoding(
                withAllowedCharacters: CharacterSet(
                    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")) ?? ""
        }
    }

    private static func signer(_ server: TestServer) throws -> Signer {
        let keys = try #require(server.member.oauth1)
        return Signer(
            key: keys.consumerKey, secret: keys.consumerSecret, token: keys.token, tokenSecret: keys.tokenSecret)
    }

    private static func values(_ answer: RawMessage) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: answer.text.split(separator: "&").map { pair in
                let halves = pair.split(separator: "=").map(String.init)
                return (halves[0], halves[1])
            })
    }

    @Test("the base string is that of RFC 5849 section 3.4.1.1")
    func baseString() {
        let text = SignatureBase.text(
            method: "POST", origin: "http://example.com", path: "/request",
            parameters: [
                ("b5", "=%3D"), ("a3", "a"), ("c@", ""), ("a2", "r b"), ("realm", "Example"),
                ("oauth_consumer_key", "9djdj82h48djs9d2"), ("oauth_token", "kkk9d7dh3k39sjv7"),
                ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", "137131201"), ("oauth_nonce", "7d8f3e4a"),
                ("oauth_signature", "bYT5CMsGcbgUdFHObYMEfcx6bsw="), ("c2", ""), ("a3", "2 q"),
            ])
        #expect(
            text
                == "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540"
                + "%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method"
                + "%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7")
        #expect(SignatureBase.normalized("HTTPS://Club.Example:443") == "https://club.example")
        #expect(SignatureBase.normalized("http://club.example:8080") == "http://club.example:8080")
    }

    @Test("a request signed by HMAC-SHA1 is taken once, query and form included, and a changed one never")
    func digests() async throws {
        try await TestServer.run { server in
            let origin = "http://127.0.0.1:\(server.port)"
            var signer = try Self.signer(server)
            let header = signer.header("GET", origin + "/1/metadata/auto/", [("list", "false")])
            #expect(try await server.send("GET /1/metadata/auto/?list=false", [header]).status == 200)
            #expect(try await server.send("GET /1/metadata/auto/?list=false", [header]).status == 403)
            #expect(try await server.send("GET /1/metadata/auto/?list=true", [header]).status == 401)
            signer.nonce = "form"
            let form = [
                signer.header("POST", origin + "/1/fileops/create_folder", [("path", "/a b"), ("root", "auto")])
            ]
            let fields = form + ["Content-Type: application/x-www-form-urlencoded"]
            let made = try await server.send(
                "POST /1/fileops/create_folder", fields, body: Array("root=auto&path=%2Fa+b".utf8))
            #expect(made.status == 200)
            signer.nonce = "put"
            let put = signer.header("PUT", origin + "/1/files_put/auto/a%20b.md", [("overwrite", "true")])
            let stored = try await server.send("PUT /1/files_put/auto/a%20b.md?overwrite=true", [put], body: [1, 2])
            #expect(stored.status == 200)
            for shift: Int64 in [-700, 700] {
                signer.timestamp = SystemTime.seconds() + shift
                let stale = signer.header("GET", origin + "/1/account/info")
                #expect(try await server.send("GET /1/account/info", [stale]).status == 403)
            }
            signer = try Self.signer(server)
            signer.tokenSecret = "x"
            let wrong = signer.header("GET", origin + "/1/account/info")
            #expect(try await server.send("GET /1/account/info", [wrong]).status == 401)
        }
    }

    @Test("a signed request for what is not there counts as its member's, also in the log")
    func nothingThere() async throws {
        let limits = RequestLimits(memberRate: 2, attemptRate: 0, anonymousRate: 1)
        try await TestServer.run(adjusting: { $0.settings.limits = limits }) { server in
            var signer = try Self.signer(server)
            func ask(_ method: String, _ path: String, _ number: Int) async throws -> Int {
                signer.nonce = "\(method)\(number)"
                let header = signer.header(method, "http://127.0.0.1:\(server.port)\(path)", [("a", "b c")])
                return try await server.send("\(method) \(path)?a=b%20c", [header]).status
            }
            var statuses: Set<Int> = []
            for number in 0..<1000 where !statuses.contains(503) {
                statuses.insert(try await ask("GET", "/1/nothing", number))
                statuses.insert(try await ask("DELETE", "/1/account/info", number))
            }
            #expect(statuses == [404, 405, 503])
            #expect(limits.refusals.members > 0 && limits.refusals.anonymous == 0)
            for status in statuses {
                #expect(await server.log.line { $0.contains(" \(status) ") && $0.contains("uid=1 ") } != nil)
            }
        }
    }

    @Test("the file's name is part of what a form upload signs, and no other name is stored")
    func formUpload() async throws {
        try await TestServer.run { server in
            let url = "http://127.0.0.1:\(server.port)/1/files/auto/"
            let signer = try Self.signer(server)
            func upload(_ name: String, _ header: String) async throws -> Int {
                let body =
                    "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\n\r\nhello\r\n--b--\r\n"
                return try await server.send(
                    "POST /1/files/auto/", [header, "Content-Type: multipart/form-data; boundary=b"],
                    body: Array(body.utf8)
                ).status
            }
            let header = signer.header("POST", url, [("file", "ridge.jpg")])
            #expect(try await upload("other.jpg", header) == 401)
            #expect(try await upload("ridge.jpg", header) == 200)
            #expect(try await upload("ridge.jpg", header) == 403)
            #expect(try await upload("third.jpg", "Authorization: OAuth oauth_token=\"x\"") == 403)
            #expect(try await server.get("/1/metadata/auto/other.jpg").status == 404)
            // A body that is signed as a form upload is never taken for another call.
            let bytes = signer.header("PUT", url, [("file", "ridge.jpg")])
            let put = try await server.send(
                "PUT /1/files_put/auto/x.jpg", [bytes, "Content-Type: multipart/form-data; boundary=b"], body: [1])
            #expect(put.status == 401)
        }
    }

    @Test("the three steps give a token that works, and each step works once", arguments: [false, true])
    func threeSteps(isPlaintext: Bool) async throws {
        try await TestServer.run { server in
            try await server.store.setPassword(try await PasswordHash.make("long enough"), ofMember: "Ann Bell")
            let app = try await server.store.addApp(name: "Panorama 360", redirects: ["https://app.example/done"])
            let origin = "http://127.0.0.1:\(server.port)"
            let secret = try #require(app.secret)
            func call(_ step: String, token: (key: String, secret: String)?) async throws -> RawMessage {
                let url = "\(origin)/1/oauth/\(step)"
                var signer = Signer(key: app.key, secret: secret)
                (signer.token, signer.tokenSecret) = token ?? ("", "")
                var header = signer.header("POST", url)
                if isPlaintext {
                    header =
                        "Authorization: OAuth oauth_version=\"1.0\", oauth_signature_method=\"PLAINTEXT\", "
                        + "oauth_consumer_key=\"\(app.key)\", "
                        + (token.map { "oauth_token=\"\($0.key)\", " } ?? "")
                        + "oauth_signature=\"\(secret)&\(token?.secret ?? "")\""
                }
                return try await server.send("POST /1/oauth/\(step)", [header])
            }
            let first = try await call("request_token", token: nil)
            #expect(first.status == 200)
            let request = Self.values(first)
            let token = (key: try #require(request["oauth_token"]), secret: try #require(request["oauth_token_secret"]))
            #expect(try await call("access_token", token: token).status == 401)
            var browser = Browser(server)
            let page = "/1/oauth/authorize?oauth_token=\(token.key)&oauth_callback=https%3A%2F%2Fapp.example%2Fdone"
            try await browser.open(page)
            try await browser.signIn("Ann Bell", "long enough")
            #expect(browser.page.contains("Panorama 360"))
            try await browser.submit(page, ["decision": "refuse"])
            #expect(browser.value("not_approved") == "true")
            #expect(try await call("access_token", token: token).status == 401)
            try await browser.open(page)
            try await browser.submit(page, ["decision": "allow"])
            #expect(browser.value("oauth_token") == token.key && browser.value("uid") == "\(server.member.uid)")
            let second = try await call("access_token", token: token)
            #expect(second.status == 200)
            let access = Self.values(second)
            #expect(access["uid"] == "\(server.member.uid)")
            #expect(try await call("access_token", token: token).status == 401)
            var signer = Signer(key: app.key, secret: secret)
            signer.token = try #require(access["oauth_token"])
            signer.tokenSecret = try #require(access["oauth_token_secret"])
            let account = signer.header("GET", origin + "/1/account/info")
            #expect(try await server.send("GET /1/account/info", [account]).status == 200)
            signer.nonce = "change"
            let change = signer.header("POST", origin + "/1/oauth2/token_from_oauth1")
            let bearer = try await server.send("POST /1/oauth2/token_from_oauth1", [change])
            #expect(bearer.status == 200 && bearer.text.contains(#""token_type":"bearer""#))
            signer.nonce = "end"
            let end = signer.header("POST", origin + "/1/unlink_access_token")
            #expect(try await server.send("POST /1/unlink_access_token", [end]).status == 200)
            signer.nonce = "after"
            let after = signer.header("GET", origin + "/1/account/info")
            #expect(try await server.send("GET /1/account/info", [after]).status == 401)
        }
    }

    @Test("an unknown app is 401, and a page for an unknown or foreign place is 400")
    func refusals() async throws {
        try await TestServer.run { server in
            try await server.store.setPassword(try await PasswordHash.make("long enough"), ofMember: "Ann Bell")
            let url = "http://127.0.0.1:\(server.port)/1/oauth/request_token"
            let unknown = Signer(key: "nobody", secret: "x").header("POST", url)
            #expect(try await server.send("POST /1/oauth/request_token", [unknown]).status == 401)
            #expect(try await server.send("POST /1/oauth/request_token", [server.bearer]).status == 403)
            #expect(try await server.send("POST /1/oauth2/token_from_oauth1", [server.bearer]).status == 403)
            let app = try await server.store.addApp(name: "App", redirects: [])
            let fresh = try await server.store.addRequestToken(app: app.key)
            var browser = Browser(server)
            try await browser.signIn("Ann Bell", "long enough")
            for page in ["?oauth_token=x", "", "?oauth_token=\(fresh.token)&oauth_callback=https%3A%2F%2Fevil.example"]
            {
                try await browser.open("/1/oauth/authorize" + page)
                #expect(browser.status == 400)
            }
            let page = "/1/oauth/authorize?oauth_token=\(fresh.token)"
            try await browser.open(page)
            try await browser.submit(page, ["decision": "allow"])
            #expect(browser.page.contains("<bdi>App</bdi> has access"))
        }
    }
}
