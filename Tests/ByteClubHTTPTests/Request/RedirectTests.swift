import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct RedirectTests {
    private let key = HTTPField(name: HTTPField.Name("X-Api-Key") ?? .cookie, value: "secret")

    private func head(_ method: HTTPRequest.Method, _ scheme: String = "https", body: Bool = false) throws
        -> RequestHead
    {
        var fields: HTTPFields = [.authorization: "Bearer secret", .cookie: "secret", .accept: "a/b"]
        fields.append(key)
        if body { fields[.contentType] = "text/plain" }
        let request = HTTPRequest(method: method, scheme: scheme, authority: "a.test", path: "/p", headerFields: fields)
        return try RequestHead(request, body: body ? .bytes([1]) : .none, options: TaskOptions(), additional: [:])
    }

    private func follow(_ head: RequestHead, _ status: Int, _ location: String) throws -> RequestHead? {
        let response = HTTPResponse(status: .init(code: status), headerFields: [.location: location])
        if case .follow(let next) = head.redirect(for: response, hops: 0) { return next }
        return nil
    }

    @Test(
        "scheme, host and port each make another origin, where no secret goes",
        arguments: ["http://a.test/", "http://b.test/", "http://a.test:81/", "https://a.test/"])
    func secrets(location: String) throws {
        let next = try #require(try follow(head(.get, "http"), 302, location))
        let isSame = location == "http://a.test/"
        #expect(next.fields.contains(.authorization) == isSame)
        #expect(next.fields.contains(.cookie) == isSame)
        #expect(next.fields.contains(key.name) == isSame)
        #expect(next.fields[.accept] == "a/b")
        if !isSame, next.url.origin.scheme == .http {
            let back = try #require(try follow(next, 302, "http://a.test/back"))
            #expect(!back.fields.contains(.authorization) && !back.fields.contains(key.name))
        }
    }

    @Test(
        "which methods and bodies a redirect keeps",
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
            (308, "POST", "POST"),
            (301, "PUT", "PUT"), (302, "PUT", "PUT"), (303, "PUT", "GET"), (307, "PUT", "PUT"), (303, "DELETE", "GET"),
        ])
    func methods(status: Int, method: String, expected: String) throws {
        let next = try #require(try follow(head(HTTPRequest.Method(method) ?? .get, body: true), status, "/q"))
        #expect(next.method.rawValue == expected)
        #expect(next.hasBody == (method == expected))
        #expect(next.fields.contains(.contentType) == next.hasBody)
    }

    @Test("HEAD stays HEAD")
    func headStays() throws {
        let next = try #require(try follow(head(.head), 303, "/q"))
        #expect(next.method == .head)
    }

    @Test("300 and 304, and a redirect without an address, are results", arguments: [200, 300, 304])
    func results(status: Int) throws {
        #expect(try follow(head(.get), status, "/q") == nil)
        guard case .none = try head(.get).redirect(for: HTTPResponse(status: .found), hops: 0) else {
            return #expect(Bool(false), "a redirect to nowhere was followed")
        }
    }

    @Test("from https to http, to nonsense, and in circles is an error of its own")
    func refused() throws {
        let cases: [(String, Int, TransferError.Code)] = [
            ("http://a.test/", 0, .insecureRedirect), ("ftp://a.test/", 0, .protocolViolation),
            ("/", 20, .tooManyRedirects),
        ]
        for (location, hops, code) in cases {
            let response = HTTPResponse(status: .found, headerFields: [.location: location])
            guard case .refuse(let error) = try head(.get).redirect(for: response, hops: hops) else {
                return #expect(Bool(false), "\(location) was followed")
            }
            #expect(error.code == code)
        }
    }

    @Test("a request's field beats the session's of the same name, whatever its case")
    func fields() throws {
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: "a", path: "/",
            headerFields: [HTTPField.Name("AUTHORIZATION") ?? .cookie: "mine", .contentLength: "7"])
        let head = try RequestHead(
            request, body: .none, options: TaskOptions(),
            additional: [.authorization: "session", .userAgent: "x", .transferEncoding: "chunked"])
        #expect(head.fields[.authorization] == "mine")
        #expect(head.fields[.userAgent] == "x")
        #expect(head.fields.count == 2)
    }

    @Test("an idempotency key that is no field value is refused")
    func badKey() {
        var options = TaskOptions()
        options.idempotencyKey = "a\r\nX-Evil: b"
        let request = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/")
        #expect(throws: TransferError.self) {
            try RequestHead(request, body: .none, options: options, additional: [:])
        }
    }
}
