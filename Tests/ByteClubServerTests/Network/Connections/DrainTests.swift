import ByteClubCore
import Glibc
import NIOCore
import ServiceLifecycle
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct DrainTests {
    @Test(
        "a shutdown ends in time in spite of clients that are stuck, and idle connections close at once",
        .timeLimit(.minutes(5)))
    func stuck() async throws {
        let clock = ContinuousClock()
        let (stops, stop) = AsyncStream<ContinuousClock.Instant>.makeStream()
        try await TestServer.run(adjusting: { $0.connections.drain = .seconds(5) }) { server in
            let port = server.port
            let body = [UInt8](repeating: 7, count: 32 << 20)
            let put = try await server.send("PUT /1/files_put/auto/big.bin", body: body)
            #expect(put.status == 200)
            let bearer = server.bearer
            let (begun, begin) = AsyncStream<Void>.makeStream()
            async let closed = BackgroundThread.run { () -> ContinuousClock.Instant? in
                guard let idle = RawConnection(port: port) else { return nil }
                idle.send(Array("GET /1/account/info HTTP/1.1\r\nHost: x\r\n\(bearer)\r\n\r\n".utf8))
                _ = idle.receive()
                begin.yield()
                return idle.receive().isEmpty ? ContinuousClock.now : nil
            }
            BackgroundThread.start {
                // Each keeps its connection open and does nothing with it.
                guard let reader = RawConnection(port: port), let writer = RawConnection(port: port) else { return }
                reader.send(Array("GET /1/files/auto/big.bin HTTP/1.1\r\nHost: x\r\n\(bearer)\r\n\r\n".utf8))
                writer.send(
                    Array("PUT /1/files_put/auto/b HTTP/1.1\r\nHost: x\r\n\(bearer)\r\nContent-Length: 9\r\n\r\n".utf8))
                _ = reader.receive()
                begin.yield()
                sleep(60)
            }
            for await _ in begun.prefix(2) {}
            try await eventually("these three alone are there") { server.club.monitor.connections.open == 3 }
            try await clock.sleep(for: .milliseconds(200))
            let start = clock.now
            stop.yield(start)
            await server.group.triggerGracefulShutdown()
            let end = try #require(await closed)
            #expect(end > start && end - start < .seconds(4), "\(end - start)")
        }
        var begun = stops.makeAsyncIterator()
        let start = try #require(await begun.next())
        let seconds = start.duration(to: clock.now) / .seconds(1)
        #expect(seconds > 4 && seconds < 30, "\(seconds)")
    }
}
