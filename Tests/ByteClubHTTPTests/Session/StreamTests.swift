import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct StreamTests {
        /// Sends an endless body as fast as the client reads it, and counts the bytes.
        private func endless(_ sent: Counts, _ seen: Changes) throws -> FaultServer {
            let chunk = Array(repeating: UInt8(1), count: 64 << 10)
            return try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n")
                while peer.send(chunk) {
                    sent.counts.withLock { $0["bytes", default: 0] += chunk.count }
                    seen.notify()
                }
                sent.counts.withLock { $0["gone", default: 0] += 1 }
                seen.notify()
                return .close
            }
        }

        /// Reads until the ring is full, so that the transfer is paused.
        private func fill(_ bytes: ResponseBytes) async throws {
            try await eventually("the ring fills") { bytes.source.stream.count > BodyRing.highWater - (16 << 10) }
        }

        @Test("the response is there with its head, and the body comes as it is sent")
        func head() async throws {
            let gate = Gate()
            let server = try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-A: 1\r\n\r\n")
                gate.pass()
                peer.send("abc")
                gate.pass()
                return peer.send("def") ? .keep : .close
            }
            defer { server.stop() }
            try await withSession { session in
                for isHeld in [true, false] {
                    let (bytes, response) = try await session.bytes(for: server.request())
                    #expect(response.status == .ok && (!isHeld || bytes.task.state == .running))
                    gate.open()
                    var all: [UInt8] = []
                    for try await chunk in bytes { all += chunk }
                    #expect(all == Array("abcdef".utf8))
                    let result = try await bytes.task.value
                    #expect(result.bytes.isEmpty && result.progress.bytesReceived == 6)
                }
            }
            #expect(server.accepts == 1)
        }

        @Test("a slow reader holds the server back, with at most a mebibyte waiting, and loses nothing")
        func backPressure() async throws {
            let size = 32 << 20
            let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 >> 8 ^ $0 >> 16) }
            let server = try FaultServer { peer, request in
                if request.target == "/silent" {
                    peer.waitForEnd()
                    return .close
                }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                return peer.send(body) ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                // Longer than a busy machine stalls, since this time runs for the server.
                $0.timeoutForRequest = .seconds(10)
            } _: { session in
                let (bytes, _) = try await session.bytes(for: server.request())
                try await fill(bytes)
                // While the reader is at fault no time runs: a task that begins later is over first.
                let silent = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(.get, "/silent"))
                }
                #expect(silent?.code == .timedOut)
                #expect(bytes.task.state == .running)
                let received = bytes.task.progress.bytesReceived
                #expect(received < 2 << 20, "libcurl took \(received) bytes")
                var (all, most): ([UInt8], Int) = ([], 0)
                all.reserveCapacity(size)
                for try await chunk in bytes {
                    all += chunk
                    most = max(most, bytes.source.stream.count)
                }
                #expect(most <= BodyRing.highWater)
                #expect(all == body)
            }
        }

        @Test("a reader that stops halfway, is cancelled or never begins ends the transfer at once")
        func abandoned() async throws {
            let (sent, seen) = (Counts(), Changes())
            let server = try endless(sent, seen)
            defer { server.stop() }
            func gone(_ count: Int) async { await seen.wait { sent.counts.withLock { $0["gone"] ?? 0 } >= count } }
            try await withSession { session in
                _ = try await session.bytes(for: server.request())
                await gone(1)
                do {
                    let (bytes, _) = try await session.bytes(for: server.request())
                    var count = 0
                    for try await chunk in bytes {
                        count += chunk.count
                        if count > 4 << 20 { break }
                    }
                }
                await gone(2)
                let (bytes, _) = try await session.bytes(for: server.request())
                try await fill(bytes)
                let start = ContinuousClock().now
                let reader = Task {
                    await failure { () async throws(TransferError) in for try await _ in bytes {} }
                }
                reader.cancel()
                #expect(await reader.value?.code == .cancelled)
                print("cancel of a reader: \(start.duration(to: ContinuousClock().now))")
                await gone(3)
                #expect(bytes.source.stream.count == 0)
            }
        }

        @Test("an error behind the head is thrown after what came before it, and nothing is sent again")
        func failing() async throws {
            let server = try FaultServer { peer, request in
                if request.target == "/head" { return .close }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
                return .close
            }
            defer { server.stop() }
            try await withSession {
                $0.retryPolicy = .standard
                $0.retryPolicy.firstDelay = .milliseconds(1)
            } _: { session in
                let (bytes, _) = try await session.bytes(for: server.request())
                var all: [UInt8] = []
                let error = await failure { () async throws(TransferError) in
                    for try await chunk in bytes { all += chunk }
                }
                #expect(error?.code == .connectionLost && all == Array("abc".utf8))
                #expect(server.requests.count == 1)
                let early = await failure { () async throws(TransferError) in
                    try await session.bytes(for: server.request(.get, "/head"))
                }
                #expect(early?.code == .connectionLost && early?.attempt == 4)
            }
        }

        @Test("what may be followed by another attempt or a redirect is not streamed; any other status is a response")
        func statuses() async throws {
            let server = try FaultServer { peer, request in
                switch request.target {
                case "/moved": return peer.respond(302, "not this", fields: ["Location: /ok"]) ? .keep : .close
                case "/busy":
                    return peer.respond(request.indexOnConnection < 3 ? 503 : 200, "late") ? .keep : .close
                case "/missing": return peer.respond(404, "none here") ? .keep : .close
                case "/nothing": return peer.respond(204) ? .keep : .close
                default: return peer.respond(200, "here") ? .keep : .close
                }
            }
            defer { server.stop() }
            let expected = [
                ("/busy", 200, "late"), ("/moved", 200, "here"), ("/missing", 404, "none here"), ("/nothing", 204, ""),
            ]
            try await withSession {
                $0.retryPolicy = .standard
                $0.retryPolicy.firstDelay = .milliseconds(1)
                $0.maximumTasksPerHost = 1
            } _: { session in
                for (path, status, text) in expected {
                    let (bytes, response) = try await session.bytes(for: server.request(.get, path))
                    var all: [UInt8] = []
                    for try await chunk in bytes { all += chunk }
                    #expect(response.status.code == status && all == Array(text.utf8), "\(path)")
                }
            }
        }

        @Test("a body over its limit ends with an error, and one that is suspended goes on where it was")
        func limits() async throws {
            let (sent, seen) = (Counts(), Changes())
            let server = try endless(sent, seen)
            defer { server.stop() }
            try await withSession { session in
                var options = TaskOptions()
                options.maximumBodyBytes = { _ in 3 << 20 }
                let (bytes, _) = try await session.bytes(for: server.request(), options: options)
                try await fill(bytes)
                bytes.task.suspend()
                bytes.task.resume()
                var count = 0
                let error = await failure { () async throws(TransferError) in
                    for try await chunk in bytes { count += chunk.count }
                }
                #expect(error?.code == .bodyTooLarge)
                #expect((2 << 20...3 << 20).contains(count))
            }
        }
    }
}
