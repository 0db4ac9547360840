import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

/// What a stranger gains by beginning forms and not ending them: next to nothing.
@Suite struct FormMemoryTests {
    private static let kind = "Content-Type: application/x-www-form-urlencoded"

    @Test("a form longer than any is refused before a byte of it is read")
    func longForms() async throws {
        try await TestServer.run { server in
            for target in ["/login", "/1/oauth2/token", "/1/delta"] {
                let fields = [Self.kind, "Content-Length: \(RequestCost.formLimit + 1)"]
                let answer = try await server.send("POST \(target)", fields, length: false)
                #expect(answer.status == 413, "\(target)")
            }
        }
    }

    @Test("a form without a length is read no further than the longest")
    func chunkedForms() async throws {
        try await TestServer.run { server in
            let piece = "1000\r\n" + String(repeating: "a", count: 4096) + "\r\n"
            let body = String(repeating: piece, count: RequestCost.formLimit / 4096 + 1)
            let fields = [Self.kind, "Transfer-Encoding: chunked"]
            let answer = try await server.send("POST /1/oauth2/token", fields, body: Array(body.utf8), length: false)
            #expect(answer.status == 413)
        }
    }

    @Test("who shows a wrong token is refused before the form is read")
    func wrongToken() async throws {
        try await TestServer.run { server in
            let fields = ["Authorization: Bearer wrong", Self.kind, "Content-Length: 60000"]
            let answer = try await server.send("POST /1/delta", fields, length: false)
            #expect(answer.status == 401)
            let asked = try await server.send(
                "POST /1/delta?access_token=wrong", [Self.kind, "Content-Length: 60000"], length: false)
            #expect(asked.status == 401)
        }
    }

    @Test("a stranger's unfinished forms take no more memory than a network's share, and members go on")
    func unfinishedForms() async throws {
        try await TestServer.run { server in
            let pool = server.club.shares.forms
            let length = 60_000
            let most = pool.bounds.network / length
            let head = "POST /login HTTP/1.1\r\nHost: x\r\n\(Self.kind)\r\nContent-Length: \(length)\r\n\r\nname=a"
            var crowd: Crowd? = Crowd(most + 30, port: server.port)
            #expect(crowd?.send(Array(head.utf8)) == crowd?.count)
            var refused = 0
            try await eventually("all but a few are refused") {
                refused += crowd?.look(upTo: 12).count { $0 == "HTTP/1.1 429" } ?? 0
                return refused == 30
            }
            #expect(pool.used == most * length)
            let large = "cursor=&path_prefix=&x=" + String(repeating: "y", count: 40_000)
            #expect(try await server.post("/1/delta", large).status == 200)
            crowd = nil
            try await eventually("the memory is back") { pool.used == 0 }
        }
    }
}
