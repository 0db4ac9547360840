import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct RequestURLTests {
    private func url(_ scheme: String?, _ authority: String?, _ path: String?) -> RequestURL? {
        try? RequestURL(HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path))
    }

    @Test("a plain address is taken as it is")
    func plain() {
        #expect(
            url("http", "Example.com:8080", "/a%20b/../c?x=[1]&y={2}")?.text
                == "http://example.com:8080/a%20b/../c?x=[1]&y={2}")
        #expect(url("HTTPS", "example.com:443", "/")?.text == "https://example.com/")
        #expect(url("http", "[::1]:80", "/")?.text == "http://[::1]/")
    }

    @Test(
        "hosts that are no hosts are refused",
        arguments: [
            "", "user@host", "user:pass@host", "a b", "a\r\nb", "a\0b", "a/b", "a?b", "a#b", "host:", "host:0",
            "host:65536",
            "host:1x", "[::1", "::1", "[]", "a\\b", "höst", "-host", "host:80:80", "%41", "[::1]x",
        ])
    func hosts(authority: String) { #expect(url("http", authority, "/") == nil) }

    // HTTPTypes itself turns line ends and NUL into blanks, and drops them at the ends.
    @Test(
        "paths that are not percent-encoded are refused",
        arguments: ["", "a", "*", "/a b", "/a\r\nX: y", "/a\0b", "/a#b", "/ä", "/a\u{7F}b", "/\tb", "?x"])
    func paths(path: String) { #expect(url("http", "host", path) == nil) }

    @Test("only http and https are schemes", arguments: ["ftp", "file", "", "ht tp", "http\0s"])
    func schemes(scheme: String) { #expect(url(scheme, "host", "/") == nil) }

    @Test(
        "addresses are taken as people write them",
        arguments: [
            ("https://club.example", "https://club.example/"),
            ("HTTP://Club.example:8080?a b", "http://club.example:8080/?a%20b"),
            ("http://[::1]:80/ä#top", "http://[::1]/%C3%A4"), ("https://a/b/../c/./d", "https://a/c/d"),
        ])
    func addresses(text: String, expected: String) throws {
        #expect(try RequestURL(HTTPRequest(url: text)).text == expected)
        #expect(try HTTPRequest(.put, url: text).method == .put)
    }

    @Test(
        "what is wrong with an address is said",
        arguments: [
            ("club.example/x", "must begin with http:// or https://"), ("", "must begin with"),
            ("ftp://a/", "must begin with"), ("https:/a", "needs a host"), ("https://", "needs a host"),
            ("https://ada:secret@club.example/", "names a user"), ("https://höst/", "needs a host"),
            ("https://a/b\r\nX: y", "control character"), ("https://a:99999/", "needs a host"),
        ])
    func badAddresses(text: String, expected: String) throws {
        let error = #expect(throws: TransferError.self) { try HTTPRequest(url: text) }
        #expect(error?.code == .badRequest)
        #expect(error?.message.contains(expected) == true, "\(String(describing: error))")
        #expect(error?.description.contains("secret") == false)
    }

    @Test(
        "references are resolved as RFC 3986 section 5.4 says",
        arguments: [
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), (";x", "/b/c/;x"), ("", "/b/c/d;p?q"), (".", "/b/c/"),
            ("./", "/b/c/"),
            ("..", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../g", "/g"), ("../../../g", "/g"), ("/./g", "/g"),
            ("/../g", "/g"), ("g.", "/b/c/g."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("g/./h", "/b/c/g/h"),
            ("g/../h", "/b/c/h"), ("g?y/../x", "/b/c/g?y/../x"), ("a b", "/b/c/a%20b"), ("ä", "/b/c/%C3%A4"),
            ("/x:y", "/x:y"), ("?u=http://z", "/b/c/d;p?u=http://z"),
        ])
    func resolve(reference: String, expected: String) {
        #expect(url("http", "a", "/b/c/d;p?q")?.resolving(reference.utf8)?.text == "http://a" + expected)
    }

    @Test("a reference may name another host, and nothing but http and https")
    func elsewhere() throws {
        let base = try #require(url("https", "a", "/b"))
        #expect(base.resolving("//c:81/x".utf8)?.text == "https://c:81/x")
        #expect(base.resolving("HTTP://C?x".utf8)?.text == "http://c/?x")
        for bad in ["ftp://c/", "http:c", "http://u@c/", "http://c\0/", "/a\r\nb", "http:///x", "javascript:alert(1)"] {
            #expect(base.resolving(bad.utf8) == nil, "\(bad)")
        }
    }

    @Test("what is told to people has no query")
    func redacted() { #expect(url("http", "a", "/p?token=secret")?.redacted == "http://a/p?…") }

    @Test("random bytes never get a control character, blank or user name through")
    func fuzz() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(state: seed)
        let alphabet = Array("ab:/@?#[]%\\ \r\n\0\u{7F}.ä1".unicodeScalars)
        for _ in 0..<20_000 {
            func text(_ start: String) -> String {
                var result = start
                for _ in 0..<Int.random(in: 0...8, using: &random) {
                    result.unicodeScalars.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
                }
                return result
            }
            let base = url("http", text(""), text("/"))
            let all = [base, base?.resolving(text("").utf8)].compactMap { $0?.text }
            for whole in all {
                #expect(whole.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "seed \(seed)")
                let authority = whole.dropFirst(7).prefix { $0 != "/" }
                #expect(!authority.contains("@") && !authority.contains("\\"), "seed \(seed)")
            }
        }
    }
}
