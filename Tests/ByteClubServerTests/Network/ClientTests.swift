import HTTPTypes
import Testing

@testable import ByteClubServer

@Suite struct ClientTests {
    private func client(
        _ peer: String, _ fields: [(String, String)], trusting trusted: [String], by header: ProxyHeader? = nil
    ) throws -> Client {
        var headers: HTTPFields = [:]
        for (name, value) in fields {
            headers.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return Client(
            peer: IPAddress(peer), isSecure: false, host: "own:1", headers: headers,
            trusting: try trusted.map { try #require(AddressRange($0)) }, by: header)
    }

    @Test("an address is read in each of its forms, and told in the shortest")
    func addresses() {
        for (text, told) in [
            ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("2001:DB8:0::1", "2001:db8::1"),
            ("[::1]", "::1"), ("fe80::1%eth0", "fe80::1"),
        ] {
            #expect(IPAddress(text)?.description == told, "\(text)")
        }
        for text in ["", "192.0.2", "192.0.2.256", "name", "1.2.3.4.5", ":::", "0x7f.1", "192.0.2.7:80"] {
            #expect(IPAddress(text) == nil, "\(text)")
        }
        #expect(IPAddress("2001:db8:1:2:3:4:5:6")?.network.description == "2001:db8:1:2::")
        #expect(IPAddress("192.0.2.7")?.network.description == "192.0.2.7")
    }

    @Test("a range holds the addresses that share its first bits")
    func ranges() throws {
        for (range, inside, outside) in [
            ("10.0.0.0/8", "10.255.1.2", "11.0.0.1"), ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("0.0.0.0/0", "1.2.3.4", "2001:db8::1"), ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"),
            ("::ffff:10.0.0.0/104", "10.1.1.1", "11.1.1.1"), ("10.1.2.3/24", "10.1.2.200", "10.1.3.3"),
        ] {
            let parsed = try #require(AddressRange(range), "\(range)")
            #expect(parsed.contains(try #require(IPAddress(inside))), "\(range)")
            #expect(!parsed.contains(try #require(IPAddress(outside))), "\(range)")
        }
        #expect(AddressRange("10.1.2.3/24")?.description == "10.1.2.0/24")
        for wrong in ["", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/", "host/8", "10.0.0.0/8/8"] {
            #expect(AddressRange(wrong) == nil, "\(wrong)")
        }
    }

    @Test("headers of a peer that is not trusted count for nothing")
    func untrusted() throws {
        let spoofed = [
            ("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "evil.example"),
            ("Forwarded", "for=192.0.2.1;proto=https;host=evil.example"),
        ]
        for trusted in [[], ["10.0.0.0/8"]] {
            let client = try client("198.51.100.9", spoofed, trusting: trusted)
            #expect(client.address?.description == "198.51.100.9" && !client.isSecure && client.host == "own:1")
        }
    }

    @Test("the client is the rightmost address that is no trusted proxy")
    func chain() throws {
        let trusted = ["10.0.0.0/8"]
        for (value, address) in [
            ("192.0.2.1", "192.0.2.1"), ("6.6.6.6, 192.0.2.1", "192.0.2.1"), ("192.0.2.1, 10.0.0.2", "192.0.2.1"),
            ("6.6.6.6, 192.0.2.1, 10.0.0.3 ,10.0.0.2", "192.0.2.1"), ("10.0.0.9, 10.0.0.2", "10.0.0.9"),
            ("192.0.2.1, garbage, 10.0.0.2", "10.0.0.2"), ("garbage", "10.0.0.1"), ("", "10.0.0.1"),
            ("192.0.2.1:4711", "192.0.2.1"), ("[2001:db8::1]:4711", "2001:db8::1"), ("2001:db8::1", "2001:db8::1"),
        ] {
            let client = try client("10.0.0.1", [("X-Forwarded-For", value)], trusting: trusted)
            #expect(client.address?.description == address, "\(value)")
        }
        let two = [("X-Forwarded-For", "6.6.6.6"), ("X-Forwarded-For", "192.0.2.1")]
        #expect(try client("10.0.0.1", two, trusting: trusted).address?.description == "192.0.2.1")
    }

    @Test("scheme and host come from the proxy")
    func schemeAndHost() throws {
        let old = [
            ("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Proto", "HTTPS"), ("X-Forwarded-Host", "club.example"),
        ]
        let client = try client("10.0.0.1", old, trusting: ["10.0.0.1"])
        #expect(client.isSecure && client.host == "club.example")
        let standard = [("Forwarded", #"for="[2001:db8::7]:9", for=192.0.2.2;proto=https;host="a.example:8""#)]
        let other = try self.client("10.0.0.1", standard, trusting: ["10.0.0.1", "192.0.2.2"])
        #expect(other.address?.description == "2001:db8::7" && !other.isSecure && other.host == "own:1")
        let one = try self.client("10.0.0.1", standard, trusting: ["10.0.0.1"])
        #expect(one.address?.description == "192.0.2.2" && one.isSecure && one.host == "a.example:8")
        let bad = [("X-Forwarded-Proto", "gopher"), ("X-Forwarded-Host", "a b<script>")]
        let kept = try self.client("10.0.0.1", bad, trusting: ["10.0.0.1"])
        #expect(!kept.isSecure && kept.host == "own:1")
    }

    @Test("nobody chooses an address with a header that the proxy does not write, and only hands on")
    func foreignHeader() throws {
        let older = [
            ("X-Forwarded-For", "6.6.6.6"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "evil.example"),
        ]
        let standard = [("Forwarded", "for=192.0.2.1;proto=https;host=club.example")]
        func told(_ fields: [(String, String)], by header: ProxyHeader?) throws -> [String] {
            let client = try client("10.0.0.1", fields, trusting: ["10.0.0.1"], by: header)
            return [client.address?.description ?? "", client.isSecure ? "https" : "http", client.host ?? ""]
        }
        #expect(try told(older + standard, by: nil) == ["10.0.0.1", "http", "own:1"])
        for field in older { #expect(try told([field] + standard, by: nil) == ["10.0.0.1", "http", "own:1"]) }
        #expect(try told(older + standard, by: .forwarded) == ["192.0.2.1", "https", "club.example"])
        #expect(try told(older + standard, by: .xForwardedFor) == ["6.6.6.6", "https", "evil.example"])
        #expect(try told(standard, by: .xForwardedFor) == ["10.0.0.1", "http", "own:1"])
        #expect(try told(older, by: .forwarded) == ["10.0.0.1", "http", "own:1"])
        #expect(try told(standard, by: nil) == ["192.0.2.1", "https", "club.example"])
    }

    @Test("nobody hides with a quotation mark, or a letter that clings to a comma, what a proxy adds behind it")
    func quotes() throws {
        for (name, value, address) in [
            ("X-Forwarded-For", #""1.2.3.4, 203.0.113.9"#, "203.0.113.9"),
            ("X-Forwarded-For", #"1.2.3.4", 203.0.113.9"#, "203.0.113.9"),
            ("X-Forwarded-For", #""203.0.113.9""#, "10.0.0.1"),
            ("X-Forwarded-For", "1.2.3.4,\u{301}, 203.0.113.9", "203.0.113.9"),
            ("X-Forwarded-For", #"192.0.2.1, ", 10.0.0.2"#, "10.0.0.2"),
            ("Forwarded", #"for="1.2.3.4, for=203.0.113.9"#, "203.0.113.9"),
            ("Forwarded", #"for="a\", for=203.0.113.9"#, "203.0.113.9"),
            ("Forwarded", #"for="1.2.3.4, 5", for="[2001:db8::7]:9""#, "2001:db8::7"),
            ("Forwarded", #"for=192.0.2.1, for=", for=10.0.0.2"#, "10.0.0.2"),
        ] {
            let client = try client("10.0.0.1", [(name, value)], trusting: ["10.0.0.0/8"])
            #expect(client.address?.description == address, "\(value)")
        }
    }
}
