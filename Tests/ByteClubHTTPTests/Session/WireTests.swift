import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct WireTests {
        @Test("a request goes over the wire byte for byte as it was given")
        func exact() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withSession {
                $0.additionalHeaders = [.authorization: "Bearer t", .userAgent: "club/1"]
            } _: { session in
                var fields: HTTPFields = [.accept: "*/*"]
                fields.append(HTTPField(name: try #require(HTTPField.Name("X-Empty")), value: ""))
                fields.append(HTTPField(name: try #require(HTTPField.Name("x-twice")), value: "ä; b=\"c\""))
                fields.append(HTTPField(name: try #require(HTTPField.Name("x-twice")), value: "2"))
                let request = server.request(.put, "/a/../b//%2e%2e/c;d?e=[f]&g={h}|\"<>^`", fields)
                _ = try await session.upload(for: request, from: .bytes([1, 2, 3]))
                let raw = try #require(server.requests.first?.raw)
                #expect(
                    raw == """
                        PUT /a/../b//%2e%2e/c;d?e=[f]&g={h}|"<>^` HTTP/1.1\r
                        Host: \(server.authority)\r
                        Accept-Encoding: \(server.requests[0]["accept-encoding"] ?? "")\r
                        Accept: */*\r
                        X-Empty:\r
                        x-twice: ä; b="c"\r
                        x-twice: 2\r
                        Authorization: Bearer t\r
                        User-Agent: club/1\r
                        Content-Length: 3\r
                        \r

                        """)
            }
        }

        @Test(
            "a POST that may be repeated is as it was given at any size, and a small one comes with its head",
            arguments: [1, 16 << 10, (16 << 10) + 1])
        func repeatable(size: Int) async throws {
            let body = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            let server = try FaultServer { peer, request in
                let held = peer.heldBytes
                let isWhole = peer.readBody(of: request) == body
                return peer.respond(isWhole ? 200 : 400, "\(held)") ? .keep : .close
            }
            defer { server.stop() }
            try await withSession { session in
                var options = TaskOptions()
                options.isIdempotent = true
                let task = session.uploadTask(server.request(.post), from: .bytes(body), options: options)
                task.resume()
                let result = try await task.value
                #expect(result.response.status == .ok)
                #expect(result.progress.bytesSent == Int64(size) && result.progress.bytesExpectedToSend == Int64(size))
                if size == 1 { #expect(String(decoding: result.bytes, as: UTF8.self) == "1") }
                let names = server.requests.first?.fields.map(\.name)
                #expect(names == ["host", "accept", "accept-encoding", "content-length"])
            }
        }

        @Test("a request that could be read in two ways is refused before anything is sent")
        func injection() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withSession { session in
                let seed = UInt64.random(in: 0 ... .max)
                var random = SplitMix(state: seed)
                let evil = ["\r\nX-Evil: 1", "\n", "\0", " ", "#", "é"]
                for _ in 0..<300 {
                    let piece = evil[Int.random(in: 0..<evil.count, using: &random)]
                    var request = server.request()
                    if Bool.random(using: &random) {
                        request.path = "/a\(piece)b"
                    } else {
                        request.authority = "127.0.0.1\(piece):\(server.port)"
                    }
                    let error = await failure { () async throws(TransferError) in try await session.data(for: request) }
                    #expect(error?.code == .badRequest, "seed \(seed)")
                }
                var request = server.request()
                request.authority = "user:secret@" + server.authority
                let error = await failure { () async throws(TransferError) in try await session.data(for: request) }
                #expect(error?.code == .badRequest)
                #expect(error.map { !"\($0)".contains("secret") } == true)
                request = server.request(.connect)
                let connect = await failure { () async throws(TransferError) in try await session.data(for: request) }
                #expect(connect?.code == .badRequest)
            }
            #expect(server.accepts == 0)
        }

        @Test("no field, whatever its name and value, makes another line of the head")
        func fields() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let seed = UInt64.random(in: 0 ... .max)
            var random = SplitMix(state: seed)
            let pieces = ["\r\nX-Evil: 1", "\n", "\r", "\0", " ", ";", ":", ",", "a", "é", "\u{7F}", "\t"]
            func text() -> String {
                (0..<Int.random(in: 0...6, using: &random)).compactMap { _ in pieces.randomElement(using: &random) }
                    .joined()
            }
            try await withSession { session in
                for _ in 0..<300 {
                    var request = server.request()
                    let (name, value) = (text(), text())
                    request.headerFields.append(HTTPField(name: HTTPField.Name(name) ?? .accept, value: value))
                    request.headerFields.append(HTTPField(name: .init("X-Last") ?? .accept, value: "1"))
                    let error = await failure { () async throws(TransferError) in try await session.data(for: request) }
                    if error != nil { continue }
                    let seen = try #require(server.requests.last)
                    let lines = seen.raw.split(separator: "\r\n", omittingEmptySubsequences: false)
                    #expect(!lines.contains { $0.hasPrefix("X-Evil") } && seen["x-last"] == "1", "seed \(seed)")
                    #expect(!seen.raw.replacing("\r\n", with: "").contains { "\r\n\0".contains($0) }, "seed \(seed)")
                    #expect(seen.fields.count <= 5, "seed \(seed): \(seen.raw)")
                }
            }
            #expect(!server.requests.isEmpty)
        }

        @Test("ten thousand requests at six in flight use at most six connections")
        func keepAlive() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withSession { session in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            for _ in 0..<1666 { _ = try await session.data(for: server.request()) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(server.requests.count == 9996)
            #expect(server.accepts <= 6)
        }

        @Test("any status is a response, with its body and every field")
        func statuses() async throws {
            let server = try FaultServer { peer, request in
                let code = Int(request.target.dropFirst()) ?? 0
                return peer.respond(code, code == 204 || code == 304 ? "" : "why", fields: ["X-A: 1", "x-a: 2"])
                    ? .keep : .close
            }
            defer { server.stop() }
            try await withSession { session in
                for code in [200, 201, 204, 304, 400, 404, 416, 500, 503] {
                    let (bytes, response) = try await session.data(for: server.request(.get, "/\(code)"))
                    #expect(response.status.code == code)
                    #expect(response.headerFields[values: HTTPField.Name("x-a") ?? .cookie] == ["1", "2"])
                    #expect(bytes.isEmpty == (code == 204 || code == 304))
                }
                let (bytes, response) = try await session.data(for: server.request(.head, "/304"))
                #expect(response.status.code == 304 && bytes.isEmpty)
            }
        }

        @Test("a response larger than allowed is an error, and so is one that is not HTTP, or ends early")
        func lies() async throws {
            let server = try FaultServer { peer, request in
                switch request.target {
                case "/large": return peer.respond(200, String(repeating: "x", count: 5000)) ? .keep : .close
                case "/noise": return peer.send("SSH-2.0-OpenSSH\r\n\r\n") ? .close : .close
                case "/empty": return .close
                default: return peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc") ? .close : .close
                }
            }
            defer { server.stop() }
            try await withSession { session in
                var options = TaskOptions()
                options.maximumResponseBytes = 4999
                let expected: [(String, TransferError.Code)] = [
                    ("/large", .bodyTooLarge), ("/noise", .protocolViolation), ("/empty", .connectionLost),
                    ("/short", .connectionLost),
                ]
                for (path, code) in expected {
                    let error = await failure { () async throws(TransferError) in
                        try await session.data(for: server.request(.get, path), options: options)
                    }
                    #expect(error?.code == code, "\(path): \(String(describing: error))")
                    #expect(error.map { !"\($0)".contains("\n") } == true)
                }
                options.maximumResponseBytes = 5000
                let (bytes, _) = try await session.data(for: server.request(.get, "/large"), options: options)
                #expect(bytes.count == 5000)
            }
        }
    }
}
