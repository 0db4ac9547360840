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
}
