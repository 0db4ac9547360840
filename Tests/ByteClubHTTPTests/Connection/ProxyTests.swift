import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct ProxyTests {
    private func proxy(_ variables: [String: String], _ url: String) throws -> String? {
        try ProxySettings.environment.rules { variables[$0] }.server(for: address(url).origin)?.description
    }

    @Test("an address of a proxy is read as curl reads it")
    func servers() throws {
        let full = try #require(ProxyServer("http://us%65r:p%40ss:w@Proxy.Example:3128/x"))
        #expect(full.description == "http://proxy.example:3128" && full.user == "user")
        #expect(full.password == "p@ss:w")
        #expect(ProxyServer("proxy")?.description == "http://proxy:1080")
        #expect(ProxyServer("https://proxy")?.description == "https://proxy:443")
        #expect(ProxyServer("socks5h://[::1]:9050")?.description == "socks5h://[::1]:9050")
        #expect(ProxyServer("socks://p")?.kind == .socks4)
        #expect(ProxyServer("user@p")?.user == "user" && ProxyServer("user@p")?.password == nil)
        for bad in [
            "", "ftp://p", "http://", "http://a b", "http://p:0", "http://%zz@p", "http://a%0d@p", "http://u@p\n",
        ] {
            #expect(ProxyServer(bad) == nil, "\(bad)")
        }
        var text = ""
        dump(full, to: &text)
        print(full, [full], String(reflecting: full), Passphrase("p@ss:w"), to: &text)
        dump(Passphrase("p@ss:w"), to: &text)
        #expect(!text.contains("p@ss") && !text.contains("user"))
    }

    @Test("the variables of the environment mean what they mean to curl")
    func environment() throws {
        let all = ["http_proxy": "a", "HTTPS_PROXY": "b", "all_proxy": "c", "no_proxy": "x.test, .y.test 10.0.0.0/8"]
        #expect(try proxy(all, "http://e.test/") == "http://a:1080" && proxy(all, "https://e.test/") == "http://b:1080")
        #expect(try proxy(["HTTP_PROXY": "a"], "http://e.test/") == nil)
        #expect(try proxy(["ALL_PROXY": "socks5://c"], "http://e.test/") == "socks5://c:1080")
        #expect(try proxy(["https_proxy": "", "HTTPS_PROXY": "b"], "https://e.test/") == "http://b:1080")
        #expect(try proxy([:], "https://e.test/") == nil)
        for without in ["x.test", "a.x.test", "y.test", "a.y.test", "10.1.2.3", "localhost", "127.0.0.9", "[::1]"] {
            #expect(try proxy(all, "https://\(without)/") == nil, "\(without)")
        }
        for with in ["xx.test", "test", "11.0.0.1", "10.example.com"] {
            #expect(try proxy(all, "https://\(with)/") != nil, "\(with)")
        }
        let error = #expect(throws: TransferError.self) {
            try proxy(["http_proxy": "ftp://secret@x"], "http://e.test/")
        }
        #expect(error?.code == .badConfiguration && error?.message.contains("secret") == false)
    }

    @Test("a proxy is told of with the variable that names it, and without its secrets")
    func words() throws {
        let variables = ["http_proxy": "http://us:pass@a:3128", "ALL_PROXY": "socks5://b"]
        let rules = try ProxySettings.environment.rules { variables[$0] }
        let plain = try #require(rules.namedServer(for: address("http://e.test/").origin))
        #expect("\(plain)" == "the proxy http://a:3128, which http_proxy names,")
        #expect(plain.refusal(502, offers: 0) == "\(plain) answered 502")
        #expect(plain.refusal(407, offers: 3) == "\(plain) does not take its user name and password (Basic, Digest)")
        let secure = try #require(rules.namedServer(for: address("https://e.test/").origin))
        #expect("\(secure)" == "the proxy socks5://b:1080, which ALL_PROXY names,")
        #expect(secure.refusal(407, offers: 4) == "\(secure) wants a user name and a password (Negotiate)")
        #expect(try rules.namedServer(for: address("https://localhost/").origin) == nil)
    }

    @Test("what goes without a proxy is told by names, addresses and networks")
    func exceptions() {
        for (host, entry, does) in [
            ("a.b", "*", true), ("a.b", "B", true), ("ab", "b", false), ("a.b.", "a.b", true), ("a.b", ".", false),
            ("10.1.1.1", "10.0.0.0/7", true), ("12.1.1.1", "10.0.0.0/7", false), ("10.1.1.1", "10.1.1.1/33", false),
            ("10.1.1.1", "10.1.1.1", true), ("10.1.1.1", "1.1", false), ("[fe80::1]", "fe80::/10", true),
            ("[fe80::1]", "[FE80:0::1]", true), ("[fe80::1]", "0.0.0.0/0", false), ("10.1.1.1", "0.0.0.0/0", true),
        ] { #expect(ProxyRules.matches(host, entry) == does, "\(host) \(entry)") }
    }

    @Test("a session can be asked which proxy a request would take, and its settings are kept to")
    func asked() throws {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "e.test", path: "/")
        let server = try #require(ProxyServer("p:1"))
        #expect(try ProxySettings.server(server).server(for: request) == server)
        #expect(try ProxySettings.server(server, except: ["test"]).server(for: request) == nil)
        #expect(try ProxySettings.none.server(for: request) == nil)
    }

    @Test("an address override takes a host, a port and addresses, and nothing else")
    func overrides() {
        #expect(
            AddressOverride(host: "E.test", port: 80, addresses: ["1.2.3.4", "::1"])?.line == "e.test:80:1.2.3.4,[::1]")
        for (host, port, addresses) in [
            ("", 80, ["1.2.3.4"]), ("e", 0, ["1.2.3.4"]), ("e", 80, []), ("e", 80, ["f"]), ("e:1", 80, ["1.2.3.4"]),
            ("e", 80, ["1.2.3.4,5.6.7.8"]), ("*", 80, ["1.2.3.4"]), ("+e", 80, ["1.2.3.4"]), ("e", 80, ["1.2.3.4\0"]),
        ] { #expect(AddressOverride(host: host, port: port, addresses: addresses) == nil, "\(host) \(addresses)") }
    }
}
