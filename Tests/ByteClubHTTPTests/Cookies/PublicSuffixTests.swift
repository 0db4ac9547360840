import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

struct PublicSuffixTests {
    /// A list of rules in libpsl's format; their first characters differ, so that each is a child of the first node.
    private static func list(_ rules: [(name: String, value: UInt8)]) -> [UInt8] {
        let labels = rules.map { Array($0.name.utf8) + [0x80 | $0.value] }
        var offsets: [UInt8] = []
        for index in labels.indices {
            offsets.append(UInt8(index == 0 ? labels.count : labels[index - 1].count))
        }
        if let last = offsets.popLast() { offsets.append(last | 0x80) }
        return Array(".DAFSA@PSL_0   \n".utf8) + offsets + labels.joined()
    }

    private static let small = list([
        ("com", 4), ("uk", 4), ("blog.test", 8), ("zone", 6), ("www.zone", 5),
    ])

    @Test("names, wildcards and exceptions are found")
    func rules() throws {
        let suffixes = try #require(PublicSuffixes(Self.small))
        for name in ["com", "uk", "blog.test", "zone", "any.zone", "blog.test."] {
            #expect(suffixes.contains(name), "\(name)")
        }
        for name in [
            "", ".", "c", "co", "comm", "a.com", "test", "a.blog.test", "www.zone", "a.any.zone", "x.www.zone",
        ] {
            #expect(!suffixes.contains(name), "\(name)")
        }
        #expect(PublicSuffixes([]) == nil && PublicSuffixes(Array("com\nuk\n".utf8)) == nil)
        #expect(PublicSuffixes(file: "/nonexistent") == nil && PublicSuffixes(file: "/usr") == nil)
    }

    @Test("the system's list has the rules that it had for years", .enabled(if: PublicSuffixes.system != nil))
    func system() throws {
        let suffixes = try #require(PublicSuffixes.system)
        let known = ["com", "uk", "co.uk", "github.io", "ck", "any.ck", "kawasaki.jp", "any.kawasaki.jp", "xn--fiqs8s"]
        for name in known { #expect(suffixes.contains(name), "\(name)") }
        let free = [
            "example.com", "example.co.uk", "me.github.io", "www.ck", "city.kawasaki.jp", "localhost", "club.test",
        ]
        for name in free { #expect(!suffixes.contains(name), "\(name)") }
    }

    @Test("no bytes of a list are a danger", arguments: 0..<20 as Range<UInt64>)
    func damage(seed: UInt64) throws {
        print("damaged list: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let letters = Array("acdeimouwz.".utf8)
        for _ in 0..<500 {
            var bytes = Self.small
            if Bool.random(using: &generator) {
                bytes = Array(bytes.prefix(16))
                bytes += (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                    .random(in: 0...255, using: &generator)
                }
            } else {
                for _ in 0..<3 {
                    let index = Int.random(in: 16..<bytes.count, using: &generator)
                    bytes[index] = .random(in: 0...255, using: &generator)
                }
                bytes.removeLast(Int.random(in: 0...(bytes.count - 16), using: &generator))
            }
            let suffixes = try #require(PublicSuffixes(bytes))
            let name = (0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in
                letters.randomElement(using: &generator)
            }
            _ = suffixes.contains(String(decoding: name, as: UTF8.self))
        }
    }

    @Test("a cookie for a public suffix is ignored, or is for the host alone if that is the suffix")
    func cookies() throws {
        let suffixes = try #require(PublicSuffixes(Self.small))
        func place(_ host: String, _ domain: String, _ suffixes: PublicSuffixes?) throws -> (String, Bool)? {
            let cookie = Cookie(
                Array("a=1; domain=\(domain)".utf8), from: try address("https://\(host)/"), at: 0, suffixes: suffixes)
            return cookie.map { ($0.domain, $0.isHostOnly) }
        }
        let cases: [(host: String, domain: String, place: (String, Bool)?)] = [
            ("x.blog.test", "blog.test", nil), ("x.blog.test", ".BLOG.test", nil),
            ("blog.test", "blog.test", ("blog.test", true)), ("a.x.blog.test", "x.blog.test", ("x.blog.test", false)),
            ("x.y.zone", "y.zone", nil), ("a.www.zone", "www.zone", ("www.zone", false)),
            ("www.e.com", "e.com", ("e.com", false)), ("www.e.com", "com", nil),
        ]
        for (host, domain, expected) in cases {
            let found = try place(host, domain, suffixes)
            #expect(found?.0 == expected?.0 && found?.1 == expected?.1, "\(host) \(domain)")
        }
        // Without the list only single labels are refused.
        let (wide, single) = (try place("x.blog.test", "blog.test", nil), try place("x.blog.test", "test", nil))
        #expect(wide?.0 == "blog.test" && single == nil)
    }

    @Test("a store drops the cookies for public suffixes that its file has from before there was a list")
    func stored() throws {
        let folder = TemporaryFolder()
        let path = folder.file("cookies")
        let request = HTTPRequest(method: .get, scheme: "https", authority: "x.blog.test", path: "/")
        do {
            let store = CookieStore(file: path, logger: nil, now: { 1_000_000_000 }, suffixes: nil)
            #expect(store.add("wide=1; max-age=1000; domain=blog.test", from: request))
            #expect(store.add("own=1; max-age=1000", from: request))
            store.flush()
        }
        let suffixes = try #require(PublicSuffixes(Self.small))
        let store = CookieStore(file: path, logger: nil, now: { 1_000_000_000 }, suffixes: suffixes)
        #expect(store.cookies.map(\.name) == ["own"])
        #expect(!store.add("wide=1; max-age=1000; domain=blog.test", from: request))
    }
}
