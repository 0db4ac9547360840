import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("A database from before files had times") struct FileTimeMigrationTests {
    /// Makes a club with one file, in a database of the version before.
    private static func makeOld(_ directory: String, _ clock: Clock) async throws -> FolderEntry {
        let store = try StoreFixture.open(directory, clock: clock)
        _ = try await store.addMember(name: "Ann", role: nil, oauth1: false)
        let entry = try await StoreFixture.put(store, "/f/a.md", [1])
        try await store.pool.write { database in
            try database.execute(
                sql: """
                    \(StoreFixture.dropGallery)
                    DROP INDEX version_photo;
                    ALTER TABLE link DROP COLUMN password;
                    ALTER TABLE link DROP COLUMN keeps_location;
                    ALTER TABLE version DROP COLUMN client_modified;
                    ALTER TABLE version DROP COLUMN executable;
                    DROP TABLE search_word;
                    DROP TABLE search_index;
                    DROP TABLE searchable;
                    DELETE FROM meta WHERE name IN ('indexed', 'folding');
                    PRAGMA user_version = 8;
                    DELETE FROM grdb_migrations WHERE CAST(identifier AS INTEGER) > 8;
                    """)
        }
        try store.close()
        return entry
    }

    @Test("keeps all that it had, tells nothing of the times and of what is executable, and keeps both from then on")
    func migrates() async throws {
        let directory = try TemporaryDirectory()
        let clock = Clock()
        let entry = try await Self.makeOld(directory.path, clock)
        let store = try StoreFixture.open(directory.path, clock: clock)
        #expect(try await store.query { try Int.fetchOne($0, sql: "PRAGMA user_version") } == Schema.version)
        let path = entry.path
        let kept = try await store.read { try $0.metadata(path) }
        #expect(kept.clientModified == entry.modified && kept.clientNanoseconds == nil)
        #expect(kept.isExecutable == nil)
        #expect(kept.modifier?.displayName == "Ann")
        let made = FileTime(nanoseconds: 1_525_478_400_123_456_789)
        let content = try #require(StagedContent(inline: [2]))
        _ = try await store.write(by: 1, storing: content) { folder in
            try folder.put(
                path, bytes: 1, hash: content.hash, modified: made, executable: true, condition: .overwrite,
                policy: .fail)
        }
        #expect(try await store.read { try $0.metadata(path).fileTime } == made)
        #expect(try await store.read { try $0.metadata(path).isExecutable } == true)
        try store.close()
        #expect(try await Verifier(directory: directory.path).run().findings == [])
    }
}
