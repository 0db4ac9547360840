import ByteClubCore
import Glibc
import NIOCore
import ServiceLifecycle
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct DrainTests {
    @Test("a shutdown ends in time in spite of clients that are stuck, and idle connections close at once")
    func stuck() async throws {
        let clock = ContinuousClock()
        let (stops, stop) = AsyncStream<ContinuousClock.Instant>.makeStream()
        try await TestServer.run(adjusting: { $0.connections.drain = .seconds(1) }) { server in
            let port = server.port
            let body = [UInt8](repeating: 7, count: 32 << 20)
            let put = try await server.send("PUT /1/files_put/auto/big.bin", body: body)
            #expect(put.status == 200)
            let bearer = server.bearer
            async let closed = BackgroundThread.run { () -> Double in
                guard let idle = RawConnection(port: port) else { return -1 }
                idle.send(Array("GET /1/account/info HTTP/1.1\r\nHost: x\r\n\(bearer)\r\n\r\n".utf8))
                _ = idle.receive()
                let start = ContinuousClock.now
                return idle.receive().isEmpty ? start.duration(to: .now) / .seconds(1) : -1
            }
            await BackgroundThread.run {
                BackgroundThread.start {
                    // Each keeps its connection open and does nothing with it.
                    guard let reader = RawConnection(port: port), let writer = RawConnection(port: port) else { return }
                    reader.send(Array("GET /1/files/auto/big.bin HTTP/1.1\r\nHost: x\r\n\(bearer)\r\n\r\n".utf8))
                    writer.send(
                        Array(
                            "PUT /1/files_put/auto/b HTTP/1.1\r\nHost: x\r\n\(bearer)\r\nContent-Length: 9\r\n\r\n".utf8
                        ))
                    sleep(6)
                }
            }
            for _ in 0..<200 where server.club.monitor.connections.open < 3 {
                try await clock.sleep(for: .milliseconds(10))
            }
            try await clock.sleep(for: .milliseconds(200))
            #expect(server.club.monitor.connections.open == 3)
            stop.yield(clock.now)
            await server.group.triggerGracefulShutdown()
            let idleSeconds = await closed
            #expect(idleSeconds > 0 && idleSeconds < 0.9, "\(idleSeconds)")
        }
        var begun = stops.makeAsyncIterator()
        let start = try #require(await begun.next())
        let seconds = start.duration(to: clock.now) / .seconds(1)
        #expect(seconds > 0.8 && seconds < 4, "\(seconds)")
    }
}
