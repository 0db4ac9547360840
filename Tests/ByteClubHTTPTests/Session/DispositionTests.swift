import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct DispositionTests {
        @Test("a response can be turned down, taken, or become a file, whatever the task was to be")
        func kinds() async throws {
            let server = try FaultServer { peer, request in
                let status = request.target == "/missing" ? 404 : 200
                let fields = ["Content-Type: \(request.target == "/page" ? "text/html" : "image/jpeg")"]
                return peer.respond(status, "body of \(request.target)", fields: fields) ? .keep : .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                var options = TaskOptions()
                options.disposition = { response in
                    if response.headerFields[.contentType] == "text/html" { return .cancel }
                    return response.status == .ok ? .download(to: folder.file("photo")) : .allow
                }
                let photo = session.dataTask(server.request(.get, "/photo"), options: options)
                photo.resume()
                let result = try await photo.value
                #expect(result.file == folder.file("photo") && result.bytes.isEmpty)
                #expect(folder.read("photo") == Array("body of /photo".utf8))
                let (bytes, _) = try await session.data(for: server.request(.get, "/missing"), options: options)
                #expect(bytes == Array("body of /missing".utf8))
                let page = await failure { () async throws(TransferError) in
                    try await session.download(
                        for: server.request(.get, "/page"), to: folder.file("page"), options: options)
                }
                #expect(page?.code == .cancelled && page?.message.contains("rejected") == true)
                let (stream, response) = try await session.bytes(for: server.request(.get, "/other"), options: options)
                var chunks = 0
                for try await _ in stream { chunks += 1 }
                #expect(response.status == .ok && chunks == 0)
                #expect(folder.read("photo") == Array("body of /other".utf8))
                options.disposition = { _ in .download(to: folder.file("other")) }
                let own = try await session.download(
                    for: server.request(), to: folder.file("own"), options: options)
                #expect(own.file == folder.file("own") && folder.names.sorted() == ["own", "photo"])
                options.disposition = { _ in .download(to: folder.file("none/photo")) }
                let lost = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(), options: options)
                }
                #expect(lost?.code == .cannotWriteFile)
            }
            #expect(folder.names.sorted() == ["own", "photo"])
        }

        @Test("it is asked once an attempt, and not about a redirect that is followed")
        func asked() async throws {
            let server = try FaultServer { peer, request in
                switch request.target {
                case "/": return peer.respond(302, "x", fields: ["Location: /busy"]) ? .keep : .close
                default:
                    return peer.send(
                        request.indexOnConnection == 2
                            ? "HTTP/1.1 103 Early\r\nX: y\r\n\r\nHTTP/1.1 503 X\r\nContent-Length: 1\r\n\r\nx"
                            : "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nTrailer: z\r\n\r\n")
                        ? .keep : .close
                }
            }
            defer { server.stop() }
            let asked = Counts()
            try await withSession {
                $0.retryPolicy = .standard
                $0.retryPolicy.firstDelay = .milliseconds(1)
            } _: { session in
                var options = TaskOptions()
                options.disposition = { response in
                    asked.counts.withLock { $0["\(response.status.code)", default: 0] += 1 }
                    return .allow
                }
                _ = try await session.data(for: server.request(), options: options)
            }
            #expect(asked.counts.withLock { $0 } == ["503": 1, "200": 1])
        }
    }
}
