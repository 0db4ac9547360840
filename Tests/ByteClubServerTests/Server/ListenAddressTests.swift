import Testing

@testable import ByteClubServer

@Suite struct ListenAddressTests {
    @Test("a name, an IPv4 and a bracketed IPv6 address with a port are read")
    func reading() {
        #expect(ListenAddress("127.0.0.1:0").map { [$0.host, "\($0.port)"] } == ["127.0.0.1", "0"])
        #expect(ListenAddress("[::1]:8017").map { [$0.host, $0.authority(port: 9)] } == ["::1", "[::1]:9"])
        for wrong in ["", ":80", "host", "host:", "host:65536", "host:-1", "::1:80", "a:b"] {
            #expect(ListenAddress(wrong) == nil, "\(wrong)")
        }
    }

    @Test("only this machine's own addresses are loopback")
    func loopback() {
        for text in ["127.0.0.1:1", "127.1.2.3:1", "localhost:1", "[::1]:1"] {
            #expect(ListenAddress(text)?.isLoopback == true, "\(text)")
        }
        for text in ["0.0.0.0:1", "[::]:1", "127.0.0.1.example.org:1", "example.org:1", "10.0.0.1:1"] {
            #expect(ListenAddress(text)?.isLoopback == false, "\(text)")
        }
    }
}
