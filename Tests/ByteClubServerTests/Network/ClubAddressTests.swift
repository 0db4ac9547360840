import Testing

@testable import ByteClubServer

@Suite struct ClubAddressTests {
    @Test("a link names a machine, never all addresses of one")
    func wildcards() {
        for text in [
            "https://0.0.0.0:8443", "https://0.0.0.0", "http://[::]:80/", "https://[::0]", "HTTPS://[0:0::]:1",
            "https://[::ffff:0.0.0.0]/club", "https://", "https://:80", "club.example", "",
        ] {
            #expect(ClubAddress(text) == nil, "\(text)")
        }
        for text in ["https://club.example:8443", "http://127.0.0.1:80/", "https://[::1]:1", "HTTPS://10.0.0.0"] {
            #expect(ClubAddress(text) != nil, "\(text)")
        }
        #expect(ClubAddress("https://club.example/")?.invitation("ab") == "https://club.example/invite/ab")
    }

    @Test("a server's key stands at the end of what leads to it, and is read again from there")
    func pins() throws {
        let pin = String(repeating: "-_", count: 21) + "A"
        let address = try #require(ClubAddress("https://club.example:8443", pin: pin))
        #expect(address.invitation("ab") == "https://club.example:8443/invite/ab#sha256=\(pin)")
        #expect(address.login == "https://club.example:8443#sha256=\(pin)" && address.host == "club.example")
        #expect(ClubAddress(address.login) == address)
        #expect(ClubAddress("https://0.0.0.0:1#sha256=\(pin)") == nil)
        #expect(ClubAddress.parts(of: "https://0.0.0.0:1#sha256=\(pin)").pin == pin)
        #expect(ClubAddress("https://club.example")?.login == "https://club.example")
    }
}
