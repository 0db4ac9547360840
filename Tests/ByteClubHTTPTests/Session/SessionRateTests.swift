import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct SessionRateTests {
        @Test("all tasks of a session share its rate in each direction, and none of them starves")
        func shared() async throws {
            let rate = 4 << 20
            let size = rate / 2
            let text = String(repeating: "x", count: size)
            let server = try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                return peer.respond(200, request.method == "GET" ? text : "") ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.rateLimit = 1 << 10
            } _: { session in
                for method in [HTTPRequest.Method.put, .get] {
                    let clock = ContinuousClock()
                    var rates: [Duration] = []
                    let body = method == .put ? Body.bytes(Array(text.utf8)) : .none
                    let tasks = (0..<4).map { _ in session.uploadTask(server.request(method), from: body) }
                    // They get the rate together, so that none has it while it is alone.
                    session.setRateLimit(1 << 10)
                    for task in tasks { task.resume() }
                    await server.received(method == .put ? 4 : 8)
                    let start = clock.now
                    session.setRateLimit(rate)
                    for task in tasks {
                        let metrics = try await task.value.metrics
                        rates.append(metrics.total)
                    }
                    let time = start.duration(to: clock.now)
                    print("session rate, 2 s of bytes by four \(method): \(time), each \(rates)")
                    #expect(time >= .milliseconds(1850) && time < .seconds(20))
                    // Served in turns, they end together.
                    #expect((rates.min() ?? .zero) > (rates.max() ?? .zero) / 2)
                }
            }
        }

        @Test("the rate can be changed while bytes move")
        func changed() async throws {
            let (size, body) = (8 << 20, Array(repeating: UInt8(1), count: 8 << 20))
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withSession {
                $0.rateLimit = 64 << 10
            } _: { session in
                let task = session.uploadTask(server.request(.put), from: .bytes(body))
                task.resume()
                for await progress in task.progressUpdates where progress.bytesSent > 0 { break }
                #expect(task.progress.bytesSent < size / 8)
                // At the old rate it would take two minutes.
                session.setRateLimit(nil)
                let clock = ContinuousClock()
                let time = try await clock.measure { _ = try await task.value }
                print("after the limit was lifted: \(time)")
                #expect(time < .seconds(60))
            }
        }
    }
}
