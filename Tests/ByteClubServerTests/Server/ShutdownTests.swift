import ByteClubCore
import Dispatch
import NIOCore
import ServiceLifecycle
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct ShutdownTests {
    @Test("a shutdown answers long polls at once and lets an upload that has begun end", .timeLimit(.minutes(5)))
    func drain() async throws {
        // Longer than a loaded machine may take between two steps.
        let patience = { (configuration: inout ClubConfiguration) in
            (configuration.connections.drain, configuration.connections.stall) = (.minutes(4), .minutes(4))
        }
        try await TestServer.run(adjusting: patience) { server in
            let cursor = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            let port = server.port
            let head = "PUT /1/files_put/auto/a.md HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\nExpect: 100-continue\r\n"
            let (steps, step) = AsyncStream<String>.makeStream()
            let isStopping = DispatchSemaphore(value: 0)
            async let upload = BackgroundThread.run { () -> String in
                guard let connection = RawConnection(port: port) else { return "no connection" }
                connection.send(Array((head + "Content-Length: 3\r\n\r\n").utf8))
                step.yield(String(decoding: connection.receive(), as: UTF8.self))
                connection.send([1])
                isStopping.wait()
                connection.send([2, 3])
                return String(decoding: connection.receiveAll(), as: UTF8.self)
            }
            async let poll = server.send("GET /1/longpoll_delta?cursor=\(cursor)&timeout=480", [])
            var begun = steps.makeAsyncIterator()
            #expect(await begun.next()?.hasPrefix("HTTP/1.1 100") == true)
            for _ in 0..<2000 where server.store.waiterCount == 0 { try await Task.sleep(for: .milliseconds(5)) }
            await server.group.triggerGracefulShutdown()
            #expect(try await poll.text == #"{"changes":false}"#)
            isStopping.signal()
            #expect(await upload.hasPrefix("HTTP/1.1 200"))
        }
    }
}
