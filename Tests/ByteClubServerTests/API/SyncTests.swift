import ByteClubCore
import GRDB
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The extension under /1/sync") struct SyncTests {
    private static func batch(_ operations: [SyncOperation], isAllOrNothing: Bool = false) -> [UInt8] {
        var json = JSONText()
        SyncBatch(operations, isAllOrNothing: isAllOrNothing).write(to: &json)
        return json.bytes
    }

    private static func create(_ number: Int, _ name: String, _ bytes: Int) throws -> SyncOperation {
        SyncOperation(
            try #require(OperationID("t-\(number)")),
            .create(.init(.node(.root), name), .init(bytes: Int64(bytes))))
    }

    @Test("a batch beyond its limits, cut short or malformed is refused whole")
    func limits() async throws {
        try await TestServer.run { server in
            func status(_ body: [UInt8]) async throws -> Int {
                try await server.send("POST /1/sync/batch", body: body).status
            }
            let one = Self.batch([try Self.create(1, "a.md", 3)])
            let many = Self.batch(try (0...1000).map { try Self.create($0, "n\($0)", 0) })
            for (body, expected) in [
                (one, 400), (one + [10, 1, 2], 400), (one + [10, 1, 2, 3, 4], 400), (Array("{}\n".utf8), 400),
                (Array("{\"operations\":[{\"op\":\"put\"}]}\n".utf8), 400), (Array("[]\n".utf8), 400),
                (Array("{\"operations\":[{\"op_id\":\"x\",\"op\":\"fly\"}]}\n".utf8), 400),
                (Array("{\"operations\":[{\"op_id\":\" \",\"op\":\"delete\",\"id\":1}]}\n".utf8), 400),
                (
                    Array(
                        "{\"operations\":[{\"op_id\":\"x\",\"op\":\"put\",\"parent\":0,\"name\":\"a\",\"bytes\":-1}]}\n"
                            .utf8), 400
                ),
                (many + [10], 413), ([UInt8](repeating: 10, count: 8 << 20 + 1), 413),
                (Self.batch([try Self.create(1, "a.md", 65537)]) + [10] + noise(65537), 413),
                (one + [10, 1, 2, 3], 200),
            ] { #expect(try await status(body) == expected, "\(String(decoding: body.prefix(100), as: UTF8.self))") }
            let listed = try await server.get("/1/metadata/auto/").decoded(Metadata.self)
            #expect(listed.contents?.map(\.path.string) == ["/a.md"])
        }
    }

    @Test("a content that does not have the announced hash is refused")
    func hashes() async throws {
        try await TestServer.run { server in
            var operation = try Self.create(1, "a.md", 1)
            operation.content?.hash = ContentHasher.hash([1])
            let wrong = try await server.send("POST /1/sync/batch", body: Self.batch([operation]) + [10, 2])
            #expect(wrong.status == 400)
            let right = try await server.send("POST /1/sync/batch", body: Self.batch([operation]) + [10, 1])
            #expect(right.status == 200)
        }
    }

    @Test("old clients see what a batch does, and the journal what they do")
    func bothWorlds() async throws {
        try await TestServer.run { server in
            let body = Self.batch([try Self.create(1, "a.md", 1), try Self.create(2, "b.md", 1)]) + [10, 65, 66]
            let outcome = try await server.send("POST /1/sync/batch", body: body).decoded(SyncOutcome.self)
            #expect(outcome.isApplied && outcome.results.allSatisfy(\.isDone) && outcome.sequence == 2)
            #expect(try await server.get("/1/files/auto/a.md").text == "A")
            let delta = try await server.post("/1/delta").decoded(DeltaPage.self)
            #expect(delta.entries.map(\.key.string) == ["/a.md", "/b.md"])
            _ = try await server.post("/1/fileops/move", "from_path=/a.md&to_path=/c.md")
            let answer = try await server.get("/1/sync/changes?limit=10")
            #expect(answer["Content-Type"] == SyncFrame.mime)
            let frame = try #require(SyncFrame(answer.body))
            let page = try JSONReader.read(SyncPage.self, from: frame.head)
            #expect(page.entries.map(\.name) == ["b.md", "c.md"] && Array(frame.bodies) == [66, 65])
            #expect(page.entries.last?.node == outcome.results.first?.entry?.node)
        }
    }

    @Test("an operation's answer survives a restart")
    func restart() async throws {
        let directory = try TemporaryDirectory()
        let content = try #require(StagedContent(inline: [1]))
        let batch = SyncBatch([
            SyncOperation(
                try #require(OperationID("x")),
                .create(.init(.node(.root), "a"), .init(bytes: 1, hash: content.hash)))
        ])
        var outcomes: [SyncOutcome] = []
        for _ in 0..<2 {
            let store = try StoreFixture.open(directory.path, clock: Clock())
            outcomes.append(try await store.write(by: 1, storing: [content]) { try $0.apply(batch) })
            try store.close()
        }
        #expect(outcomes[0].results.map(\.status) == [200] && outcomes[1] == outcomes[0])
    }

    @Test("operations are forgotten after 30 days, but never the last hundred thousand")
    func memory() async throws {
        let fixture = try StoreFixture()
        let (seconds, numbers) = try await fixture.store.writer.perform { transaction in
            let database = transaction.database
            let now = APIDate(seconds: 100 * 86_400)
            for (number, day) in [(1, 10), (2, 69), (3, 71), (150_000, 1), (200_000, 90)] {
                try transaction.execute(
                    "INSERT INTO operation(number, id, member, made, revision) VALUES (?, ?, 1, ?, 1)",
                    [number, "\(number)", day * 86_400])
            }
            try OperationMemory.sweep(database, last: 200_000, now: now)
            return (now.seconds, try database.rows("SELECT number FROM operation ORDER BY number") { $0[0] as Int64 })
        }
        #expect(seconds == 8_640_000 && numbers == [3, 150_000, 200_000])
    }

    @Test("the changes that a writer has made are found after each revision, however operations are numbered")
    func revisionsOfWriters() async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        var rows: [(number: Int64, name: String, member: Int64, revision: Int64)] = []
        var (number, revision) = (Int64(0), Int64(0))
        for index in 0..<200 {
            number += Int64.random(in: 1...9, using: &generator)
            revision += Int64.random(in: 1...9, using: &generator)
            let writer = ["a", "b", "ab"].randomElement(using: &generator) ?? "a"
            rows.append((number, "\(writer)-\(index)", Int64.random(in: 1...2, using: &generator), revision))
        }
        let fixture = try StoreFixture()
        let writer = try #require(OperationWriter(member: 1, name: "a"))
        try await fixture.store.writer.perform { [rows] transaction in
            for row in rows {
                try transaction.execute(
                    "INSERT INTO operation(number, id, member, made, revision) VALUES (?, ?, ?, 1, ?)",
                    [row.number, row.name, row.member, row.revision])
            }
        }
        let own = rows.filter { $0.name.hasPrefix("a-") && $0.member == 1 }.map(\.revision)
        for position in -1...(revision + 1) {
            let found = try await fixture.store.read {
                try $0.state.revisions(by: writer, after: position, limit: 1_000)
            }
            #expect(found == Set(own.filter { $0 > position }), "after \(position)")
        }
    }

    @Test("an operation whose version is not kept any more is not done again")
    func forgotten() async throws {
        let fixture = try StoreFixture()
        let content = try #require(StagedContent(inline: [1]))
        let batch = SyncBatch([
            SyncOperation(
                try #require(OperationID("x")),
                .create(.init(.node(.root), "a"), .init(bytes: 1, hash: content.hash)))
        ])
        let first = try await fixture.store.write(by: 1, storing: [content]) { try $0.apply(batch) }
        #expect(first.results.map(\.status) == [200])
        try await fixture.put("/a", [2])
        try await fixture.store.writer.perform { transaction in
            _ = try transaction.execute("DELETE FROM version WHERE revision = 1")
        }
        let again = try await fixture.store.write(by: 1, storing: [content]) { try $0.apply(batch) }
        #expect(again.results.map(\.status) == [410])
    }

    @Test("chunks that nobody asked for in a day go away, and others stay")
    func expiry() async throws {
        let directory = try TemporaryDirectory()
        let clock = Clock()
        let files = try FileBlobStore(directory: directory.path)
        let store = try FileChunkStore(directory: directory.path, files: files) { clock.now }
        let (old, new) = (ContentHasher.hash([1]), ContentHasher.hash([2]))
        try await store.add([1], hash: old, from: 1)
        clock.advance(WaitingTime.chunk + 5)
        try await store.add([2], hash: new, from: 1)
        // As a version before kept them, which asked nobody whose they were.
        try LocalFiles.write([1], to: directory.path + "/chunks/\(old)")
        try await store.removeExpired()
        #expect(try await store.missing(of: [old, new], from: 1) == [old])
        #expect(try await store.missing(of: [new], from: 2) == [new])
        #expect(try Directory.names(in: directory.path + "/chunks") == ["1"])
        #expect(try Directory.names(in: directory.path + "/chunks/1") == ["\(new)"])
        let left = try Directory.names(in: files.staging)
        #expect(left.isEmpty)
    }

    @Test("a page ends before its contents are over their limit, and tells what follows")
    func pages() async throws {
        let fixture = try StoreFixture()
        for number in 0..<5 { try await fixture.put("/n\(number)", noise(1000, seed: UInt64(number))) }
        var cursor: JournalCursor?
        var counts: [Int] = []
        repeat {
            let limits = JournalLimits(entries: 100, inlineBytes: 2500)
            let (page, bodies) = try await fixture.store.journal(after: cursor, limits: limits)
            counts.append(page.entries.count)
            #expect(bodies.count == page.entries.count && bodies.allSatisfy { $0.count == 1000 })
            cursor = page.hasMore ? JournalCursor(page.cursor) : nil
        } while cursor != nil
        #expect(counts == [2, 2, 1])
    }

    @Test("viewers may read and nothing else, and nobody without a token")
    func roles() async throws {
        try await TestServer.run { server in
            let viewer = try await server.store.addMember(name: "Vi", role: .viewer, oauth1: false)
            let targets = [
                ("GET /1/sync/changes", 200, []), ("GET /1/sync/history", 200, []), ("GET /1/sync/digest", 200, []),
                ("POST /1/sync/batch", 403, Self.batch([]) + [10]),
                ("POST /1/sync/chunks/need", 403, Array("{\"hashes\":[]}".utf8)),
                ("PUT /1/sync/chunks/\(ContentHasher.hash([1]))", 403, [UInt8(1)]),
                ("POST /1/sync/chunks", 403, Array("{\"chunks\":[]}\n".utf8)),
            ]
            for (line, status, body) in targets {
                let answer = try await server.send(line, ["Authorization: Bearer \(viewer.token)"], body: body)
                #expect(answer.status == status, "\(line)")
                #expect(try await server.send(line, [], body: body).status == 401, "\(line)")
                #expect([200, 204].contains(try await server.send(line, body: body).status), "\(line)")
            }
            #expect(try await server.get("/1/sync/batch").status == 405)
            #expect(try await server.get("/1/sync/nothing").status == 404)
            #expect(try await server.get("/1/sync/chunks/a/b").status == 404)
        }
    }

    @Test("a chunk is taken only with its hash and its length, and stays as it is")
    func chunks() async throws {
        try await TestServer.run { server in
            let (bytes, other) = (noise(100_000, seed: 1), noise(10, seed: 2))
            let target = "PUT /1/sync/chunks/\(ContentHasher.hash(bytes))"
            #expect(try await server.send(target, body: other).status == 400)
            #expect(try await server.send("PUT /1/sync/chunks/nonsense", body: bytes).status == 400)
            let large = [UInt8](repeating: 0, count: 4 << 20 + 1)
            #expect(try await server.send("PUT /1/sync/chunks/\(ContentHasher.hash(large))", body: large).status == 413)
            for _ in 0..<2 { #expect(try await server.send(target, body: bytes).status == 204) }
            let need = Array("{\"hashes\":[\"\(ContentHasher.hash(bytes))\",\"\(ContentHasher.hash(other))\"]}".utf8)
            let missing = try await server.send("POST /1/sync/chunks/need", body: need)
            #expect(missing.text == "{\"hashes\":[\"\(ContentHasher.hash(other))\"]}")
            #expect(try await server.send("POST /1/sync/chunks/need", body: [1]).status == 400)
        }
    }

    @Test("large bodies that are slow to come take no more memory than their sender's share, and others go on")
    func unfinishedBatches() async throws {
        try await TestServer.run { server in
            let pool = server.club.shares.bodies
            let length = SyncBatch.maximumBytes
            let head =
                "POST /1/sync/batch HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\nContent-Length: \(length)\r\n\r\n{"
            var slow: Crowd? = Crowd(40, port: server.port)
            #expect(slow?.send(Array(head.utf8)) == 40)
            let most = pool.bounds.member / length
            try await eventually("the rest wait") { pool.used == most * length && pool.waiting == 40 - most }
            let other = try await server.add("Bo", .editor)
            let one = Self.batch([try Self.create(1, "a.md", 1)]) + [10, 1]
            #expect(try await server.send("POST /1/sync/batch", [other], body: one).status == 200)
            slow = nil
            try await eventually("the memory is back") { pool.used == 0 && pool.waiting == 0 }
            #expect(try await server.send("POST /1/sync/batch", body: one).status == 200)
        }
    }

    @Test("a page that is larger than a piece arrives whole")
    func largePage() async throws {
        try await TestServer.run { server in
            let notes = (0..<40).map { noise(60_000, seed: UInt64($0)) }
            let operations = try notes.indices.map { try Self.create($0, "n\($0)", 60_000) }
            let body = Self.batch(operations) + [10] + notes.flatMap(\.self)
            #expect(try await server.send("POST /1/sync/batch", body: body).status == 200)
            let frame = try #require(SyncFrame(try await server.get("/1/sync/changes").body))
            #expect(Array(frame.bodies) == notes.flatMap(\.self))
        }
    }

    @Test("a wait for changes ends with the change")
    func wait() async throws {
        try await TestServer.run { server in
            let page = try await Self.page(server, "")
            async let waiting = Self.page(server, "?wait=30&cursor=\(page.cursor)")
            try await eventually("a poll waits") { server.store.waiterCount > 0 }
            try await server.store("/a.md")
            let changes = try await waiting
            #expect(changes.entries.map(\.name) == ["a.md"] && !changes.isReset)
            #expect(try await server.get("/1/sync/changes?wait=481&cursor=\(page.cursor)").status == 400)
            #expect(try await server.get("/1/sync/changes?cursor=\(page.cursor)99").status == 410)
        }
    }

    private static func page(_ server: TestServer, _ query: String) async throws -> SyncPage {
        let frame = try #require(SyncFrame(try await server.get("/1/sync/changes" + query).body))
        return try JSONReader.read(from: frame.head)
    }
}
