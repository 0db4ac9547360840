import TestSupport
import Testing

@testable import ByteClubServer

@Suite("A password that a program sets")
struct PasswordTests {
    @Test("the first needs no other, the next needs the one before, and browsers are signed out")
    func change() async throws {
        try await TestServer.run { server in
            func set(_ form: String) async throws -> RawMessage {
                try await server.send(
                    "POST /1/sync/password",
                    [server.bearer, "Content-Type: application/x-www-form-urlencoded"], body: Array(form.utf8))
            }
            #expect(try await server.get("/1/sync/password").text == #"{"is_set":false}"#)
            let short = try await set("password=short")
            #expect(try short.status == 400 && short.refusal().contains("8 to 1024"))
            #expect(try await set("").status == 400)
            #expect(try await set("password=first%20password").status == 200)
            #expect(try await server.get("/1/sync/password").text == #"{"is_set":true}"#)
            var browser = Browser(server)
            try await browser.signIn("Ann Bell", "first password")
            #expect(browser.place == "/")
            for current in ["", "&current=wrong%20password"] {
                let refused = try await set("password=another%20one\(current)")
                #expect(refused.status == 403, "\(refused.text)")
            }
            try await browser.open("/account")
            #expect(browser.place == "/account")
            #expect(try await set("password=another%20one&current=first%20password").status == 200)
            try await browser.open("/account")
            #expect(browser.place.hasPrefix("/login"))
            try await browser.signIn("Ann Bell", "another one")
            #expect(browser.place == "/account")
            #expect(try await server.get("/1/account/info").status == 200, "the token stays")
        }
    }

    @Test("a stolen token does not guess the password for long")
    func guesses() async throws {
        let start = ContinuousClock.now
        try await TestServer.run(adjusting: { $0.settings.signIns = SignInLimits(now: { start }) }) { server in
            try await server.store.setPassword(try await PasswordHash.make("long enough"), ofMember: "Ann Bell")
            var statuses: [Int] = []
            for number in 0..<11 {
                let answer = try await server.post("/1/sync/password", "password=another%20one&current=guess\(number)")
                statuses.append(answer.status)
            }
            #expect(statuses == Array(repeating: 403, count: 10) + [429])
        }
    }
}
