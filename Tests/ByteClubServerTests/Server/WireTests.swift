import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct WireTests {
    @Test("unknown operations are 404, wrong methods 405, and each answer has the protocol's headers")
    func routing() async throws {
        try await TestServer.run { server in
            for (line, status) in [
                ("GET /nothing", 404), ("GET /1", 404), ("GET /1/login", 404), ("GET /1/nothing", 404),
                ("GET /2/account/info", 404),
                ("GET /1/previews/auto/a", 404), ("POST /1/account/info", 405), ("PUT /1/metadata/auto", 405),
                ("GET /1/delta", 405), ("DELETE /1/files/auto/a.md", 405), ("GET /1/fileops/delete", 405),
                ("POST /1/longpoll_delta", 405),
            ] {
                let answer = try await server.send(line, [])
                #expect(answer.status == status, "\(line)")
                #expect(try !answer.refusal().isEmpty)
                #expect(answer["Content-Type"] == "application/json")
                #expect((answer["Allow"] != nil) == (status == 405), "\(line)")
            }
            #expect(try await server.send("POST /1/account/info", [])["Allow"] == "GET")
            #expect(try await server.send("DELETE /1/files/auto/a.md", [])["Allow"] == "GET, HEAD, POST")
            let good = try await server.get("/1/account/info")
            let bad = try await server.get("/1/metadata/auto/none")
            for answer in [good, bad] {
                #expect(answer["Cache-Control"] == "no-cache" && answer["Pragma"] == "no-cache")
                #expect(answer["Date"]?.hasSuffix(" GMT") == true)
            }
            #expect(good["X-Dropbox-Request-Id"] != bad["X-Dropbox-Request-Id"])
        }
    }

    @Test(
        "a path that climbs, or holds a NUL, a backslash or bytes that are no UTF-8, is 400 and touches nothing",
        arguments: [
            "/../../etc/passwd", "/a/../../x", "/%2e%2e/x", "/..%2F..%2Fetc%2Fpasswd", "/a/./b", "/a%00.md", "/a%5Cb",
            "/%ff", "/a%20", "/%", "/%0A", "/" + String(repeating: "n", count: 300),
        ])
    func traversal(path: String) async throws {
        try await TestServer.run { server in
            for line in [
                "GET /1/files/auto", "GET /1/metadata/auto", "PUT /1/files_put/auto", "GET /1/thumbnails/auto",
            ] {
                #expect(try await server.send(line + path).status == 400, "\(line)\(path)")
            }
            let root = try await server.get("/1/metadata/auto").decoded(Metadata.self)
            #expect(root.contents?.isEmpty == true)
        }
    }

    @Test("what is no HTTP is refused with a reason or a closed connection, and the server goes on")
    func garbage() async throws {
        try await TestServer.run { server in
            let long =
                "GET /1/metadata/auto?x=" + String(repeating: "a", count: 200_000) + " HTTP/1.1\r\nHost: x\r\n\r\n"
            let fields = "GET / HTTP/1.1\r\n" + String(repeating: "X-Y: z\r\n", count: 20_000) + "\r\n"
            for text in ["\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", long, fields] {
                let answer = await RawExchange.send(Array(text.utf8), port: server.port)
                #expect([nil, 400, 431, 505].contains(answer?.status), "\(text.prefix(20))")
            }
            let after = try await server.get("/1/account/info")
            #expect(after.status == 200)
        }
    }

    @Test("one connection carries many requests, also after a refused upload")
    func reuse() async throws {
        try await TestServer.run { server in
            let fields = "Host: x\r\n\(server.bearer)\r\n"
            let requests =
                "PUT /1/files_put/auto/a.md HTTP/1.1\r\n\(fields)Content-Length: 3\r\n\r\nabc"
                + "PUT /1/files_put/auto/Thumbs.db HTTP/1.1\r\n\(fields)Content-Length: 3\r\n\r\nabc"
                + "GET /1/files/auto/a.md HTTP/1.1\r\n\(fields)Connection: close\r\n\r\n"
            let answer = try #require(await RawExchange.send(Array(requests.utf8), port: server.port))
            let all = answer.start + answer.text
            #expect(all.components(separatedBy: "HTTP/1.1 ").map { $0.prefix(3) } == ["", "200", "400", "200"])
            #expect(all.hasSuffix("abc"))
        }
    }

    @Test("each request has one line in the log, and no line holds a secret")
    func log() async throws {
        try await TestServer.run { server in
            let token = server.member.token
            _ = try await server.send("GET /1/account/info?access_token=\(token)", [])
            _ = try await server.send("GET /1/metadata/auto/x?secret=\(token)", ["Authorization: Bearer \(token)"])
            _ = try await server.send("GET /1/account/info", [#"Authorization: OAuth oauth_token="\#(token)""#])
            _ = try await server.send("POST /1/delta", [], body: Array("access_token=\(token)".utf8))
            try await server.store("/a.md", "12345")
            let line = try #require(await server.log.line { $0.contains("files_put") })
            #expect(line.contains("PUT /1/files_put/auto/a.md 200 ") && line.contains(" in=5 "))
            #expect(line.contains(" uid=\(server.member.uid) id="))
            let lines = try await server.log.lines(atLeast: 5)
            #expect(lines.count == 5)
            #expect(!lines.contains { $0.contains(token) || $0.contains("?") || $0.dropLast().contains("\n") })
        }
    }
}
