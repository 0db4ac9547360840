import ByteClubCore
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

/// Requests that are sent before the answers to those before them are read.
@Suite struct PipeliningTests {
    private static func get(_ target: String, _ server: TestServer) -> String {
        "GET \(target) HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\n\r\n"
    }

    /// Sends texts on a connection, ends its sending side when asked to, and tells the statuses that come back.
    private static func statuses(_ texts: [String], endsSending: Bool = false, port: UInt16) async -> [Int] {
        await BackgroundThread.run {
            guard let connection = RawConnection(port: port) else { return [-1] }
            for text in texts { connection.send(Array(text.utf8)) }
            if endsSending { connection.endSending() }
            let answer = String(decoding: connection.receiveAll(), as: UTF8.self)
            return answer.split(separator: "HTTP/1.1 ").map { Int($0.prefix(3)) ?? 0 }
        }
    }

    @Test("requests behind a body in chunks, whose end cannot be told in advance, are few or refused with a word")
    func behindChunks() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "abc")
            let post =
                "POST /1/delta HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\nTransfer-Encoding: chunked\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\n\r\n3\r\na=b\r\n0\r\n\r\n"
            let get = Self.get("/1/files/auto/a.md", server)
            let most = ConnectionFault.mostRequests
            let few = post + String(repeating: get, count: most - 1) + "bye\r\n\r\n"
            let port = server.port
            #expect(await Self.statuses([few], port: port) == Array(repeating: 200, count: most) + [400])
            let many = post + String(repeating: get, count: most + 20)
            #expect(await Self.statuses([many], port: port) == Array(repeating: 200, count: most) + [429])
        }
    }

    @Test("honest clients that send ahead get every answer in order, whatever stands between and wherever pieces end")
    func honest() async throws {
        try await TestServer.run { server in
            let get = Self.get("/1/files/auto/a.md", server)
            let head = "PUT /1/files_put/auto/a.md HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\nContent-Length: "
            let body = String(repeating: "\n\r\n", count: 100_000)
            let large = head + "\(body.utf8.count)\r\n\r\n" + body
            let small = head + "4\r\n\r\n\r\n\r\n"
            let unknown = Self.get("/1/nothing", server)
            let all = [large, get, small, get, unknown, get, large, small, get].joined() + "bye\r\n\r\n"
            let expected = [200, 200, 200, 200, 404, 200, 200, 200, 200, 400]
            let port = server.port
            #expect(await Self.statuses([all], port: port) == expected)
            // Byte by byte, and with bare line feeds.
            let slow = [get, small, get].joined()
            #expect(await Self.statuses(slow.map { String($0) } + ["bye\r\n\r\n"], port: port) == [200, 200, 200, 400])
        }
    }

    @Test("nobody fills the memory behind a request that offers another protocol: it is the connection's last")
    func otherProtocol() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "abc")
            let get = Self.get("/1/files/auto/a.md", server)
            let offer = get.dropLast(1) + "Connection: keep-alive, Upgrade\r\nUpgrade: h2c\r\n\r\n"
            let port = server.port
            #expect(await Self.statuses([offer + get], port: port) == [200])
            let flood = String(repeating: "x", count: 1 << 20)
            #expect(await Self.statuses([String(offer)] + Array(repeating: flood, count: 8), port: port) == [200])
        }
    }

    @Test("requests are answered that came before their client ended its side")
    func endOfInput() async throws {
        try await TestServer.run { server in
            try await server.store("/a.md", "abc")
            let get = Self.get("/1/files/auto/a.md", server)
            let port = server.port
            // The last one asks for the end: a program that another test has started may still hold the server's
            // socket.
            let last = get.dropLast(1) + "Connection: close\r\n\r\n"
            let many = await Self.statuses([String(repeating: get, count: 49) + last], endsSending: true, port: port)
            #expect(many == Array(repeating: 200, count: 50))
        }
    }

    @Test("an answer is whole for a slow client that ends its side behind the request")
    func slowHalfClose() async throws {
        try await TestServer.run { server in
            let bytes = 3_000_000
            try await server.store("/a.md", String(repeating: "a", count: bytes))
            let (port, get) = (server.port, Self.get("/1/files/auto/a.md", server))
            for _ in 0..<8 {
                let received = await BackgroundThread.run { () -> Int in
                    guard let connection = RawConnection(port: port) else { return -1 }
                    connection.send(Array(get.utf8))
                    connection.endSending()
                    var received = 0
                    while case let piece = connection.receive(atMost: 16 << 10), !piece.isEmpty {
                        received += piece.count
                        usleep(300)
                    }
                    return received
                }
                #expect(received > bytes)
            }
        }
    }

    @Test("nobody keeps work going by hanging up behind requests that were never read")
    func hangUp() async throws {
        try await TestServer.run { server in
            let cursor = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            let poll = "GET /1/longpoll_delta?cursor=\(cursor)&timeout=480 HTTP/1.1\r\nHost: x\r\n\r\n"
            let behind = String(repeating: Self.get("/1/account/info", server), count: 200)
            let port = server.port
            for text in [poll + behind, poll] {
                let connection = await BackgroundThread.run { () -> Crowd in
                    let connection = Crowd(1, port: port)
                    #expect(connection.send(Array(text.utf8)) == 1)
                    return connection
                }
                try await eventually("it waits") { server.store.waiterCount == 1 }
                await BackgroundThread.run { connection.push(Array(behind.utf8)) }
                #expect(connection.count == 1)
                connection.hangUp()
                try await eventually("nobody waits for a client that is gone") { server.store.waiterCount == 0 }
            }
        }
    }
}
