import ByteClubCore
import GRDB
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Quotas")
struct QuotaTests {
    private static func quota(_ server: TestServer) async throws -> (quota: Int64, used: Int64) {
        let account: Account = try await server.get("/1/account/info").decoded()
        return (account.quotaInfo.quota, account.quotaInfo.used)
    }

    private static func fill(_ server: TestServer) async throws {
        let text = String(repeating: "x", count: 900)
        try await server.store("/a.md", text)
        #expect(try await quota(server) == (2000, 900))
        let first: Metadata = try await server.put("/1/files_put/auto/b.md", text).decoded()
        _ = try await server.post("/1/fileops/delete", "root=auto&path=/b.md")
        try await server.store("/b.md", String(repeating: "y", count: 900))
        #expect(try await quota(server) == (2000, 1800))

        let rev = try #require(first.rev)
        let form =
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.md\"\r\n\r\n\(text)\r\n--b--\r\n"
        let start: ChunkedUpload = try await server.send("PUT /1/chunked_upload", body: Array("x".utf8)).decoded()
        let refused = [
            try await server.send(
                "PUT /1/chunked_upload?upload_id=\(start.uploadID)&offset=1", body: Array(text.utf8)),
            try await server.send("PUT /1/chunked_upload", body: Array(text.utf8)),
            try await server.put("/1/files_put/auto/c.md", text),
            try await server.put("/1/files_put/auto/a.md", text + text),
            try await server.send(
                "POST /1/files/auto/", [server.bearer, "Content-Type: multipart/form-data; boundary=b"],
                body: Array(form.utf8)),
            try await server.post("/1/fileops/copy", "root=auto&from_path=/a.md&to_path=/e.md"),
        ]
        for answer in refused { #expect(answer.status == 507, "\(answer.text)") }
        #expect(try await quota(server) == (2000, 1800))
        for path in ["c.md", "d.md", "e.md", "f.md"] {
            #expect(try await server.get("/1/metadata/auto/\(path)").status == 404)
        }

        // What does not grow, or shrinks, is welcome; and so is everything again when there is room.
        #expect(try await server.put("/1/files_put/auto/a.md", String(repeating: "z", count: 900)).status == 200)
        #expect(try await server.post("/1/fileops/move", "root=auto&from_path=/a.md&to_path=/g.md").status == 200)
        #expect(try await server.post("/1/fileops/delete", "root=auto&path=/b.md").status == 200)
        #expect(try await server.put("/1/files_put/auto/big.md", text + "and more than that of it").status == 200)
        #expect(try await server.post("/1/restore/auto/b.md", "rev=\(rev)").status == 507)
        #expect(try await server.post("/1/fileops/delete", "root=auto&path=/big.md").status == 200)
        #expect(try await server.post("/1/restore/auto/b.md", "rev=\(rev)").status == 200)
        let left = try await server.put("/1/files_put/auto/rest.md", String(repeating: "w", count: 200))
        #expect(left.status == 200)
        #expect(
            try await server.post("/1/commit_chunked_upload/auto/d.md", "upload_id=\(start.uploadID)").status == 507)
        #expect(try await Verifier(directory: server.directory).run().isClean)
    }

    @Test("Each way of adding content is 507 over the club's quota, and changes nothing")
    func club() async throws {
        try await TestServer.run(history: HistorySettings(clubQuota: 2000)) { try await Self.fill($0) }
    }

    @Test("Each way of adding content is 507 over the member's quota, and changes nothing")
    func member() async throws {
        try await TestServer.run(history: HistorySettings(memberQuota: 2000)) { try await Self.fill($0) }
    }

    @Test("A file counts for the member who wrote it last")
    func lastAuthor() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(memberQuota: 1000))
        let store = fixture.store
        func put(_ path: String, _ count: Int, by member: Int64) async throws {
            let content = try #require(StagedContent(inline: randomBytes(count, seed: UInt64(member))))
            _ = try await store.write(by: member, storing: content) { folder in
                try folder.put(
                    try RemotePath(path), bytes: content.bytes, hash: content.hash, condition: .overwrite,
                    policy: .fail)
            }
        }
        try await put("/a", 800, by: 1)
        await #expect(throws: StorageError.self) { try await put("/b", 300, by: 1) }
        try await put("/a", 600, by: 2)
        try await put("/b", 900, by: 1)
        await #expect(throws: StorageError.self) { try await put("/b", 600, by: 2) }
        #expect(try await store.usage(of: 1).used == 1500)
        #expect(try await store.usage(of: 1).capacity == 1600)
        #expect(try await store.usage(of: 2).capacity == 1900)
        #expect(fixture.staged.isEmpty)
    }

    @Test("the limits are looked up once for a write, however many contents it has")
    func once() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(clubQuota: 1 << 40, memberQuota: 1 << 40))
        let store = fixture.store
        let lookUps = Mutex(0)
        try await store.pool.writeWithoutTransaction { database in
            database.trace { event in
                let sql = "\(event)"
                if sql.contains("FROM member_usage") || sql.contains("FROM meta") { lookUps.withLock { $0 += 1 } }
            }
        }
        var counts: [Int] = []
        for count in [1, 200] {
            let before = lookUps.withLock { $0 }
            let contents = (0..<count).compactMap { StagedContent(inline: Array("\(count) \($0)".utf8)) }
            _ = try await store.write(by: 1, storing: contents) { folder in
                for (number, content) in contents.enumerated() {
                    _ = try folder.put(
                        try RemotePath("/\(count)-\(number)"), bytes: content.bytes, hash: content.hash,
                        condition: .create, policy: .fail)
                }
            }
            counts.append(lookUps.withLock { $0 } - before)
        }
        #expect(counts[0] == counts[1])
        // The last revision; what the club has, in bytes and in entries; and what the member has.
        #expect(counts[0] == 4)
    }

    @Test("a viewer learns from the account how much there may be, and nothing of the server's disk")
    func account() async throws {
        for (history, expected) in [
            (HistorySettings(), Account.Quota.unlimited), (HistorySettings(clubQuota: 1 << 60), 1 << 60),
            (HistorySettings(memberQuota: 1 << 60), 3 + 1 << 60),
            (HistorySettings(clubQuota: 5000, memberQuota: 1 << 60), 5000),
        ] {
            try await TestServer.run(history: history) { server in
                try await server.store("/a.md", "abc")
                let viewer = try await server.add("Vi", .viewer)
                let account: Account = try await server.send("GET /1/account/info", [viewer]).decoded()
                #expect((account.quotaInfo.quota, account.quotaInfo.used) == (expected, 3))
            }
        }
    }

    @Test("A large body over the quota leaves no file")
    func largeBody() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(clubQuota: 100_000))
        await #expect(throws: StorageError.self) { try await fixture.put("/a", randomBytes(200_000, seed: 1)) }
        #expect(fixture.blobCount == 0)
        #expect(fixture.staged.isEmpty)
    }
}
