import Testing

@testable import ByteClubServer

@Suite struct AttemptLimitTests {
    @Test("attempts are allowed at once up to the limit, then one each interval, each text by itself")
    func limit() {
        let limit = AttemptLimit(attempts: 3, interval: .seconds(10))
        let start = ContinuousClock.now
        for _ in 0..<3 { #expect(limit.take("a", at: start) == nil) }
        #expect(limit.take("a", at: start) == .seconds(10))
        #expect(limit.take("b", at: start) == nil)
        #expect(limit.take("a", at: start + .seconds(9)) == .seconds(1))
        #expect(limit.take("a", at: start + .seconds(10)) == nil)
        #expect(limit.take("a", at: start + .seconds(10)) == .seconds(10))
        limit.forget("a")
        #expect(limit.take("a", at: start + .seconds(10)) == nil)
    }

    @Test("a loopback redirect fits with any port, and nothing that only looks like loopback does")
    func redirects() {
        for url in ["http://127.0.0.1:1/", "http://127.0.0.1/", "http://127.0.0.1:65535/"] {
            #expect(App.byteclub.allows(redirect: url))
        }
        for url in [
            "http://127.0.0.1:1/x", "http://127.0.0.1:1", "http://127.0.0.1.evil.example/",
            "http://127.0.0.1:1@evil.example/",
            "https://127.0.0.1/", "http://localhost:1/", "", "/",
        ] {
            #expect(!App.byteclub.allows(redirect: url), "\(url)")
        }
        #expect(
            App.mayRegister(redirect: "https://a.example/x?y") && App.mayRegister(redirect: "http://localhost:80/x"))
        for url in ["http://a.example/", "https://", "https://a.example/#x", "javascript:x", "https://a b"] {
            #expect(!App.mayRegister(redirect: url))
        }
    }
}
