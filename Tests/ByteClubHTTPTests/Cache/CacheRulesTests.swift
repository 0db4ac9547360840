import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct CacheRulesTests {
    private static let now: Int64 = 784_111_777
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private func stored(
        _ fields: HTTPFields, status: Int = 200, url: String = "http://e.com/x", request: HTTPFields = [:],
        delay: Int64 = 0
    ) -> StoredResponse {
        let response = HTTPResponse(status: .init(code: status), headerFields: fields)
        return StoredResponse(
            url: url, selectors: CacheRules.selectors(of: response, for: request), response: response,
            requested: Self.now - delay, received: Self.now)
    }

    @Test("directives are read in any case, with quotes, and the most cautious way where they contradict themselves")
    func directives() {
        let control = CacheControl([.cacheControl: "Max-Age=60, No-Store , foo=\"a, no-cache\", public"])
        #expect(control.maxAge == 60 && control.noStore && !control.noCache && control.isExplicit)
        #expect(CacheControl([.cacheControl: "max-age=\"10\""]).maxAge == 10)
        #expect(CacheControl([.cacheControl: "max-age=x"]).maxAge == 0)
        #expect(CacheControl([.cacheControl: "max-age"]).maxAge == 0)
        #expect(CacheControl([.cacheControl: "max-age=5, max-age=6"]).maxAge == 0)
        #expect(CacheControl([.cacheControl: "max-age=99999999999999999999"]).maxAge == 1 << 31)
        #expect(CacheControl([.cacheControl: "no-cache=\"set-cookie\""]).noCache)
        #expect(CacheControl([.cacheControl: "max-stale"]).maxStale == .max)
        #expect(CacheControl([.cacheControl: "foo=\"unclosed, no-store"]).noStore == false)
        var pragma = HTTPFields()
        if let name = HTTPField.Name("Pragma") { pragma[name] = "No-Cache" }
        #expect(CacheControl(pragma).noCache)
        pragma[.cacheControl] = "max-age=1"
        #expect(!CacheControl(pragma).noCache)
    }

    @Test("freshness comes from max-age, then Expires, then a tenth of the time since the last change")
    func lifetimes() {
        let later = "Sun, 06 Nov 1994 09:49:37 GMT"
        let cases: [(HTTPFields, String, Int, Int64)] = [
            ([.cacheControl: "max-age=60", .expires: later, .date: Self.date], "http://e.com/x", 200, 60),
            ([.expires: later, .date: Self.date], "http://e.com/x", 200, 3600),
            (
                [.expires: "0", .date: Self.date, .lastModified: "Sat, 05 Nov 1994 08:49:37 GMT"], "http://e.com/x",
                200, 0
            ),
            ([.date: Self.date, .lastModified: "Sun, 06 Nov 1994 07:09:37 GMT"], "http://e.com/x", 200, 600),
            ([.date: Self.date, .lastModified: "Sun, 06 Nov 1994 07:09:37 GMT"], "http://e.com/x?q", 200, 0),
            ([.date: Self.date, .lastModified: "Sun, 06 Nov 1994 07:09:37 GMT"], "http://e.com/x", 201, 0),
            ([.date: Self.date, .lastModified: "Sat, 06 Nov 1993 07:09:37 GMT"], "http://e.com/x", 200, 86400),
            ([.date: Self.date, .lastModified: later], "http://e.com/x", 200, 0),
            ([:], "http://e.com/x", 200, 0),
        ]
        for (fields, url, status, lifetime) in cases {
            #expect(stored(fields, status: status, url: url).lifetime == lifetime, "\(fields)")
        }
    }

    @Test("the age is the larger of what clocks and caches on the way say, and grows (RFC 9111 section 4.2.3)")
    func ages() {
        #expect(stored([.date: Self.date]).age(at: Self.now + 5) == 5)
        #expect(stored([.date: "Sun, 06 Nov 1994 08:49:07 GMT"]).age(at: Self.now + 5) == 35)
        #expect(stored([.date: Self.date, .age: "100"], delay: 4).age(at: Self.now + 5) == 109)
        #expect(stored([:]).age(at: Self.now - 100) == 0)
    }

    @Test(
        "what may be kept",
        arguments: [
            ("max-age=60", 200, true), ("max-age=60, private", 200, true), ("no-store, max-age=60", 200, false),
            ("max-age=60", 206, false), ("max-age=60", 301, false), ("max-age=60", 304, false),
            ("max-age=60", 404, true), ("max-age=60", 500, true), ("", 500, false), ("max-age=0", 200, false),
            ("no-cache, max-age=60", 200, false), ("", 200, false),
        ])
    func storing(control: String, status: Int, may: Bool) {
        let fields: HTTPFields = control.isEmpty ? [:] : [.cacheControl: control]
        #expect(CacheRules.mayStore(stored(fields, status: status)) == may)
    }

    @Test("with a validator even a stale answer may be kept, with Vary: * none")
    func validators() {
        #expect(CacheRules.mayStore(stored([.eTag: "\"1\"", .cacheControl: "no-cache"])))
        #expect(CacheRules.mayStore(stored([.lastModified: Self.date])))
        #expect(!CacheRules.mayStore(stored([.eTag: "\"1\"", .vary: "accept, *"])))
    }

    @Test("how an answer is used follows its age, what the request asks, and the policy")
    func uses() {
        let one = stored([.cacheControl: "max-age=60", .date: Self.date, .eTag: "\"1\""])
        func use(_ asked: String, _ age: Int64, _ policy: CachePolicy = .protocolRules) -> CacheRules.Use {
            CacheRules.use(one, for: asked.isEmpty ? [:] : [.cacheControl: asked], policy: policy, at: Self.now + age)
        }
        #expect(use("", 59) == .serve && use("", 60) == .validate)
        #expect(
            use("no-cache", 0) == .validate && use("max-age=10", 10) == .serve && use("max-age=10", 11) == .validate)
        #expect(use("min-fresh=30", 30) == .serve && use("min-fresh=30", 31) == .validate)
        #expect(
            use("max-stale", 1000) == .serve && use("max-stale=5", 65) == .serve && use("max-stale=5", 66) == .validate)
        #expect(use("only-if-cached", 59) == .serve && use("only-if-cached", 61) == .ignore)
        #expect(use("", 0, .reload) == .ignore && use("", 9999, .storedElseLoad) == .serve)
        #expect(use("no-cache", 9999, .storedOnly) == .serve)
        let strict = stored([.cacheControl: "max-age=60, must-revalidate", .date: Self.date, .eTag: "\"1\""])
        #expect(
            CacheRules.use(strict, for: [.cacheControl: "max-stale"], policy: .protocolRules, at: Self.now + 61)
                == .validate)
    }

    @Test("an answer is for requests that are alike in what Vary names, and of the same Authorization")
    func variants() {
        let one = stored(
            [.vary: "Accept, X-Kind"], request: [.accept: "a", .authorization: "Bearer x", .acceptLanguage: "de"])
        #expect(one.matches([.accept: "a", .authorization: "Bearer x"]))
        #expect(!one.matches([.accept: "b", .authorization: "Bearer x"]) && !one.matches([.accept: "a"]))
        #expect(CacheRules.isSecret(one))
        #expect(!CacheRules.isSecret(stored([.vary: "Accept"], request: [.accept: "a"])))
        #expect(CacheRules.isSecret(stored([.vary: "Cookie"], request: [.cookie: "a"])))
        #expect(!CacheRules.isSecret(stored([.vary: "Cookie"])))
    }

    @Test("an answer is never for a request with another secret, whatever its Vary, and never on a disk beside one")
    func secrets() throws {
        let key = try #require(HTTPField.Name("X-Api-Key"))
        for name in [key, .cookie, .authorization] {
            let (one, none) = (stored([:], request: [name: "1", .accept: "a"]), stored([:], request: [.accept: "a"]))
            #expect(one.matches([name: "1"]) && !one.matches([name: "2"]) && !one.matches([:]), "\(name)")
            #expect(none.matches([:]) && !none.matches([name: "1"]), "\(name)")
            #expect(CacheRules.isSecret(one) && !CacheRules.isSecret(none), "\(name)")
        }
    }

    @Test("a 304 changes what it names but what describes the body, and no other answer")
    func freshening() {
        var one = stored([
            .eTag: "\"1\"", .contentType: "a/b", .contentLength: "3", .age: "9", .cacheControl: "max-age=1",
        ])
        let news: HTTPFields = [
            .eTag: "\"1\"", .cacheControl: "max-age=7", .contentType: "x/y", .setCookie: "a=b", .contentLength: "0",
        ]
        let told = HTTPResponse(status: .notModified, headerFields: news)
        let isTaken = one.freshen(with: told, requested: Self.now, received: Self.now + 1)
        #expect(isTaken)
        #expect(one.response.headerFields[.contentType] == "a/b" && one.response.headerFields[.contentLength] == "3")
        #expect(one.lifetime == 7 && one.received == Self.now + 1 && one.response.headerFields[.age] == nil)
        #expect(one.response.headerFields[.setCookie] == nil)
        let other = HTTPResponse(status: .notModified, headerFields: [.eTag: "\"2\""])
        let isOtherTaken = one.freshen(with: other, requested: 0, received: 0)
        #expect(!isOtherTaken)
    }

    @Test("fields of the connection, and cookies, are not kept")
    func hopFields() throws {
        let drop = try #require(HTTPField.Name("X-Drop"))
        let kept = StoredResponse.storable([
            .connection: "close, X-Drop", drop: "1", .setCookie: "a=b", .transferEncoding: "chunked", .eTag: "\"1\"",
        ])
        #expect(kept.map(\.name) == [.eTag])
    }

    @Test("a stored head comes back as it was")
    func coding() throws {
        var fields: HTTPFields = [.eTag: "\"1\"", .vary: "accept"]
        fields.append(HTTPField(name: .server, lenientValue: [0xE4, 0x20, 0xFF]))
        let one = stored(fields, request: [.accept: "ä"])
        var writer = RecordWriter()
        one.encode(to: &writer)
        var reader = RecordReader(writer.bytes[...])
        #expect(try StoredResponse(&reader) == one)
        #expect(reader.isAtEnd)
        for count in writer.bytes.indices {
            var short = RecordReader(writer.bytes[..<count])
            #expect(throws: RecordReader.Damage.self) { try StoredResponse(&short) }
        }
    }
}
