import ByteClubCore
import Glibc
import NIOCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct PaceTests {
    private static func hurry(_ configuration: inout ClubConfiguration) {
        configuration.connections.idle = .seconds(4)
        configuration.connections.head = .seconds(3)
        configuration.connections.stall = .seconds(3)
        configuration.connections.slowest = 1000
    }

    /// Sends a piece every so often until the server ends the connection; tells what it answered and after how long.
    private func drip(
        _ start: String, _ piece: String, every milliseconds: Int, port: UInt16
    ) async -> (answer: String, seconds: Double) {
        await BackgroundThread.run {
            guard let connection = RawConnection(port: port, timeout: 60) else { return ("no connection", 0) }
            let begin = ContinuousClock.now
            connection.send(Array(start.utf8))
            while begin.duration(to: .now) < .seconds(60) {
                guard !connection.hasInput(within: milliseconds), connection.send(Array(piece.utf8)) else { break }
            }
            let answer = String(decoding: connection.receiveAll(), as: UTF8.self)
            return (answer, begin.duration(to: .now) / .seconds(1))
        }
    }

    @Test("a head that drips in ends with 408, and others are served meanwhile")
    func slowHead() async throws {
        try await TestServer.run(adjusting: Self.hurry) { server in
            async let slow = drip("GET /1/account/info HTTP/1.1\r\nHost: x\r\nX-A: ", "a", every: 50, port: server.port)
            for _ in 0..<20 {
                #expect(try await server.get("/1/account/info").status == 200)
                try await Task.sleep(for: .milliseconds(20))
            }
            let (answer, seconds) = await slow
            #expect(answer.hasPrefix("HTTP/1.1 408 ") && answer.contains(#"{"error":"#), "\(answer)")
            #expect(seconds > 2.5, "\(seconds)")
        }
    }

    @Test("a body that drips in ends with 408 and stores nothing; a slow but steady one is taken")
    func slowBody() async throws {
        try await TestServer.run(adjusting: Self.hurry) { server in
            let head =
                "PUT /1/files_put/auto/a.md HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\nContent-Length: 28000\r\n\r\n"
            let (answer, seconds) = await drip(head, "a", every: 50, port: server.port)
            #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
            #expect(seconds > 2.5, "\(seconds)")
            let stored = try await server.get("/1/metadata/auto/a.md")
            #expect(stored.status == 404)
            let chunk = String(repeating: "a", count: 200)
            let (steady, _) = await drip(head, chunk, every: 50, port: server.port)
            #expect(steady.hasPrefix("HTTP/1.1 200 "), "\(steady)")
        }
    }

    @Test("a connection without a request is closed in silence, before the first and between two")
    func idle() async throws {
        try await TestServer.run(adjusting: Self.hurry) { server in
            let (first, seconds) = await drip("", "", every: 100, port: server.port)
            #expect(first.isEmpty && seconds < 115, "\(first) \(seconds)")
            let request = "GET /1/account/info HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\n\r\n"
            let (served, kept) = await drip(request, "", every: 100, port: server.port)
            #expect(served.hasPrefix("HTTP/1.1 200 ") && served.split(separator: "HTTP/1.1 ").count == 1, "\(served)")
            #expect(kept > 3.5 && kept < 115, "\(kept)")
        }
    }

    @Test("a client that does not take its answer is given up")
    func slowReader() async throws {
        try await TestServer.run(adjusting: Self.hurry) { server in
            let size = 32 << 20
            let body = [UInt8](repeating: 7, count: size)
            let put = try await server.send("PUT /1/files_put/auto/big.bin", body: body)
            #expect(put.status == 200)
            let request = Array("GET /1/files/auto/big.bin HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\n\r\n".utf8)
            let (port, log) = (server.port, server.log)
            let isGivenUp = { @Sendable in log.all.contains { $0.contains("the answer was not sent completely") } }
            let received = await BackgroundThread.run { () -> Int in
                guard let connection = RawConnection(port: port) else { return -1 }
                connection.send(request)
                _ = connection.receive()
                for _ in 0..<6000 where !isGivenUp() { usleep(10_000) }
                return connection.receiveAll().count
            }
            #expect(received > 0 && received < size - 65536)
            #expect(isGivenUp())
            let whole = try await server.get("/1/files/auto/big.bin")
            #expect(whole.body.count == size)
        }
    }

    @Test("a long poll outlives all of these limits, and ends when its client hangs up")
    func longPoll() async throws {
        try await TestServer.run(adjusting: Self.hurry) { server in
            let cursor = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            async let poll = server.send("GET /1/longpoll_delta?cursor=\(cursor)&timeout=480", [])
            try await Task.sleep(for: .seconds(6))
            try await server.store("/a.md")
            #expect(try await poll.text == #"{"changes":true}"#)
            let request = Array("GET /1/longpoll_delta?cursor=\(cursor)x&timeout=480 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            #expect(await RawExchange.send(request, port: server.port)?.status == 400)
            let next = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            let wait = Array("GET /1/longpoll_delta?cursor=\(next)&timeout=480 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            let port = server.port
            await BackgroundThread.run {
                guard let connection = RawConnection(port: port) else { return }
                connection.send(wait)
                for _ in 0..<6000 where server.store.waiterCount == 0 { usleep(5000) }
                #expect(server.store.waiterCount == 1)
            }
            // Some are gone before their request is understood.
            await BackgroundThread.run {
                for _ in 0..<100 { RawConnection(port: port)?.send(wait) }
            }
            try await Task.sleep(for: .milliseconds(200))
            try await eventually("nobody waits for a client that is gone") { server.store.waiterCount == 0 }
        }
    }
}
