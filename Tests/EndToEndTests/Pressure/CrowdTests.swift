import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A crowd") struct CrowdTests {
        /// Multiplies the numbers of clients; the server's limits grow with them.
        private static let scale = Settings.number("BYTECLUB_CROWD") ?? 1

        private func start(_ arguments: [String] = []) async throws -> (ServerProcess, TemporaryDirectory, String) {
            let folder = try TemporaryDirectory()
            // The crowd comes from one address, of which no more than an eighth would be served if it were nobody's
            // proxy.
            let server = try await ServerProcess(
                data: folder.path + "/data",
                arguments: ["--connections", "\(8192 * Self.scale)", "--trusted-proxies", "127.0.0.1"] + arguments)
            return (server, folder, try await server.addMember("ann"))
        }

        private func answerTime(_ server: ServerProcess, _ token: String) async -> Double {
            let start = ContinuousClock.now
            let answer = await RawExchange.send(
                "GET /1/account/info", fields: ["Authorization: Bearer \(token)"], port: server.port)
            #expect(answer?.status == 200, "\(answer?.start ?? "no answer")")
            return start.duration(to: .now) / .seconds(1)
        }

        @Test("500 slow readers and 500 slow writers leave memory small and the server quick")
        func slow() async throws {
            let (server, folder, token) = try await start()
            defer { _ = folder }
            let port = server.port
            let authorization = "Host: x\r\nAuthorization: Bearer \(token)\r\n"
            let large = [UInt8](repeating: 7, count: 64 << 20)
            let put = await RawExchange.send(
                "PUT /1/files_put/auto/big.bin",
                fields: ["Authorization: Bearer \(token)", "Content-Length: \(large.count)"], body: large, port: port)
            #expect(put?.status == 200)
            let process = try #require(server.process)
            let before = process.currentPeakMemory()
            let count = 500 * Self.scale
            let (readers, writers) = await BackgroundThread.run {
                let readers = Crowd(count, port: port)
                #expect(readers.send(Array("GET /1/files/auto/big.bin HTTP/1.1\r\n\(authorization)\r\n".utf8)) == count)
                let writers = Crowd(count, port: port)
                let head = "PUT /1/files_put/auto/slow.bin HTTP/1.1\r\n\(authorization)Content-Length: 10000000\r\n\r\n"
                // More than what is kept in memory, so that each has a file under way.
                #expect(writers.send(Array(head.utf8) + [UInt8](repeating: 1, count: 100_000)) == count)
                for _ in 0..<3 {
                    #expect(readers.receive(upTo: 512).count { !$0.isEmpty } == count)
                    #expect(writers.send([1, 2, 3]) == count)
                }
                return (readers, writers)
            }
            let seconds = await answerTime(server, token)
            let after = process.currentPeakMemory()
            print(
                "\(count) slow readers and \(count) slow writers: \(before >> 20) to \(after >> 20) MiB, others \(seconds) s"
            )
            #expect(readers.count == count && writers.count == count)
            #expect(seconds < 20)
            #expect(after < 400 << 20 * Int64(Self.scale), "the server held \(after) bytes")
        }

        @Test("2,000 long polls wait at once, are woken by one change, and are gone when their clients are")
        func longPolls() async throws {
            let (server, folder, token) = try await start()
            defer { _ = folder }
            let port = server.port
            let fields = ["Authorization: Bearer \(token)"]
            let delta = await RawExchange.send(
                "POST /1/delta/latest_cursor", fields: fields + ["Content-Length: 0"], port: port)
            let json = try JSONValue.parse(try #require(delta).body)
            let cursor = try #require(json["cursor"]?.text)
            let process = try #require(server.process)
            let before = process.currentPeakMemory()
            let count = 2000 * Self.scale
            let request = Array("GET /1/longpoll_delta?cursor=\(cursor)&timeout=480 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            let polls = await BackgroundThread.run {
                let polls = Crowd(count, port: port)
                #expect(polls.send(request) == count)
                return polls
            }
            let waiting = await answerTime(server, token)
            let clock = ContinuousClock()
            let start = clock.now
            let put = await RawExchange.send(
                "PUT /1/files_put/auto/a.md", fields: fields + ["Content-Length: 1"], body: [65], port: port)
            #expect(put?.status == 200)
            let answers = await BackgroundThread.run { polls.receive(upTo: 4096) }
            let woken = start.duration(to: clock.now) / .seconds(1)
            #expect(answers.count { $0.hasSuffix(#"{"changes":true}"#) } == count)
            let after = process.currentPeakMemory()
            print(
                "\(count) long polls: \(before >> 20) to \(after >> 20) MiB, others \(waiting) s, all woken in \(woken) s"
            )
            #expect(waiting < 20 && woken < 20)
            #expect(after < 160 << 20 * Int64(Self.scale), "the server held \(after) bytes")
        }

        @Test("a server without descriptors goes on when it has some again")
        func descriptors() async throws {
            let folder = try TemporaryDirectory()
            let data = folder.path + "/data"
            let program = Program.path("byteclub-server")
            let process = try Program.start(
                "/bin/sh", ["-c", "ulimit -n 70; exec '\(program)' --data '\(data)' --listen 127.0.0.1:0"])
            defer { process.kill9() }
            let line = try #require(await process.line { $0.hasPrefix("listening on ") })
            let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
            await BackgroundThread.run {
                let crowd = Crowd(200, port: port)
                _ = crowd.send(Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
                usleep(300_000)
            }
            // Until the crowd's connections have been taken and found closed, there are too many.
            try await eventually("the server answers") {
                await RawExchange.send("GET /1/nothing", port: port)?.status == 404
            }
            process.send(SIGTERM)
            #expect(await process.result().status == 0)
        }
    }
}
