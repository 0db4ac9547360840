import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("A bound on files and folders") struct EntryLimitTests {
    private static func expectEnd(_ server: TestServer) async throws {
        for number in 0..<4 { try await server.store("/d/e\(number).md", "") }
        for number in 0..<5 {
            #expect(try await server.post("/1/fileops/create_folder", "root=auto&path=/f\(number)").status == 200)
        }
        let refused = [
            try await server.post("/1/fileops/create_folder", "root=auto&path=/g"),
            try await server.post("/1/fileops/copy", "root=auto&from_path=/d/e0.md&to_path=/copy.md"),
            try await server.post("/1/fileops/copy", "root=auto&from_path=/d&to_path=/copies"),
            try await server.put("/1/files_put/auto/new.md", ""),
        ]
        for answer in refused {
            #expect(answer.status == 507)
            #expect(try answer.refusal().contains("files and folders"), "\(answer.text)")
        }
        // What makes no new entry goes on, and what goes makes room.
        #expect(try await server.put("/1/files_put/auto/d/e0.md", "x").status == 200)
        #expect(try await server.post("/1/fileops/move", "root=auto&from_path=/d&to_path=/moved").status == 200)
        #expect(try await server.post("/1/fileops/move", "root=auto&from_path=/moved&to_path=/Moved").status == 200)
        #expect(try await server.put("/1/files_put/auto/new.md", "").status == 507)
        #expect(try await server.post("/1/fileops/delete", "root=auto&path=/Moved").status == 200)
        for number in 0..<5 { try await server.store("/n\(number).md", "") }
        #expect(try await server.put("/1/files_put/auto/new.md", "").status == 507)
        #expect(try await Verifier(directory: server.directory).run().findings == [])
    }

    @Test("an editor cannot grow the club's database without end by empty folders and copies of empty files")
    func club() async throws {
        try await TestServer.run(history: HistorySettings(entries: 10)) { try await Self.expectEnd($0) }
    }

    @Test("one member's empty folders leave room for those of others")
    func member() async throws {
        try await TestServer.run(history: HistorySettings(memberEntries: 10)) { server in
            try await Self.expectEnd(server)
            let other = try await server.add("Ben", .editor)
            let fields = [other, "Content-Type: application/x-www-form-urlencoded"]
            let made = try await server.send(
                "POST /1/fileops/create_folder", fields, body: Array("root=auto&path=/theirs".utf8))
            #expect(made.status == 200)
        }
    }

    /// Makes a club whose database is of version 6, the last without these counts, and tells an upload under way.
    private static func makeOld(_ directory: String, _ clock: Clock) async throws -> String {
        let store = try StoreFixture.open(directory, clock: clock)
        for name in ["/a/b", "/a/c", "/d"] { try await StoreFixture.put(store, name, [1, 2]) }
        _ = try await store.write(by: 2, storing: nil) { try $0.delete(try RemotePath("/d"), seen: nil) }
        _ = try await store.write(by: 2, storing: nil) { try $0.createFolder(try RemotePath("/e")) }
        let upload = try await store.beginUpload(member: 1)
        try await store.pool.write { database in
            try database.execute(
                sql: """
                    \(StoreFixture.dropGallery)
                    DROP INDEX upload_unfinished;
                    ALTER TABLE upload DROP COLUMN touched;
                    ALTER TABLE member_usage DROP COLUMN entries;
                    DELETE FROM meta WHERE name = 'entries';
                    DROP TABLE link;
                    DROP TABLE media_info;
                    DROP INDEX version_photo;
                    ALTER TABLE version DROP COLUMN executable;
                    ALTER TABLE version DROP COLUMN client_modified;
                    DROP TABLE search_word;
                    DROP TABLE search_index;
                    DROP TABLE searchable;
                    DELETE FROM meta WHERE name IN ('indexed', 'folding');
                    PRAGMA user_version = 6;
                    DELETE FROM grdb_migrations WHERE CAST(identifier AS INTEGER) > 6;
                    """)
            try database.execute(sql: Schema.addLinks)
        }
        try store.close()
        return upload.uploadID
    }

    @Test("a database of a version before is counted when it is brought up to date")
    func migration() async throws {
        let directory = try TemporaryDirectory()
        let clock = Clock()
        let upload = try await Self.makeOld(directory.path, clock)
        let store = try StoreFixture.open(directory.path, HistorySettings(entries: 5), clock: clock)
        #expect(try await store.query { try UsageLedger(database: $0).club() } == Usage(bytes: 4, entries: 4))
        #expect(try await store.query { try UsageLedger(database: $0).member(2) } == Usage(entries: 1))
        #expect(try await store.upload(upload, member: 1).offset == 0)
        try await StoreFixture.put(store, "/f", [])
        await #expect(throws: StorageError.self) { try await StoreFixture.put(store, "/g", []) }
        #expect(try await Verifier(directory: directory.path).run().findings == [])
    }
}
