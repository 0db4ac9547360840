import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

/// Produces chunks, counts how many were read, and ends as configured.
private struct Chunks: AsyncSequence, Sendable {
    struct Broken: Error {}

    final class Count: Sendable { let value = Mutex(0) }

    var count: Int
    var size = 1000
    var isBroken = false
    let asked = Count()

    struct Iterator: AsyncIteratorProtocol {
        let chunks: Chunks
        var index = 0

        mutating func next() async throws -> [UInt8]? {
            chunks.asked.value.withLock { $0 += 1 }
            await Task.yield()
            guard index < chunks.count else {
                if chunks.isBroken { throw Broken() }
                return nil
            }
            index += 1
            return Array(repeating: UInt8(truncatingIfNeeded: index), count: chunks.size)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self) }

    var whole: [UInt8] { (1...count).flatMap { Array(repeating: UInt8(truncatingIfNeeded: $0), count: size) } }
}

extension Live {
    @Suite struct BodyTests {
        @Test("a form goes over the wire whole, with its length, and again after a failure", arguments: [false, true])
        func form(isRetried: Bool) async throws {
            let folder = TemporaryFolder()
            let content = noise(300_000)
            let file = folder.write("p.bin", content)
            let bodies = Mutex<[[UInt8]]>([])
            let server = try FaultServer { peer, request in
                let body = peer.readBody(of: request)
                let count = bodies.withLock { bodies in
                    bodies.append(body)
                    return bodies.count
                }
                return peer.respond(isRetried && count == 1 ? 503 : 200) ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.retryPolicy = .standard
                $0.retryPolicy.firstDelay = .milliseconds(1)
            } _: { session in
                var form = Multipart(boundary: "edge")
                form.add("title", "ridge")
                form.add("photo", file: file)
                let (_, response) = try await session.upload(for: server.request(.put), from: .multipart(form))
                #expect(response.status == .ok)
            }
            let start = Array(
                "--edge\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nridge\r\n--edge\r\n".utf8)
            let all = bodies.withLock { $0 }
            #expect(all.count == (isRetried ? 2 : 1))
            for body in all {
                #expect(body.starts(with: start) && body.suffix(12 + content.count).starts(with: content))
                #expect(body.suffix(12) == Array("\r\n--edge--\r\n".utf8)[...])
            }
            for request in server.requests {
                #expect(request["content-type"] == "multipart/form-data; boundary=edge")
                #expect(request["transfer-encoding"] == nil)
            }
        }

        @Test("a stream is sent while it comes: in chunks, or with its length where that is known")
        func stream() async throws {
            let server = try FaultServer { peer, request in
                let isChunked = request["transfer-encoding"] == "chunked"
                let body = isChunked ? peer.readChunks() : peer.readBody(of: request)
                return peer.respond(200, "\(isChunked) \(body.count) \(body.reduce(0) { $0 &+ Int($1) })")
                    ? .keep : .close
            }
            defer { server.stop() }
            try await withSession { session in
                for count in [1, 300] {
                    let chunks = Chunks(count: count)
                    let sum = chunks.whole.reduce(0) { $0 + Int($1) }
                    let size = count * chunks.size
                    for (length, isChunked) in [(Int64?.none, true), (Int64(size), false)] {
                        for method in [HTTPRequest.Method.put, .post] {
                            let body = Body.stream(BodyStream(chunks, length: length))
                            let (bytes, _) = try await session.upload(for: server.request(method), from: body)
                            #expect(String(decoding: bytes, as: UTF8.self) == "\(isChunked) \(size) \(sum)")
                        }
                    }
                }
            }
        }

        @Test("a stream that fails or ends early fails the task, and is not sent again")
        func broken() async throws {
            let server = try FaultServer { peer, request in
                if request["transfer-encoding"] == nil {
                    _ = peer.skip(request.contentLength)
                } else {
                    peer.waitForEnd()
                }
                return .close
            }
            defer { server.stop() }
            try await withSession {
                $0.retryPolicy = .standard
                $0.retryPolicy.firstDelay = .milliseconds(1)
            } _: { session in
                for (chunks, length) in [(Chunks(count: 5, isBroken: true), Int64?.none), (Chunks(count: 5), 5001)] {
                    let error = await failure { () async throws(TransferError) in
                        try await session.upload(
                            for: server.request(.put), from: .stream(BodyStream(chunks, length: length)))
                    }
                    #expect(error?.code == .bodyFailed, "\(String(describing: error))")
                }
                let lost = await failure { () async throws(TransferError) in
                    try await session.upload(
                        for: server.request(.put, "/lost"), from: .stream(BodyStream(Chunks(count: 5), length: 5000)))
                }
                #expect(lost?.code == .connectionLost)
                // The server may hear of the requests before only now.
                #expect(server.requests.filter { $0.target == "/lost" }.count == 1)
            }
        }

        @Test("what cannot be sent again, or was turned down, is not, whatever a handler says")
        func once() async throws {
            let server = try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                return peer.respond(503, "busy") ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.retryPolicy = .standard
            } _: { session in
                var options = TaskOptions()
                options.policy.retryHandler = { _ in .retry(after: .zero) }
                let body = Body.stream(BodyStream(Chunks(count: 2), length: 2000))
                let (_, response) = try await session.upload(for: server.request(.put), from: body, options: options)
                #expect(response.status.code == 503 && server.requests.count == 1)
                options.disposition = { _ in .cancel }
                let turnedDown = options
                let error = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(), options: turnedDown)
                }
                #expect(error?.code == .cancelled && server.requests.count == 2)
            }
        }

        @Test("a redirect that keeps the body fails a stream, one to GET does not")
        func redirected() async throws {
            let server = try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                let status = Int(request.target.dropFirst()) ?? 200
                return peer.respond(status, fields: status == 200 ? [] : ["Location: /end"]) ? .keep : .close
            }
            defer { server.stop() }
            try await withSession { session in
                for (status, code) in [(307, TransferError.Code.bodyFailed), (303, nil)] {
                    let body = Body.stream(BodyStream(Chunks(count: 2), length: 2000))
                    let error = await failure { () async throws(TransferError) in
                        try await session.upload(for: server.request(.put, "/\(status)"), from: body)
                    }
                    #expect(error?.code == code)
                }
            }
        }

        @Test("a stream waits while the network does, and ends with the task")
        func pressure() async throws {
            let gate = Gate()
            let server = try FaultServer { _, _ in
                gate.pass()
                return .close
            }
            defer { server.stop() }
            let chunks = Chunks(count: 1 << 20, size: 64 << 10)
            try await withSession { session in
                let task = session.uploadTask(server.request(.put), from: .stream(BodyStream(chunks)))
                task.resume()
                await server.received(1)
                // What the system's buffers and ours hold is some megabytes; the stream has 64 GiB.
                var before = -1
                while true {
                    let now = chunks.asked.value.withLock { $0 }
                    if now == before { break }
                    before = now
                    try await Task.sleep(for: .milliseconds(200))
                }
                #expect(before < 1000)
                task.cancel()
                _ = try? await task.value
            }
            gate.open()
        }
    }
}

extension Peer {
    /// Reads a chunked body (RFC 9112 section 7.1) and returns it.
    func readChunks() -> [UInt8] {
        var result: [UInt8] = []
        while let line = readLine(), let size = Int(line, radix: 16) {
            if size > 0 { result += readBytes(size) }
            _ = readLine()
            if size == 0 { break }
        }
        return result
    }
}
