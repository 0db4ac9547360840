import Testing

@testable import ByteClubServer

@Suite struct AppTests {
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
