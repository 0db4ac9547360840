import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Signing in a machine without a browser")
struct DeviceSignInTests {
    private static let form = "Content-Type: application/x-www-form-urlencoded"

    /// What a program was told at the beginning.
    private struct Begun {
        let deviceCode: String
        let userCode: String
        let page: String
    }

    private static func begin(_ server: TestServer, _ more: String = "&device=attic") async throws -> Begun {
        let answer = try await server.send(
            "POST /1/oauth2/device_authorization", [form], body: Array("client_id=byteclub\(more)".utf8))
        #expect(answer.status == 200 && answer["Cache-Control"] == "no-store", "\(answer.text)")
        #expect(answer.text.contains(#""expires_in":600,"interval":3"#), "\(answer.text)")
        let userCode = try answer.text("user_code")
        #expect(userCode.wholeMatch(of: /[B-Z]{4}-[B-Z]{4}/) != nil)
        let page = try answer.text("verification_uri")
        #expect(page == "http://localhost:\(server.port)/device" || page.hasSuffix("/device"))
        #expect(try answer.text("verification_uri_complete") == "\(page)?code=\(userCode)")
        return Begun(deviceCode: try answer.text("device_code"), userCode: userCode, page: page)
    }

    private static func ask(
        _ server: TestServer, _ deviceCode: String, client: String = "byteclub"
    ) async throws -> RawMessage {
        let fields = [
            "grant_type": ClubAPI.deviceGrantType, "device_code": deviceCode, "client_id": client,
        ]
        let body = fields.map { $0.key + "=" + PercentEncoding.encode($0.value) }.joined(separator: "&")
        return try await server.send("POST /1/oauth2/token", [form], body: Array(body.utf8))
    }

    /// The error of a refusal, which is one of OAuth.
    private static func error(
        _ server: TestServer, _ deviceCode: String, client: String = "byteclub"
    ) async throws -> String {
        let answer = try await ask(server, deviceCode, client: client)
        #expect(answer.status == (client == "byteclub" ? 400 : 401), "\(answer.text)")
        return try answer.text("error")
    }

    private static func signedIn(_ server: TestServer) async throws -> Browser {
        try await server.store.setPassword(try await PasswordHash.make("long enough"), ofMember: "Ann Bell")
        var browser = Browser(server)
        try await browser.signIn("Ann Bell", "long enough")
        return browser
    }

    @Test("a member types the code in any case, sees what asks from where, and the program gets one token")
    func allowed() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            let begun = try await Self.begin(server)
            #expect(try await Self.error(server, begun.deviceCode) == "slow_down")
            clock.advance(8)
            #expect(try await Self.error(server, begun.deviceCode) == "authorization_pending")
            var browser = try await Self.signedIn(server)
            try await browser.open("/device")
            let typed = begun.userCode.lowercased().replacingOccurrences(of: "-", with: " ")
            try await browser.submit("/device", ["code": typed])
            #expect(browser.status == 200)
            for text in ["ByteClub", "attic", "127.0.0.1", begun.userCode, "read and change"] {
                #expect(browser.page.contains(text), "\(text) in \(browser.page)")
            }
            clock.advance(8)
            #expect(try await Self.error(server, begun.deviceCode) == "authorization_pending", "not asked yet")
            try await browser.submit("/device", ["decision": "allow"])
            #expect(browser.page.contains("has access"))
            let answer = try await Self.ask(server, begun.deviceCode)
            #expect(answer.status == 200 && answer["Cache-Control"] == "no-store")
            #expect(try answer.text("uid") == "\(server.member.uid)")
            let token = try answer.text("access_token")
            #expect(try await server.send("GET /1/account/info", ["Authorization: Bearer \(token)"]).status == 200)
            #expect(try await Self.error(server, begun.deviceCode) == "invalid_grant", "used")
            try await browser.open("/device?code=\(begun.userCode)")
            #expect(browser.page.contains("value=\"\(begun.userCode)\""))
            try await browser.submit("/device", ["code": begun.userCode])
            #expect(browser.status == 400 && browser.page.contains("No program is waiting"))
            try await browser.open("/account")
            #expect(browser.page.contains("ByteClub on attic"))
        }
    }

    @Test("a refusal reaches the program once, and nobody else can decide afterwards")
    func refused() async throws {
        try await TestServer.run { server in
            let begun = try await Self.begin(server)
            var browser = Browser(server)
            try await browser.open("/device?code=\(begun.userCode)")
            #expect(browser.place.hasPrefix("/login"), "who is not signed in signs in first")
            try await server.store.setPassword(try await PasswordHash.make("long enough"), ofMember: "Ann Bell")
            try await browser.signIn("Ann Bell", "long enough")
            #expect(browser.page.contains("value=\"\(begun.userCode)\""))
            try await browser.submit("/device", ["code": begun.userCode])
            try await browser.submit("/device", ["decision": "refuse"])
            #expect(browser.page.contains("no access"))
            try await browser.open("/device")
            try await browser.submit("/device", ["code": begun.userCode, "decision": "allow"])
            #expect(browser.status == 400)
            #expect(try await Self.error(server, begun.deviceCode) == "access_denied")
            #expect(try await Self.error(server, begun.deviceCode) == "invalid_grant")
        }
    }

    @Test("a code ends after ten minutes, for the program and for the page")
    func expiry() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            let begun = try await Self.begin(server)
            var browser = try await Self.signedIn(server)
            clock.advance(600)
            #expect(try await Self.error(server, begun.deviceCode) == "expired_token")
            try await browser.open("/device")
            try await browser.submit("/device", ["code": begun.userCode])
            #expect(browser.status == 400)
        }
    }

    @Test("who asks too often is told to slow down, and waits longer from then on")
    func slowDown() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            let begun = try await Self.begin(server)
            for (seconds, error) in [
                (3, "authorization_pending"), (1, "slow_down"), (3, "slow_down"), (13, "authorization_pending"),
            ] {
                clock.advance(Int64(seconds))
                #expect(try await Self.error(server, begun.deviceCode) == error, "after \(seconds) s")
            }
        }
    }

    @Test("guesses at codes end where guesses at passwords do, be the code right then or not")
    func guesses() async throws {
        try await TestServer.run { server in
            var browser = try await Self.signedIn(server)
            // One more guess is free every ten seconds, so that the right code may come in one of these by chance, but
            // hardly each time.
            var isFree = true
            for _ in 0..<20 where isFree {
                let begun = try await Self.begin(server)
                try await browser.open("/device")
                var tries = 0
                while browser.status != 429, tries < 100 {
                    try await browser.submit("/device", ["code": "BBBB-BBBB"])
                    tries += 1
                }
                try #require(browser.status == 429 && tries > 0)
                try await browser.open("/device")
                try await browser.submit("/device", ["code": begun.userCode, "decision": "allow"])
                isFree = browser.status != 429
            }
            #expect(!isFree, "the right code is never refused")
        }
    }

    @Test("a form without its token decides nothing")
    func forgery() async throws {
        let clock = Clock()
        try await TestServer.run(clock: clock) { server in
            let begun = try await Self.begin(server)
            var browser = try await Self.signedIn(server)
            try await browser.send("/device", ["code": begun.userCode, "decision": "allow"])
            #expect(browser.status == 403)
            clock.advance(3)
            #expect(try await Self.error(server, begun.deviceCode) == "authorization_pending")
        }
    }

    @Test("only the program that began gets the token, known programs begin alone, and so many of one place")
    func strangers() async throws {
        try await TestServer.run { server in
            let app = try await server.store.addApp(name: "Viewer", redirects: [])
            let begun = try await Self.begin(server)
            for client in ["nobody", app.key, "\(app.key)&client_secret=x"] {
                #expect(try await Self.error(server, begun.deviceCode, client: client) == "invalid_client")
                let answer = try await server.send(
                    "POST /1/oauth2/device_authorization", [Self.form], body: Array("client_id=\(client)".utf8))
                #expect(answer.status == 401)
            }
            let secret = try #require(app.secret)
            let proven = try await server.send(
                "POST /1/oauth2/device_authorization", [Self.form],
                body: Array("client_id=\(app.key)&client_secret=\(secret)".utf8))
            #expect(proven.status == 200)
            let other = try await server.send(
                "POST /1/oauth2/token", [Self.form],
                body: Array(
                    ("grant_type=\(PercentEncoding.encode(ClubAPI.deviceGrantType))&client_id=\(app.key)"
                        + "&client_secret=\(secret)&device_code=\(begun.deviceCode)").utf8))
            #expect(try other.text("error") == "invalid_grant")
            #expect(try await Self.error(server, "0") == "invalid_grant")
            for _ in 2..<20 { _ = try await Self.begin(server) }
            let full = try await server.send(
                "POST /1/oauth2/device_authorization", [Self.form], body: Array("client_id=byteclub".utf8))
            #expect(full.status == 429 && full["Retry-After"] == "60")
        }
    }

    @Test("who was removed meanwhile lets nobody in")
    func removedMember() async throws {
        try await TestServer.run { server in
            _ = try await server.add("Boss", .owner)
            let begun = try await Self.begin(server)
            var browser = try await Self.signedIn(server)
            try await browser.open("/device")
            try await browser.submit("/device", ["code": begun.userCode])
            try await browser.submit("/device", ["decision": "allow"])
            try await server.store.removeMember(name: "Ann Bell")
            #expect(try await Self.error(server, begun.deviceCode) == "invalid_grant")
        }
    }

    @Test("a code is read whatever its case, hyphens and blanks, and nothing else is one")
    func codes() throws {
        let code = try #require(UserCode("wdjb mJ-HT"))
        #expect(code == UserCode("WDJBMJHT") && code.description == "WDJB-MJHT")
        for text in ["", "WDJB-MJH", "WDJB-MJHTT", "WDJB-MJHA", "WDJB-MJH0", String(repeating: "-", count: 40)] {
            #expect(UserCode(text) == nil, "\(text)")
        }
        #expect(Set((0..<100).map { _ in UserCode() }).count == 100)
    }
}
