import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// What somebody without an account may cost the others.
    @Suite("A stranger") struct StrangerTests {
        private static let places = 64

        /// A server that tells what it counts, and the port where it does.
        private func start(_ arguments: [String] = []) async throws -> (
            ServerProcess, metrics: UInt16, TemporaryDirectory
        ) {
            let folder = try TemporaryDirectory()
            let server = try await ServerProcess(
                data: folder.path + "/data", arguments: ["--metrics-listen", "127.0.0.1:0"] + arguments)
            let line = await server.process?.line(of: .errors) { $0.contains("health and metrics on ") }
            let port = line?.split(separator: ":").last.flatMap { UInt16($0) }
            return (server, try #require(port), folder)
        }

        private func metric(_ name: String, _ port: UInt16) async throws -> Int64 {
            let page = try #require(await RawExchange.send("GET /metrics", port: port)?.text)
            let line = try #require(page.split(separator: "\n").first { $0.hasPrefix(name + " ") }, "\(page)")
            return try #require(line.split(separator: " ").last.flatMap { Int64($0) })
        }

        @Test("nobody keeps others out by opening connections from one address and doing nothing")
        func idleConnections() async throws {
            let (server, metrics, folder) = try await start(["--connections", "\(Self.places)"])
            defer { _ = folder }
            let port = server.port
            // More than the places and the few besides that are told that there is none.
            let crowd = await BackgroundThread.run { Crowd(4 * Self.places, port: port) }
            try await eventually("they have come") { try await metric("byteclub_connections", metrics) > 0 }
            for host: UInt8 in [2, 3, 1] {
                let status = await BackgroundThread.run {
                    guard let connection = RawConnection(port: port, from: LoopbackAddress(0, host)) else { return -1 }
                    connection.send(Array("GET /login HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
                    return RawMessage(connection.receive())?.status ?? 0
                }
                #expect(status == 200, "127.0.0.\(host)")
            }
            #expect(crowd.count == 4 * Self.places)
        }

        @Test("nobody fills the memory with requests behind an answer that is not taken: they stay where they are")
        func unreadAnswers() async throws {
            let (server, metrics, folder) = try await start()
            defer { _ = folder }
            let (port, count) = (server.port, 40)
            let fields = ["Authorization: Bearer \(try await server.addMember("ann"))"]
            let large = [UInt8](repeating: 7, count: 32 << 20)
            let put = await RawExchange.send(
                "PUT /1/files_put/auto/big.bin", fields: fields + ["Content-Length: \(large.count)"], body: large,
                port: port)
            #expect(put?.status == 200)
            let ask = "GET /1/files/auto/big.bin HTTP/1.1\r\nHost: x\r\n\(fields[0])\r\n\r\n"
            let flood = Array(String(repeating: "GET /1/nothing HTTP/1.1\r\nHost: x\r\n\r\n", count: 10_000).utf8)
            let crowd = await BackgroundThread.run { () -> Crowd in
                let crowd = Crowd(count, port: port)
                #expect(crowd.send(Array(ask.utf8)) == count)
                #expect(crowd.receive(upTo: 12).allSatisfy { $0 == "HTTP/1.1 200" })
                return crowd
            }
            let before = try await metric("byteclub_received_bytes_total", metrics)
            await BackgroundThread.run { crowd.push(flood) }
            // Each event loop serves some of these, and comes by what the crowd has sent several times meanwhile.
            for _ in 0..<200 {
                #expect(await RawExchange.send("GET /1/account/info", fields: fields, port: port)?.status == 200)
            }
            let taken = try await metric("byteclub_received_bytes_total", metrics) - before
            print(
                "of \(count) times \(flood.count) bytes behind unread answers \(taken) were taken in, others' included")
            #expect(taken < Int64(count * (16 << 10)))
            #expect(crowd.count == count)
        }

        @Test("nobody has pages made by the thousand that nobody reads")
        func unreadPages() async throws {
            let (server, metrics, folder) = try await start()
            defer { _ = folder }
            let (port, count) = (server.port, 2)
            let flood = Array(String(repeating: "GET /login HTTP/1.1\r\nHost: x\r\n\r\n", count: 2_000).utf8)
            let crowd = await BackgroundThread.run { () -> Crowd in
                let crowd = Crowd(count, port: port)
                crowd.push(flood)
                return crowd
            }
            var sent: [Int64] = []
            repeat {
                sent.append(try await metric("byteclub_sent_bytes_total", metrics))
                try await Task.sleep(for: .milliseconds(20))
            } while sent.count < 50 || sent.suffix(20).contains { $0 != sent.last }
            print("for \(count) times 2,000 pages that nobody reads, \((sent.last ?? 0) >> 10) KiB were made")
            #expect((sent.last ?? 0) > 0 && (sent.last ?? 0) < Int64(count * (512 << 10)))
            #expect(crowd.count == count)
        }

        @Test("nobody fills the log or keeps the server busy by asking without end")
        func flood() async throws {
            let (server, metrics, folder) = try await start()
            defer { _ = folder }
            let port = server.port
            let requests = 20_000
            let statuses = await BackgroundThread.run { () -> [Int] in
                guard let connection = RawConnection(port: port) else { return [] }
                let piece = String(repeating: "GET /1/nothing HTTP/1.1\r\nHost: x\r\n\r\n", count: 100)
                var answers: [UInt8] = []
                for _ in 0..<(requests / 100) {
                    connection.send(Array(piece.utf8))
                    while connection.hasInput(within: 0) { answers += connection.receive() }
                }
                connection.send(Array("bye\r\n\r\n".utf8))
                answers += connection.receiveAll()
                return String(decoding: answers, as: UTF8.self).split(separator: "HTTP/1.1 ").map {
                    Int($0.prefix(3)) ?? 0
                }
            }
            #expect(statuses.count == requests + 1 && statuses.last == 400)
            let refused = statuses.count { $0 == 429 }
            #expect(refused > 0 && statuses.count { $0 == 404 } + refused == requests)
            let fields = ["Authorization: Bearer \(try await server.addMember("ann"))"]
            #expect(await RawExchange.send("GET /1/account/info", fields: fields, port: port)?.status == 200)
            _ = await server.process?.line(of: .errors) { $0.contains("account/info") }
            let lines = server.process?.errorsSoFar.split(separator: "\n").count ?? 0
            print("\(requests) requests without an account: \(refused) refused, \(lines) lines in the log")
            #expect(lines <= requests - refused + 20)
            #expect(try await metric(#"byteclub_rate_limited_total{limit="anonymous"}"#, metrics) == refused)
        }
    }
}
