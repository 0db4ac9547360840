import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct MalformedTests {
    /// Sends bytes on a connection and tells the statuses that come back until the server closes it.
    private static func statuses(_ text: String, port: UInt16) async -> [Int] {
        await BackgroundThread.run {
            guard let connection = RawConnection(port: port) else { return [-1] }
            connection.send(Array(text.utf8))
            let answer = String(decoding: connection.receiveAll(), as: UTF8.self)
            return answer.split(separator: "HTTP/1.1 ").map { Int($0.prefix(3)) ?? 0 }
        }
    }

    @Test("a malformed head is answered with its reason, then the connection ends")
    func heads() async throws {
        try await TestServer.run { server in
            let many = String(repeating: "X-Y: z\r\n", count: 200)
            let long = String(repeating: "a", count: 20_000)
            for (text, status) in [
                ("GET / HTTP/1.1\r\nHost: x\r\nX: a\u{0}b\r\n\r\n", 400), ("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
                ("GE\u{0}T / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
                ("GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
                ("GET / HTTP/1.1\r\nHost: x\r\nX : a\r\n\r\n", 400), ("GET / HTTP/9.9\r\nHost: x\r\n\r\n", 505),
                ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505), ("GET / HTTPS/1.1\r\n\r\n", 400),
                ("GET / HTTP/1.1\r\nHost: x\r\n\(many)\r\n", 431), ("GET /\(long) HTTP/1.1\r\nHost: x\r\n\r\n", 431),
                ("GET / HTTP/1.1\r\nHost: x\r\nX: \(long)\r\n\r\n", 431),
                ("PUT /1/files_put/auto/a HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
                ("PUT /1/files_put/auto/a HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
                ("PUT /1/files_put/auto/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\n", 400),
                ("PUT /1/files_put/auto/a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
                (
                    "PUT /1/files_put/auto/a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "3\r\nabc\r\n0\r\n\r\n", 400
                ),
                ("PUT /1/files_put/auto/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n", 400),
            ] {
                let statuses = await Self.statuses(text, port: server.port)
                #expect(statuses == [status], "\(text.prefix(90))")
            }
            let good = try await server.get("/1/account/info")
            #expect(good.status == 200)
        }
    }

    @Test("nobody has a request taken for two hosts' at once: it names one, or it is refused")
    func hosts() async throws {
        try await TestServer.run { server in
            let ask = { @Sendable (version: String, hosts: [String]) in
                let fields = hosts.map { "Host: \($0)\r\n" }.joined()
                return await Self.statuses(
                    "GET /1/account/info HTTP/\(version)\r\n\(fields)Connection: close\r\n\(server.bearer)\r\n\r\n",
                    port: server.port)
            }
            for hosts in [
                [], [""], ["a", "b"], ["a", "a"], ["a b"], ["a/b"], ["a@b"], ["a,b"], ["<a>"], ["a:b"], ["a:99999"],
                ["[::1"], ["[a]"], ["[127.0.0.1]"], ["::1"], ["\u{e4}"], [":80"], [String(repeating: "a", count: 300)],
            ] {
                #expect(await ask("1.1", hosts) == [400], "\(hosts)")
            }
            for host in ["x", "club.example", "a_b-c.d:", "127.0.0.1:8017", "[::1]", "[2001:db8::1]:443", "CLUB:1"] {
                #expect(await ask("1.1", [host]) == [200], "\(host)")
                #expect(await ask("1.0", [host]) == [200], "\(host)")
            }
            #expect(await ask("1.0", []) == [200])
            #expect(await ask("1.0", ["a", "b"]) == [400])
            let good = "GET /1/account/info HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\n\r\n"
            let bad = "GET /1/account/info HTTP/1.1\r\n\(server.bearer)\r\n\r\n"
            #expect(await Self.statuses(good + good + bad + good, port: server.port) == [200, 200, 400])
        }
    }

    @Test("a body whose chunks make no sense is 400 and stores nothing")
    func chunks() async throws {
        try await TestServer.run { server in
            let head =
                "POST /1/fileops/create_folder HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(server.bearer)\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"
            for body in [
                "zz\r\nabc\r\n", "-1\r\n", "fffffffffffffffff\r\n", "3\r\nabcdef\r\n", "3;\u{0}\r\nabc\r\n",
                "12\r\nroot=auto&path=/x\r\n",
            ] {
                let statuses = await Self.statuses(head + body, port: server.port)
                #expect(statuses == [400], "\(body)")
            }
            let root = try await server.get("/1/metadata/auto/x")
            #expect(root.status == 404)
            let whole = await Self.statuses(head + "12\r\nroot=auto&path=/xy\r\n0\r\n\r\n", port: server.port)
            #expect(whole == [200])
        }
    }

    @Test("requests one after the other get their answers in order, and garbage behind them a last one")
    func pipelining() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "abc")
            let get = "GET /1/files/auto/a.md HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\n\r\n"
            let missing = "GET /1/files/auto/b.md HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\n\r\n"
            let port = server.port
            #expect(
                await Self.statuses(get + missing + get + "\u{1}\u{2}\r\n\r\n", port: port) == [200, 404, 200, 400])
            let many = String(repeating: get, count: 300) + "bye\r\n\r\n"
            let statuses = await Self.statuses(many, port: port)
            #expect(statuses.count == 301 && statuses.dropLast().allSatisfy { $0 == 200 } && statuses.last == 400)
        }
    }

    @Test("HTTP/1.0, absolute addresses and other methods are understood; HTTP/0.9 is not")
    func dialects() async throws {
        try await TestServer.run { server in
            let port = server.port
            let old = "GET /1/account/info HTTP/1.0\r\n\(server.bearer)\r\n"
            #expect(await Self.statuses(old + "\r\n" + old + "\r\n", port: port) == [200], "1.0 ends a connection")
            let kept = old + "Connection: keep-alive\r\n\r\n" + old + "\r\n"
            #expect(await Self.statuses(kept, port: port) == [200, 200])
            let fields = "Host: x\r\nConnection: close\r\n\(server.bearer)\r\n\r\n"
            #expect(await Self.statuses("GET http://x/1/account/info HTTP/1.1\r\n\(fields)", port: port) == [200])
            #expect(await Self.statuses("DELETE /1/account/info HTTP/1.1\r\n\(fields)", port: port) == [405])
            #expect(await Self.statuses("OPTIONS * HTTP/1.1\r\n\(fields)", port: port).first ?? 0 >= 400)
            #expect(await Self.statuses("CONNECT x:1 HTTP/1.1\r\n\(fields)", port: port).first ?? 0 >= 400)
            let ancient = await Self.statuses("GET /1/account/info\r\n\r\n", port: port)
            #expect(ancient == [505])
        }
    }
}
