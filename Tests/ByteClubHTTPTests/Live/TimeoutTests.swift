import Glibc
import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct TimeoutTests {
        @Test("tasks waiting for their turn do not time out")
        func queued() async throws {
            let server = try FaultServer { peer, _ in
                usleep(300_000)
                return peer.respond(200, "late") ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.maximumTasksPerHost = 1
                $0.timeoutForRequest = .milliseconds(500)
            } _: { session in
                let tasks = (0..<4).map { _ in session.dataTask(server.request()) }
                for task in tasks { task.resume() }
                for task in tasks {
                    let result = try await task.value
                    #expect(result.bytes.count == 4)
                }
            }
        }

        @Test("a server that goes silent is given up after the idle time, bytes that trickle keep it going")
        func idle() async throws {
            let gate = Gate()
            let server = try FaultServer { peer, request in
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
                if request.target == "/silent" { gate.pass() }
                for _ in 0..<8 {
                    usleep(100_000)
                    peer.send("x")
                }
                return .keep
            }
            defer { server.stop() }
            try await withSession {
                $0.timeoutForRequest = .milliseconds(300)
            } _: { session in
                let clock = ContinuousClock()
                let start = clock.now
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.get, "/silent"))
                }
                #expect(error?.code == .timedOut)
                #expect(error?.phase == .receive)
                #expect((.milliseconds(290) ... .milliseconds(600)).contains(start.duration(to: clock.now)))
                gate.open()
                let (bytes, _) = try await session.data(for: server.request(.get, "/trickle"))
                #expect(bytes.count == 8)
                var options = TaskOptions()
                options.timeoutForRequest = .milliseconds(40)
                let hasty = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.get, "/trickle"), options: options)
                }
                #expect(hasty?.code == .timedOut)
            }
        }

        @Test("the time for the whole task includes waiting, and trickling bytes do not prolong it")
        func resource() async throws {
            let server = try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\n\r\n")
                for _ in 0..<100 {
                    usleep(20_000)
                    if !peer.send("x") { break }
                }
                return .close
            }
            defer { server.stop() }
            try await withSession {
                $0.maximumTasksPerHost = 1
                $0.timeoutForResource = .milliseconds(300)
            } _: { session in
                let tasks = (0..<3).map { _ in session.dataTask(server.request()) }
                let start = ContinuousClock().now
                for task in tasks { task.resume() }
                for task in tasks {
                    let error = await failure { () async throws(TransferError) in try await task.value }
                    #expect(error?.code == .timedOut)
                }
                #expect(start.duration(to: ContinuousClock().now) < .milliseconds(850))
            }
        }

        @Test("a port nobody listens on is told at once, and an address that does not answer after the time to connect")
        func connect() async throws {
            let server = try FaultServer.echo()
            let request = server.request()
            server.stop()
            await server.accepted(0)
            try await withSession {
                $0.connectTimeout = .milliseconds(200)
            } _: { session in
                var error = await failure { () async throws(TransferError) in try await session.data(for: request) }
                while error == nil {
                    error = await failure { () async throws(TransferError) in try await session.data(for: request) }
                }
                #expect(error?.code == .cannotConnect || error?.code == .connectionLost)
                let silent = try SilentPort()
                let late = await failure { () async throws(TransferError) in try await session.data(for: silent.request)
                }
                #expect(late?.code == .timedOut)
                #expect(late?.phase == .connect)
                #expect(late?.isRetryable == true)
            }
        }
    }
}
