import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Contents that a few lines stand for") struct ChunkedContentTests {
    private static let chunk = [UInt8](repeating: 7, count: ContentHash.blockSize)

    /// A batch that makes files of so many times the same chunk each.
    private static func batch(_ counts: [Int]) throws -> [UInt8] {
        let hash = ContentHasher.hash(chunk)
        let operations = try counts.enumerated().map { index, count in
            SyncOperation(
                try #require(OperationID("c-\(index)")),
                .create(
                    .init(.node(.root), "f\(index)"),
                    .init(bytes: Int64(count) * Int64(chunk.count), chunks: Array(repeating: hash, count: count))))
        }
        var json = JSONText()
        SyncBatch(operations).write(to: &json)
        return json.bytes + [10]
    }

    private static func sendChunk(_ server: TestServer) async throws {
        let sent = try await server.send("PUT /1/sync/chunks/\(ContentHasher.hash(chunk))", body: chunk)
        #expect(sent.status == 204)
    }

    @Test("a small request whose sender has hung up fills no disk")
    func hungUp() async throws {
        try await TestServer.run { server in
            try await Self.sendChunk(server)
            let body = try Self.batch([400])
            let head =
                "POST /1/sync/batch HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\nContent-Length: \(body.count)\r\n\r\n"
            await BackgroundThread.run {
                guard let connection = RawConnection(port: server.port) else { return }
                connection.send(Array(head.utf8) + body)
            }
            // The request's line is written when nothing of it goes on.
            let line = await server.log.line { $0.contains("/1/sync/batch") }
            #expect(line?.contains("499") == true, "\(line ?? "no line")")
            #expect(try FileSizes.sum(server.directory + "/staging") == 0)
            #expect(try FileSizes.sum(server.directory + "/blobs") == 0)
            #expect(try await server.get("/1/metadata/auto/f0").status == 404)
            let kept = try Self.batch([2])
            #expect(try await server.send("POST /1/sync/batch", body: kept).status == 200)
            #expect(try await server.get("/1/metadata/auto/f0").decoded(Metadata.self).bytes == 8 << 20)
        }
    }

    @Test("the names of one chunk over and over stand for no more than a batch may make, and nothing of it is written")
    func tooMuch() async throws {
        try await TestServer.run { server in
            try await Self.sendChunk(server)
            let most = Int(SyncBatch.maximumChunkedBytes) / Self.chunk.count
            for counts in [[most + 1], [most / 2 + 1, most / 2]] {
                let answer = try await server.send("POST /1/sync/batch", body: try Self.batch(counts))
                #expect(answer.status == 413)
                #expect(try answer.refusal().contains("\(SyncBatch.maximumChunkedBytes) bytes"))
            }
            #expect(try FileSizes.sum(server.directory + "/blobs") == 0)
        }
    }

    @Test("a member's quota ends what a repeated chunk makes before a byte of it is written")
    func overQuota() async throws {
        try await TestServer.run(history: HistorySettings(memberQuota: 5 << 20)) { server in
            try await Self.sendChunk(server)
            let answer = try await server.send("POST /1/sync/batch", body: try Self.batch([128]))
            #expect(answer.status == 507)
            #expect(try FileSizes.sum(server.directory + "/blobs") == 0)
            #expect(try await server.send("POST /1/sync/batch", body: try Self.batch([1])).status == 200)
        }
    }
}
