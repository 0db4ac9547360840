import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct TimeoutTests {
        static let addressOfParent = unsafe getenv("BYTECLUB_STOPPED_URL").map { unsafe String(cString: $0) }

        @Test("tasks waiting for their turn do not time out")
        func queued() async throws {
            let server = try FaultServer { peer, _ in
                usleep(100_000)
                return peer.respond(200, "late") ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.maximumTasksPerHost = 1
                $0.timeoutForRequest = .seconds(3)
            } _: { session in
                let tasks = (0..<40).map { _ in session.dataTask(server.request()) }
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
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n")
                if request.target == "/silent" { gate.pass() }
                for _ in 0..<40 {
                    usleep(100_000)
                    if !peer.send("x") { break }
                }
                return .keep
            }
            defer { server.stop() }
            try await withSession {
                $0.timeoutForRequest = .seconds(3)
            } _: { session in
                let clock = ContinuousClock()
                let start = clock.now
                let silent = session.dataTask(server.request(.get, "/silent"))
                let trickle = session.dataTask(server.request(.get, "/trickle"))
                for task in [silent, trickle] { task.resume() }
                let error = await failure { () async throws(TransferError) in try await silent.value }
                #expect(error?.code == .timedOut)
                #expect(error?.phase == .receive)
                #expect((.milliseconds(2990) ... .seconds(13)).contains(start.duration(to: clock.now)))
                gate.open()
                let result = try await trickle.value
                #expect(result.bytes.count == 40)
                var options = TaskOptions()
                options.timeoutForRequest = .milliseconds(40)
                let hasty = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.get, "/trickle"), options: options)
                }
                #expect(hasty?.code == .timedOut)
            }
        }

        @Test("bytes that came while the program was stopped count", .enabled(if: addressOfParent == nil))
        func stopped() async throws {
            let isStopped = Gate()
            let server = try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1")
                isStopped.pass()
                peer.send("2")
                return .keep
            }
            defer { server.stop() }
            let url = "http://\(server.request().authority ?? "")/"
            let child = try #require(
                ChildProcess(running: "TimeoutTests/readsFirst", ["BYTECLUB_STOPPED_URL=\(url)"]))
            defer { child.destroy() }
            await server.received(1)
            try #require(child.stop())
            isStopped.open()
            // Longer than the program's limit for silence.
            try await Task.sleep(for: .seconds(11))
            child.proceed()
            try await eventually("the program ends") { child.hasEnded }
            #expect(child.wait() == 0)
        }

        @Test("a program that was stopped reads its sockets before it gives up", .enabled(if: addressOfParent != nil))
        func readsFirst() async throws {
            try await withSession {
                $0.timeoutForRequest = .seconds(10)
                $0.retryPolicy = .never
            } _: { session in
                let (bytes, _) = try await session.data(from: try #require(Self.addressOfParent))
                #expect(bytes == Array("12".utf8))
            }
        }

        @Test("the time for the whole task includes waiting, and trickling bytes do not prolong it")
        func resource() async throws {
            let server = try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\n\r\n")
                for _ in 0..<1000 {
                    usleep(20_000)
                    if !peer.send("x") { break }
                }
                return .close
            }
            defer { server.stop() }
            try await withSession {
                $0.maximumTasksPerHost = 1
                $0.timeoutForResource = .seconds(1)
            } _: { session in
                let tasks = (0..<20).map { _ in session.dataTask(server.request()) }
                let start = ContinuousClock().now
                for task in tasks { task.resume() }
                for task in tasks {
                    let error = await failure { () async throws(TransferError) in try await task.value }
                    #expect(error?.code == .timedOut)
                }
                #expect((.milliseconds(990) ... .seconds(10)).contains(start.duration(to: ContinuousClock().now)))
            }
        }

        @Test("a port nobody listens on is told at once, and an address that does not answer after the time to connect")
        func connect() async throws {
            let server = try FaultServer.echo()
            let request = server.request()
            server.stop()
            await server.accepted(0)
            try await withSession {
                $0.connectTimeout = .seconds(2)
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
