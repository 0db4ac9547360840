import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Many chunks in one request") struct BulkChunkTests {
    private static let target = "POST /1/sync/chunks"

    /// The body for chunks, whose head may tell other hashes than theirs.
    private static func body(_ chunks: [[UInt8]], hashes: [ContentHash]? = nil) -> [UInt8] {
        let hashes = hashes ?? chunks.map { ContentHasher.hash($0) }
        var json = JSONText()
        ChunkManifest(zip(hashes, chunks).map { .init(hash: $0, bytes: Int64($1.count)) }).write(to: &json)
        return json.bytes + [10] + chunks.flatMap(\.self)
    }

    private static func missing(_ chunks: [[UInt8]], _ server: TestServer) async throws -> [ContentHash] {
        var json = JSONText()
        ChunkList(chunks.map { ContentHasher.hash($0) }).write(to: &json)
        return try await server.send("POST /1/sync/chunks/need", body: json.bytes).decoded(ChunkList.self).hashes
    }

    /// A batch that makes a file of each chunk.
    private static func batch(_ chunks: [[UInt8]]) throws -> [UInt8] {
        let operations = try chunks.enumerated().map { index, bytes in
            let hash = ContentHasher.hash(bytes)
            return SyncOperation(
                try #require(OperationID("b-\(index)")),
                .create(
                    .init(.node(.root), "p\(index).jpg"), .init(bytes: Int64(bytes.count), hash: hash, chunks: [hash])))
        }
        var json = JSONText()
        SyncBatch(operations).write(to: &json)
        return json.bytes + [10]
    }

    @Test("photos go up in one request, each is one chunk and one content, and their bytes are on the disk once")
    func photos() async throws {
        try await TestServer.run { server in
            let photos = [noise(5 << 20, seed: 1), noise(100_000, seed: 2), noise(300, seed: 3), []]
            #expect(try await server.send(Self.target, body: Self.body(photos)).status == 204)
            #expect(try await server.send(Self.target, body: Self.body(photos)).status == 204, "the second time too")
            #expect(try await Self.missing(photos, server).isEmpty)
            let outcome = try await server.send("POST /1/sync/batch", body: try Self.batch(photos))
                .decoded(SyncOutcome.self)
            #expect(outcome.results.map(\.isDone) == [true, true, true, true])
            for (index, bytes) in photos.enumerated() {
                #expect(try await server.get("/1/files/auto/p\(index).jpg").body == bytes)
            }
            let large = ContentHasher.hash(photos[0])
            let blob = try FileBlobStore(directory: server.directory).path(of: large)
            #expect(Directory.isSame(blob, server.directory + "/chunks/\(server.member.uid)/\(large)"))
            #expect(try FileSizes.sum(server.directory + "/staging") == 0)
        }
    }

    @Test(
        "a request beyond its limits or with other bytes than it tells is refused, and nothing of it waits in staging")
    func refusals() async throws {
        try await TestServer.run { server in
            let chunk = noise(100_000, seed: 1)
            let hash = ContentHasher.hash(chunk)
            let large = ChunkManifest([.init(hash: hash, bytes: ChunkManifest.maximumChunkBytes + 1)])
            let negative = ChunkManifest([.init(hash: hash, bytes: -1)])
            let many = ChunkManifest(
                Array(repeating: .init(hash: hash, bytes: 0), count: ChunkManifest.maximumChunks + 1))
            let manifests = [(large, 413), (negative, 413), (many, 400)].map { manifest, status in
                var json = JSONText()
                manifest.write(to: &json)
                return (json.bytes + [10], status)
            }
            let whole = Self.body([chunk])
            for (body, status) in manifests + [
                (Array("[]\n".utf8), 400), (Array("{}\n".utf8), 400), ([1], 400), (Array(whole.dropLast()), 400),
                (whole + [0], 400), ([UInt8](repeating: 32, count: ChunkManifest.maximumBytes + 2), 413),
                (Self.body([chunk], hashes: [ContentHasher.hash([1])]), 400),
            ] {
                let answer = try await server.send(Self.target, body: body)
                #expect(answer.status == status, "\(String(decoding: body.prefix(80), as: UTF8.self))")
                #expect(try !answer.refusal().isEmpty)
            }
            #expect(try await Self.missing([chunk], server) == [hash])
            #expect(try FileSizes.sum(server.directory + "/staging") == 0)
        }
    }

    @Test("of a request that is cut off, the chunks that came whole stay")
    func cutOff() async throws {
        try await TestServer.run { server in
            let photos = (1...3).map { noise(200_000, seed: UInt64($0)) }
            let body = Self.body(photos)
            let head =
                "\(Self.target) HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\nContent-Length: \(body.count)\r\n\r\n"
            await BackgroundThread.run {
                guard let connection = RawConnection(port: server.port) else { return }
                connection.send(Array(head.utf8) + body.dropLast(100_000))
            }
            try await eventually("two of them are there") {
                try await Self.missing(photos, server) == [ContentHasher.hash(photos[2])]
            }
            #expect(try FileSizes.sum(server.directory + "/staging") == 0)
        }
    }

    @Test("chunks count against a quota before their bytes come, and not any more once a write has named them")
    func quota() async throws {
        try await TestServer.run(history: HistorySettings(memberQuota: 1 << 20)) { server in
            let photos = [noise(600_000, seed: 1), noise(300_000, seed: 2)]
            let first = try await server.send(Self.target, body: Self.body(photos))
            #expect(first.status == 204)
            #expect(try await server.send(Self.target, body: Self.body([noise(300_000, seed: 3)])).status == 507)
            #expect(try await server.send("POST /1/sync/batch", body: try Self.batch(photos)).status == 200)
            #expect(try await Self.missing(photos, server).count == 2)
            #expect(try await server.send(Self.target, body: Self.body([noise(100_000, seed: 3)])).status == 204)
            #expect(try await server.get("/1/files/auto/p0.jpg").body == photos[0])
        }
    }
}
