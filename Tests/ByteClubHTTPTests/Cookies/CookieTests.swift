import HTTPTypes
import Testing

@testable import ByteClubHTTP

/// The address `text`, which is one.
func address(_ text: String) throws -> RequestURL {
    let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    let rest = parts[2].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    return try RequestURL(
        HTTPRequest(
            method: .get, scheme: String(parts[0].dropLast()), authority: rest[0],
            path: "/" + (rest.count > 1 ? rest[1] : "")))
}

struct CookieTests {
    private let now: Int64 = 1_000_000_000

    private func cookie(_ field: String, _ url: String = "https://www.example.com/a/b") throws -> Cookie? {
        Cookie(Array(field.utf8), from: try address(url), at: now)
    }

    @Test("the examples of RFC 6265 section 3.1 are read as it says")
    func examples() throws {
        let plain = try #require(try cookie("SID=31d4d96e407aad42"))
        #expect(plain.name == "SID" && plain.value == "31d4d96e407aad42")
        #expect(plain.domain == "www.example.com" && plain.isHostOnly && plain.path == "/a" && plain.expires == nil)
        let wide = try #require(try cookie("SID=31d4d96e407aad42; Path=/; Domain=example.com"))
        #expect(wide.domain == "example.com" && !wide.isHostOnly && wide.path == "/")
        let secure = try #require(try cookie("SID=31d4d96e407aad42; Path=/; Secure; HttpOnly"))
        #expect(secure.isSecure && secure.isHTTPOnly)
        let old = try #require(try cookie("lang=en-US; Expires=Wed, 09 Jun 2021 10:18:14 GMT", "https://e.com/"))
        #expect(old.expires == now + 400 * 86400)
        let gone = try #require(try cookie("lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT"))
        #expect(gone.expires == 784_111_777 && gone.isExpired(at: now))
    }

    @Test(
        "attributes are read leniently, the last of each counts, and Max-Age beats Expires",
        arguments: [
            ("a=b;max-age=10;expires=Sun, 06 Nov 1994 08:49:37 GMT", 10), ("a=b; MAX-AGE=5; Max-Age=7", 7),
            ("a=b; max-age=-1", Int64.min), ("a=b; max-age=0", .min), ("a=b; max-age=99999999999999999999", 34_560_000),
            ("a=b; max-age= 9 ", 9),
        ])
    func ages(field: String, seconds: Int64) throws {
        #expect(try cookie(field)?.expires == (seconds == .min ? .min : now + seconds))
    }

    @Test(
        "a Max-Age or a date that is none leaves a cookie of the session",
        arguments: ["max-age=x", "max-age=1x", "max-age=+1", "max-age=", "max-age", "expires=now", "expires"])
    func noAges(attribute: String) throws {
        let found = try #require(try cookie("a=b; \(attribute)"))
        #expect(found.expires == nil)
    }

    @Test(
        "what is no cookie, or promises what it does not keep, is ignored",
        arguments: [
            "", "=", "=b", "a", ";a=b", "a=b\u{1}", "a=b\u{7F}", "a=\(String(repeating: "x", count: 4096))",
            "a=b; domain=com", "a=b; domain=other.com", "a=b; domain=w.example.com", "a=b; domain=example.com.",
            "a=b; domain=ample.com", "__Secure-a=b", "__Host-a=b; secure", "__host-a=b; secure; path=/x",
            "__Host-a=b; secure; path=/; domain=www.example.com", "__SECURE-a=b; path=/",
        ])
    func ignored(field: String) throws { #expect(try cookie(field) == nil) }

    @Test("blanks, quotes, signs within a value and attributes nobody knows are taken as RFC 6265 section 5.2 says")
    func oddities() throws {
        #expect(try cookie(" a = b c ; x=y")?.value == "b c")
        #expect(try cookie("a=\"b=c\"")?.value == "\"b=c\"")
        #expect(try cookie("a=b; path=rel")?.path == "/a")
        #expect(try cookie("a=b; path=/x; path=")?.path == "/a")
        #expect(try cookie("a=b; domain=; domain=.Example.COM")?.domain == "example.com")
        #expect(try cookie("a=b; samesite=LAX")?.sameSite == .lax)
        #expect(try cookie("a=b; samesite=later")?.sameSite == nil)
        #expect(try cookie("__Host-a=b; secure; path=/")?.name == "__Host-a")
        #expect(try cookie("a=b; secure", "http://www.example.com/") == nil)
        #expect(try cookie("a=b; domain=localhost", "http://localhost/")?.isHostOnly == true)
        #expect(try cookie("a=b; domain=10.0.0.1", "http://10.0.0.1/")?.isHostOnly == true)
        #expect(try cookie("a=b; domain=0.0.1", "http://10.0.0.1/") == nil)
        #expect(Cookie([97, 61, 255], from: try address("http://e.com/"), at: now) == nil)
    }

    @Test(
        "default paths and path matches are those of RFC 6265 section 5.1.4",
        arguments: [("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b/c", "/a/b")])
    func paths(path: String, folder: String) { #expect(Cookie.defaultPath(path) == folder) }

    @Test("a path matches itself and what lies below it, a domain its hosts, and no address")
    func matches() {
        for (path, prefix, does) in [
            ("/a", "/a", true), ("/a/b", "/a", true), ("/ab", "/a", false), ("/a/b", "/a/", true), ("/", "/a", false),
            ("/x", "/", true),
        ] { #expect(Cookie.path(path, isUnder: prefix) == does, "\(path) \(prefix)") }
        for (host, domain, does) in [
            ("a.b.c", "b.c", true), ("b.c", "b.c", true), ("ab.c", "b.c", false), ("1.2.3.4", "3.4", false),
            ("1.2.3.4", "1.2.3.4", true), ("c", "b.c", false),
        ] { #expect(Cookie.host(host, isWithin: domain) == does, "\(host) \(domain)") }
    }

    @Test(
        "dates are read as RFC 6265 section 5.1.1 says",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("06 november 1994 8:49:37", 784_111_777),
            ("1994 6 Nov 08:49:37", 784_111_777), ("08:49:37 6 1994nov Nov", 784_111_777),
            ("Nov 6 94 08:49:37x", 784_111_777),
            ("6 Nov 69 08:49:37", 3_150_953_377), ("30 Feb 2000 00:00:00", nil), ("1 Jan 1600 00:00:00", nil),
            ("1 Jan 2000 24:00:00", nil), ("1 Jan 2000 00:60:00", nil), ("1 Jan 2000 00:00:60", nil),
            ("1 Jan 2000", nil), ("Jan 2000 00:00:00", nil), ("32 Jan 2000 00:00:00", nil), ("", nil),
        ])
    func dates(text: String, seconds: Int64?) { #expect(CookieDate.seconds(text) == seconds) }
}

struct HTTPDateTests {
    @Test(
        "the three forms of RFC 9110 section 5.6.7 are read, and nothing else",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun, 06 Nov 1994 08:49:37", nil), ("0", nil), ("", nil),
            ("Sun, 06 Nov 1994 08:49 GMT", nil), ("Sun, 31 Nov 1994 08:49:37 GMT", nil),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Thu, 29 Feb 1900 00:00:00 GMT", nil),
            ("Sun, 06 Nov 94 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 8:49:37 GMT", nil),
        ])
    func forms(text: String, seconds: Int64?) { #expect(HTTPDate.seconds(text, now: 1_700_000_000) == seconds) }

    @Test("a year of two digits is at most 50 years ahead")
    func shortYears() {
        let now: Int64 = 1_700_000_000  // 2023
        #expect(HTTPDate.seconds("Sunday, 01-Jan-73 00:00:00 GMT", now: now) == 3_250_454_400)
        #expect(HTTPDate.seconds("Sunday, 01-Jan-74 00:00:00 GMT", now: now) == 126_230_400)
    }
}
