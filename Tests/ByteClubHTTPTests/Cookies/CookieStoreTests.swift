import Glibc
import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

struct CookieStoreTests {
    private let time: Int64 = 1_000_000_000

    private func insert(_ jar: inout CookieJar, _ field: String, _ url: String, at now: Int64? = nil) throws {
        let url = try address(url)
        guard let cookie = Cookie(Array(field.utf8), from: url, at: now ?? time) else { return }
        _ = jar.insert(cookie, from: url.origin.scheme, at: now ?? time)
    }

    private func sent(_ jar: inout CookieJar, _ url: String, at now: Int64? = nil) throws -> String {
        jar.cookies(for: try address(url), at: now ?? time).map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    @Test("cookies go to whom they belong, longer paths first, then earlier ones")
    func order() throws {
        var jar = CookieJar()
        try insert(&jar, "one=1; path=/", "http://www.example.com/")
        try insert(&jar, "two=2; path=/a", "http://www.example.com/")
        try insert(&jar, "three=3; domain=example.com; path=/", "http://www.example.com/")
        try insert(&jar, "four=4; secure; path=/", "https://www.example.com/")
        #expect(try sent(&jar, "http://www.example.com/a/b?c") == "two=2; one=1; three=3")
        #expect(try sent(&jar, "https://www.example.com/") == "one=1; three=3; four=4")
        #expect(try sent(&jar, "http://example.com/") == "three=3")
        #expect(try sent(&jar, "http://x.www.example.com:81/") == "three=3")
        #expect(try sent(&jar, "http://wwwexample.com/").isEmpty)
        try insert(&jar, "one=new; path=/", "http://www.example.com/")
        #expect(try sent(&jar, "http://www.example.com/") == "one=new; three=3")
        try insert(&jar, "one=; path=/; max-age=0", "http://www.example.com/")
        #expect(try sent(&jar, "http://www.example.com/") == "three=3")
    }

    @Test("a cookie ends in its second, and http pushes no secure cookie aside")
    func ends() throws {
        var jar = CookieJar()
        try insert(&jar, "a=1; max-age=10", "http://e.com/")
        #expect(try sent(&jar, "http://e.com/", at: time + 9) == "a=1")
        #expect(try sent(&jar, "http://e.com/", at: time + 10).isEmpty)
        try insert(&jar, "s=1; secure; domain=e.com; path=/x", "https://w.e.com/x/")
        for (field, url) in [
            ("s=2; path=/x", "http://w.e.com/"), ("s=2; path=/x/y", "http://e.com/"),
            ("s=2; domain=e.com; path=/x", "http://w.e.com/x/"),
        ] { try insert(&jar, field, url) }
        #expect(try sent(&jar, "https://w.e.com/x/y") == "s=1")
        try insert(&jar, "s=3; path=/", "http://w.e.com/")
        #expect(try sent(&jar, "https://w.e.com/x/y") == "s=1; s=3")
    }

    @Test("there are at most 150 cookies for a domain and 3000 in all; the least recently used go")
    func limits() throws {
        var jar = CookieJar()
        for index in 0..<CookieJar.mostPerDomain { try insert(&jar, "c\(index)=1; path=/", "http://e.com/") }
        try insert(&jar, "old=1; path=/old", "http://e.com/old/")
        #expect(jar.count == CookieJar.mostPerDomain)
        #expect(!jar.cookies(at: time).contains { $0.name == "c0" })
        _ = try sent(&jar, "http://e.com/")
        try insert(&jar, "new=1; path=/", "http://e.com/")
        #expect(!jar.cookies(at: time).contains { $0.name == "old" })
        for index in 0..<CookieJar.mostInAll { try insert(&jar, "a=1", "http://h\(index).com/") }
        #expect(jar.count == CookieJar.mostInAll)
        #expect(try sent(&jar, "http://e.com/").isEmpty && sent(&jar, "http://h2999.com/") == "a=1")
    }

    @Test("random cookies and requests agree with a list that is searched from end to end")
    func property() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(state: seed)
        let hosts = ["a.com", "b.a.com", "c.b.a.com", "xa.com", "1.2.3.4", "localhost"]
        let paths = ["/", "/p", "/p/q", "/pq", "/p/"]
        var jar = CookieJar()
        var model: [Cookie] = []
        var now = time
        for _ in 0..<3000 {
            now += Int64.random(in: 0...3, using: &random)
            let host = hosts.randomElement(using: &random) ?? ""
            let scheme = Bool.random(using: &random) ? "https" : "http"
            let url = try address("\(scheme)://\(host)\(paths.randomElement(using: &random) ?? "/")")
            if Int.random(in: 0..<3, using: &random) > 0 {
                var field = "n\(Int.random(in: 0..<3, using: &random))=\(Int.random(in: 0..<9, using: &random))"
                if Bool.random(using: &random) { field += "; path=\(paths.randomElement(using: &random) ?? "")" }
                if Bool.random(using: &random) { field += "; domain=\(hosts.randomElement(using: &random) ?? "")" }
                if Bool.random(using: &random) { field += "; max-age=\(Int.random(in: -1...20, using: &random))" }
                guard let cookie = Cookie(Array(field.utf8), from: url, at: now) else { continue }
                _ = jar.insert(cookie, from: url.origin.scheme, at: now)
                if let old = model.firstIndex(where: { $0.hasSamePlace(as: cookie) }) {
                    model[old] = cookie
                } else {
                    model.append(cookie)
                }
                if cookie.isExpired(at: now) { model.removeAll { $0.hasSamePlace(as: cookie) } }
            } else {
                let expected = model.filter { $0.applies(to: url) && !$0.isExpired(at: now) }
                let got = jar.cookies(for: url, at: now)
                #expect(Set(got) == Set(expected), "seed \(seed)")
                #expect(got.map(\.path.utf8.count) == got.map(\.path.utf8.count).sorted(by: >), "seed \(seed)")
            }
        }
    }

    private func request(_ host: String = "e.com") -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "https", authority: host, path: "/")
    }

    @Test("cookies that outlive a program are in the file as they were, the others are not; nobody else may read it")
    func file() throws {
        let folder = TemporaryFolder()
        let path = folder.file("cookies")
        let store = CookieStore(file: path)
        #expect(
            store.add("a=1; max-age=1000; secure; httponly; samesite=strict; domain=e.com", from: request("w.e.com")))
        store.add("b=\u{E4}; max-age=1000", from: request())
        store.add("session=1", from: request())
        store.flush()
        let kept = store.cookies.filter { $0.name != "session" }
        #expect(kept.count == 2 && CookieStore(file: path).cookies == kept)
        var status = stat()
        #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(folder.names == ["cookies"])
        store.remove(kept[0])
        store.flush()
        #expect(CookieStore(file: path).cookies == [kept[1]])
        store.removeAll()
        store.flush()
        #expect(CookieStore(file: path).cookies.isEmpty)
    }

    @Test("a file damaged at any byte, or cut short anywhere, is kept aside, and the store begins empty")
    func damage() throws {
        let folder = TemporaryFolder()
        let path = folder.file("cookies")
        let store = CookieStore(file: path)
        store.add("a=1; max-age=1000", from: request())
        store.flush()
        let good = try #require(folder.read("cookies"))
        var bad = good.indices.map { index in good.enumerated().map { $0 == index ? $1 ^ 0x10 : $1 } }
        bad += good.indices.map { Array(good[..<$0]) } + [good + [0]]
        for bytes in bad {
            _ = folder.write("cookies", bytes)
            let store = CookieStore(file: path)
            #expect(store.cookies.isEmpty && folder.read("cookies.damaged") == bytes)
            #expect(folder.read("cookies") == nil)
        }
        _ = folder.write("cookies", good)
        #expect(CookieStore(file: path).cookies.count == 1)
    }

    @Test("content that is whole but no cookies is refused as well")
    func nonsense() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(state: seed)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<120, using: &random)).map { _ in
                Bool.random(using: &random) ? UInt8(0) : UInt8.random(in: 0 ... .max, using: &random)
            }
            _ = try? CookieJar(bytes[...], at: 0)
            var reader = RecordReader(bytes[...])
            _ = try? StoredResponse(&reader)
        }
    }
}
